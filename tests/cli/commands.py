"""The `webdojo` command as a user runs it: its arguments, output and exit code."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from webdojo.cli import main

WEBDOJO = [sys.executable, "-m", "webdojo.cli"]
ENVIRONMENT = os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
ENVIRONMENT |= {"DISPLAY": "", "WAYLAND_DISPLAY": ""}

Done = subprocess.CompletedProcess[str]


def webdojo(*arguments: str | Path, cwd: Path | None = None) -> Done:
    """Run a command in this process: all but what is about processes, such as how long one takes to start."""
    given = [*map(str, arguments)]
    out, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.dict(os.environ, ENVIRONMENT),
        mock.patch.object(sys, "argv", ["webdojo", *given]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(given, ended.value.code, out.getvalue(), errors.getvalue())


def console_script(*arguments: str | Path, cwd: Path | None = None, typed: str = "", timeout: float = 300) -> Done:
    """Run a command in a process of its own, with what is typed at its terminal."""
    return subprocess.run(
        [*WEBDOJO, *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT,
        input=typed,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def start(*arguments: str, cwd: Path, ctrl_c: signal.Handlers = signal.SIG_DFL) -> subprocess.Popen[str]:
    """A command to interrupt; `ctrl_c` is what SIGINT does at first, also where the tests run in the background."""
    return subprocess.Popen(
        [*WEBDOJO, *arguments],
        cwd=cwd,
        env=ENVIRONMENT | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, ctrl_c),
    )


def loaded(folder: Path, arguments: list[str]) -> set[str]:
    """The modules that a command has imported when it ends."""
    script = (
        f"import sys; sys.argv[1:] = {arguments!r}\nfrom webdojo.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(*sys.modules)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def one_line_error(done: Done) -> str:
    """The error of a command, which is a mistake of its user."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: ")
    return last
