"""What starts again and what does not, with children that die on purpose; whole runs are in `loops/test_kills.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from webdojo.cli.supervision import supervise as supervision
from webdojo.cli.supervision.supervise import command, supervise
from webdojo.errors import PASSING
from webdojo.store.run import RunStore

ROOT = Path(__file__).parent.parent.parent

CHILD = """
import json, os, signal, sys
from pathlib import Path

run, script, resumes = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "again"
deeds = json.loads(script.read_text())
deed = deeds.pop(0)
script.write_text(json.dumps(deeds))
assert resumes == (run / "run.sqlite").exists()
if "run" in deed:
    from webdojo.store.run import RunStore
    RunStore.create(run, "name: x", {}).close()
if "episode" in deed:
    from tests.store.fabricate import trajectory
    from webdojo.store.run import RunStore
    with RunStore.open(run) as store:
        store.add_trajectory(trajectory(f"t{len(deeds)}", store.images, site=1), "rl", 1)
end = deed.split()[-1]
os.kill(os.getpid(), signal.SIGKILL) if end == "killed" else sys.exit(int(end))
"""


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, int, list[str]]]:
    """Supervises children that do one deed each; returns the exit code, the deeds left, and why it restarted."""
    monkeypatch.setattr(supervision, "BACK_OFF_S", 0.01)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))

    def act(max_restarts: int, *deeds: str) -> tuple[int, int, list[str]]:
        run, script = tmp_path / "run", tmp_path / "deeds.json"
        script.write_text(json.dumps(deeds))
        words = [sys.executable, "-c", CHILD, str(run), str(script)]
        code = supervise([*words, "first"], [*words, "again"], run, max_restarts)
        restarts = []
        if run.exists():
            with RunStore.open(run, readonly=True) as store:
                restarts = [restart["because"] for restart in store.info.get("restarted", [])]
        return code, len(json.loads(script.read_text())), restarts

    return act


KILLED = "the training was killed by SIGKILL"


def test_a_run_that_dies_and_comes_further_is_started_again(outcome):
    deeds = ["run killed", "episode killed", f"episode {PASSING}", "episode 1", "episode 0"]
    restarts = [KILLED, KILLED, "the training ended with exit code 75", "the training ended with exit code 1"]
    assert outcome(1, *deeds) == (0, 0, restarts)


def test_restarts_without_progress_are_counted(outcome):
    code, left, restarts = outcome(2, "run killed", "episode killed", "killed", f"{PASSING}", "killed", "0")
    assert (code, left) == (PASSING, 2)
    assert len(restarts) == 3


@pytest.mark.parametrize("code", [0, 2, 130])
def test_the_end_of_a_run_is_its_end(outcome, code):
    assert outcome(3, f"{code}", "0") == (code, 1, [])


def test_what_was_killed_before_it_began_begins(outcome):
    assert outcome(3, "killed", "run 0") == (0, 0, [])


def test_an_error_before_there_is_a_run_is_not_tried_again(outcome):
    assert outcome(3, f"{PASSING}", "run 0") == (PASSING, 1, [])


def test_the_wait_before_a_restart_grows(outcome, monkeypatch, caplog):
    monkeypatch.setattr(supervision, "LONGEST_BACK_OFF_S", 0.03)
    outcome(3, *["killed"] * 4)
    waits = [record.message.partition(" in ")[2] for record in caplog.records if "; restart" in record.message]
    assert waits == ["0.01 s", "0.02 s", "0.03 s"]
    assert "giving up" in caplog.text


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_what_ends_the_parent_ends_the_child(tmp_path, number, code):
    """The child is a server, which ends well by Ctrl-C."""
    words = command("sites", "serve", "--port", "0")
    script = "import sys; from pathlib import Path; from webdojo.cli.supervision.supervise import supervise\n"
    script += f"sys.exit(supervise({words!r}, [], Path('run'), 3))"
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as parent:
        assert parent.stdout is not None
        assert any("Ctrl-C stops" in line for line in parent.stdout)
        (child,) = psutil.Process(parent.pid).children()
        parent.send_signal(number)
    assert parent.returncode == code
    deadline = time.monotonic() + 30
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the child outlives its parent"
        time.sleep(0.02)
