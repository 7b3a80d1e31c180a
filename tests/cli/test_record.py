"""`webdojo record` as a user runs it: what is typed at the terminal, what is refused, and how it stops."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import ENVIRONMENT, WEBDOJO, console_script, one_line_error, webdojo
from webdojo.loops.collection.dataset import read_manifest

SHOP = "http://shop-0.localhost/"
UNSEEN = "browser.headless=true"


def test_what_is_typed_ends_a_task_and_another_is_added(tmp_path: Path) -> None:
    folder = str(tmp_path / "set")
    lines = f":nonsense\n> The bag is at /cart.\n:goto_url {SHOP}cart\n12\n"
    done = console_script(
        "record", "--url", SHOP, "--task", "What is in the bag?", "--out", folder, UNSEEN, "--json", typed=lines
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["counts"] | {"response_tokens": 0} == {
        "tasks": 1,
        "trajectories": 1,
        "successes": 1,
        "steps": 2,
        "response_tokens": 0,
    }
    assert "so that you end it counts as success (reward=completed)" in done.stderr
    assert ":nonsense is nothing that can be typed here; :help says what can" in done.stderr
    assert "success: ended by whoever did it; 1 of 1 task recorded" in done.stderr
    more = console_script(
        "record", "--url", SHOP, "--task", "Look", f"--run={folder}", "--resume", UNSEEN, typed=":stop\n"
    )
    assert more.returncode == 0 and "the person has stopped. Go on with" in more.stderr
    part = read_manifest(tmp_path / "set")
    assert not part.complete and part.counts.trajectories == 1 and list(part.unfinished.values()) == ["not begun"]
    closed = console_script("record", "--url", SHOP, "--task", "Look", f"--run={folder}", "--resume", UNSEEN)
    assert "1 episode of 1 task" in closed.stdout and "the person has stopped" in closed.stderr


def test_ctrl_c_keeps_what_is_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    command = [*WEBDOJO, "record", "--recipe", "quickstart", "--tasks", "2", "--out", str(folder), UNSEEN]
    person = subprocess.Popen(
        command,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert person.stdin is not None and person.stderr is not None
    person.stdin.write("no idea\n")
    person.stdin.flush()
    said = ""
    while "1 of 2 tasks recorded" not in said or not said.endswith(".localhost/)\n"):
        line = person.stderr.readline()
        assert line, said
        said += line
    person.send_signal(signal.SIGINT)
    _, rest = person.communicate(timeout=120)
    assert person.returncode == 130 and "what was recorded is kept. Go on with" in rest, rest
    assert "Traceback" not in rest and "no success" in said
    part = read_manifest(folder)
    assert not part.complete and part.counts.trajectories == 1 and len(part.unfinished) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--url", SHOP, "--task", "Look"], "webdojo record shows a window, and there is no display"),
        (["--url", "ftp://example.org/", "--task", "Look", UNSEEN], "--url is 'ftp://example.org/': give the address"),
        (["--url", "http://nope-0.localhost/", "--task", "Look", UNSEEN], "is no embedded site"),
        (["--url", SHOP, "--task", " ", UNSEEN], "the task is empty"),
        (["--task", "Open the Bagg.", UNSEEN], "none is 'Open the Bagg.': name one, such as 'Open the Bag.'"),
        (["--recipe", "quickstrat", UNSEEN], "unknown recipe 'quickstrat'"),
        (["--recipe", "openwebrl", "env=web", UNSEEN], "the environment 'web' has no tasks of its own"),
        (["engine.name=chat", UNSEEN], "`webdojo record` does not use engine.name"),
        (["rollout.concurrency=4", UNSEEN], "`webdojo record` does not use rollout.concurrency"),
    ],
)
def test_what_cannot_be_recorded_is_one_line(arguments: list[str], problem: str, tmp_path: Path) -> None:
    done = webdojo("record", "--out", str(tmp_path / "set"), *arguments)
    assert problem in one_line_error(done)
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["--resume"], "--resume needs --out"), (["--url", SHOP], "--url needs --task"), (["--tasks", "0"], "--tasks")],
)
def test_options_that_need_others_say_so(arguments: list[str], problem: str) -> None:
    done = webdojo("record", *arguments)
    assert done.returncode == 2 and problem in done.stderr
