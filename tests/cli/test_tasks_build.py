"""`webdojo tasks build` and `propose` as a user runs them."""

from __future__ import annotations

import json
import signal
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.cli.commands import one_line_error, start, webdojo
from tests.loops.construction.scripted import truth
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.tasks import records

HONEST = replying(truth)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "seeds.txt").write_text("Find a concert with groups 2 3 4\nFill a cart with groups 3 1\n")
    return tmp_path


def test_a_set_is_built_and_told(folder: Path) -> None:
    with Endpoint(default=HONEST) as endpoint:
        given = ["tasks", "build", "seeds.txt", "--out", "set.jsonl", "--endpoint", endpoint.url, "--model", "m"]
        done = webdojo(*given, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "8 tasks on 2 websites in set.jsonl, 6 of them parts of others" in done.stdout
        assert "difficulty: 2 of 3, 2 of 4, 1 of 5, 1 of 6, 1 of 7, 1 of 9" in done.stdout
        assert "asked: 8 requests" in done.stdout
        report = json.loads(webdojo(*given, "--json", cwd=folder).stdout)
        assert (report["tasks"], report["asked"]["requests"], report["asked"]["cached"]) == (8, 8, 8)
    assert len(list(records.load(folder / "set.jsonl"))) == 8


def test_tasks_are_proposed_for_a_site(folder: Path) -> None:
    with Endpoint(default=HONEST) as endpoint:
        done = webdojo(
            *("tasks", "propose", "http://shop-0.localhost/", "--out", "new.jsonl", "--recipe", "quickstart"),
            *("--endpoint", endpoint.url, "--model", "m", "--per-site", "2", "--pages", "2", "--no-variants"),
            cwd=folder,
        )
    assert done.returncode == 0, done.stderr
    assert "2 tasks on 1 websites in new.jsonl" in done.stdout
    assert "left out: 1 query: similar to another" in done.stdout
    tasks = list(records.load(folder / "new.jsonl"))
    assert {(task.kind, task.start_url) for task in tasks} == {("shop", "http://shop-0.localhost/")}


def test_ctrl_c_says_how_to_go_on(folder: Path) -> None:
    waiting, release = threading.Event(), threading.Event()

    def hang(http: BaseHTTPRequestHandler) -> None:
        waiting.set()
        release.wait(60)

    with Endpoint(HONEST, default=hang) as endpoint:
        given = ["tasks", "build", "seeds.txt", "--out", "set.jsonl", "--endpoint", endpoint.url, "--model", "m"]
        process = start(*given, cwd=folder)
        assert waiting.wait(120)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        release.set()
    assert process.returncode == 130, errors
    assert "interrupted; what was answered is kept. Go on with the same command: webdojo tasks build" in errors
    assert not (folder / "set.jsonl").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "no model is named that writes the tasks"),
        (["--endpoint", "http://127.0.0.1:1/v1"], "engine.model is empty"),
        (["--model", "m", "train.lr=1"], "`webdojo tasks build` does not use train.lr"),
        (["--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--source", "webgim"], "did you mean 'webgym'"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, given: list[str], says: str) -> None:
    (folder / "seeds.json").write_text("[]")
    assert says in one_line_error(webdojo("tasks", "build", "seeds.json", "--out", "s.jsonl", *given, cwd=folder))
    assert not (folder / "s.build").exists()
