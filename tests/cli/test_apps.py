"""`webdojo apps`: what is installed, installing, and serving one by hand."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
from typer.testing import CliRunner

from tests.envs.apps.notes import COLOURS, Diary, Notes, installed
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.cli import app
from webdojo.envs.apps.application import Home
from webdojo.envs.apps.serving import Front
from webdojo.sites import HELDOUT_SEED
from webdojo.store.run import RunStore

NOTES = "tests.envs.apps.notes:Notes"
DIARY = "tests.envs.apps.notes:Diary"
ROOT = Path(__file__).parents[2]


def test_the_list_says_what_is_installed(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["apps", "list", "--folder", str(tmp_path)]).output.splitlines()
    assert "oscar: django-oscar 4.2.1, a shop with its back office (not installed)" in said
    names = ["labelstudio", "machina", "mediawiki", "oscar", "trac", "wagtail"]
    assert [line.partition(":")[0] for line in said] == names


def test_installing_again_does_nothing(tmp_path: Path) -> None:
    home = installed(tmp_path)
    made = home.base.stat().st_ctime_ns
    done = CliRunner().invoke(app, ["apps", "install", NOTES, "--folder", str(tmp_path)])
    assert (done.exit_code, done.output) == (0, "notes is installed\n")
    assert Home(Notes(), tmp_path).base.stat().st_ctime_ns == made


def test_serving_one_gives_an_address_that_needs_no_header(tmp_path: Path) -> None:
    installed(tmp_path)
    command = [sys.executable, "-m", "webdojo.cli", "apps", "serve", NOTES, "--seed", "3", "--folder", str(tmp_path)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.match(r"http://127.0.0.1:\d+/", line)
        assert address is not None, line
        assert "1: red3" in httpx.get(address[0]).text
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=60) == 130
        finally:
            process.kill()


def test_one_that_is_not_installed_cannot_be_served(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "webdojo.cli", "apps", "serve", "oscar", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert re.search("webdojo apps install oscar", done.stderr)


def test_a_model_whose_address_is_given_is_measured_on_an_application(tmp_path: Path) -> None:
    installed(tmp_path)

    def reply(messages: list[dict[str, Any]]) -> str:
        asked = re.search(r"note (\d)\?", json.dumps(messages))
        assert asked is not None
        number = int(asked[1])
        answer = f"{COLOURS[number - 1]}{HELDOUT_SEED}" if number % 2 else "Nobody knows"
        call = {"name": "done", "arguments": {"answer": answer}}
        return f"<think>It is there.</think><tool_call>{json.dumps(call)}</tool_call>"

    with Endpoint(default=replying(reply), models=["reader"]) as endpoint:
        command = [
            *(sys.executable, "-m", "webdojo.cli", "eval", "apps", "--model", endpoint.url, "--json", "--run", "read"),
            f"env.applications=[{ROOT / 'tests/envs/apps/notes/__init__.py'}:Notes]",
            *(f"env.folder={tmp_path}", "env.templates=[read]", "env.heldout_seeds=1", "evaluate.tasks=5"),
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["model"] == "reader"
    with RunStore.open(tmp_path / "read", readonly=True) as store:
        episodes = list(store.trajectories("eval"))
    lost = [episode for episode in episodes if episode.answer == "Nobody knows"]
    assert 0 < len(lost) < len(episodes) == result["success_eval"]["n"] == 5
    assert result["success_eval"]["successes"] == 5 - len(lost)
    assert all(episode.reward is not None and episode.reward.success != (episode in lost) for episode in episodes)


def test_questions_are_exported_for_webarena_and_asked_by_its_environment(tmp_path: Path) -> None:
    home = installed(tmp_path, Diary())
    given = ["apps", "export", DIARY, str(tmp_path / "tasks.json"), "--seed", "3", "--folder", str(tmp_path)]
    said = CliRunner().invoke(app, given).output
    questions = json.loads((tmp_path / "tasks.json").read_text())
    assert said.startswith(f"{len(questions)} tasks in {tmp_path}/tasks.json, on __DIARY__: webdojo apps serve {DIARY}")
    right = {row["intent"]: row["eval"]["reference_answers"]["must_include"][0] for row in questions}

    def reply(messages: list[dict[str, Any]]) -> str:
        answer = next(each for question, each in right.items() if question in str(messages))
        return f'<think>So.</think><tool_call>{{"name": "done", "arguments": {{"answer": "{answer}"}}}}</tool_call>'

    with Front() as front, Endpoint(default=replying(reply), models=["reader"]) as endpoint:
        front.open("by-hand", home, 3)
        front.browsed = "by-hand"
        env = f"env={{name: webarena, path: tasks.json, sites: {{__DIARY__: 'http://{front.address}'}}}}"
        given = ["quickstart", "--model", endpoint.url, env, "reward=env", "browser.guard.private_hosts=[127.0.0.1]"]
        command = [sys.executable, "-m", "webdojo.cli", "eval", *given, "evaluate.tasks=3", "--json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert all("Notes of owner3" in page["html"] for page in front.stay("by-hand").pages() if "html" in page)
    assert json.loads(done.stdout)["success_eval"]["successes"] == 3
