"""One application as it comes from the package registry: installed, visited, its tasks done, a model measured on it.

It is the smallest, so this is one of the tests that are not slow; `test_installed.py` does all tasks of all of them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.envs.apps.playing import followed, play, seconds_to_visit
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.apps.application import Home
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.trac import Trac
from webdojo.sites import HELDOUT_SEED
from webdojo.store.images import MemoryImages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Trac is installed, from nothing."""
    asked = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed", "--retries=0"]
    found = subprocess.run([*asked, "--quiet", "--timeout=10", "Trac==1.6"], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(f"pip reaches no package registry: {found.stderr.strip().splitlines()[-1]}")
    cache = tmp_path_factory.mktemp("apps")
    Home(Trac(), cache).install()
    return cache


async def test_a_fresh_installation_is_visited_and_its_tasks_are_done(folder: Path) -> None:
    env = Apps(applications=["trac"], folder=str(folder), templates=["owner", "comment"], train_seeds=1)
    ask, write, other, _ = env.tasks("train", 4, 0)
    async with env, BrowserPool(BrowserConfig(viewport_px=(1280, 1000)), MemoryImages(), env.hosts) as pool:
        assert await seconds_to_visit(env, ask) < 1
        for task in (ask, write):
            verdict, near, log = await play(task, env, pool, other)
            assert verdict.success, log
            assert not near[0].success, log
        idle = followed(ask, ask.metadata["plan"][-1:])
        assert not (await play(idle, env, pool))[0].success, "the right answer, of which nothing was seen"


@pytest.mark.slow
def test_a_model_behind_an_endpoint_does_its_tasks(folder: Path, tmp_path: Path) -> None:
    owners = {str(ticket["id"]): ticket["owner"] for ticket in Trac().world(HELDOUT_SEED)["tickets"]}

    def reply(messages: list[dict[str, Any]]) -> str:
        """Open the ticket, then say who owns it."""
        asked = re.search(r"icket #(\d+)", json.dumps(messages))
        assert asked is not None
        address = f"http://trac-{HELDOUT_SEED}.localhost/ticket/{asked[1]}"
        call = {"name": "goto_url", "arguments": {"url": address}}
        if any(each["role"] == "assistant" for each in messages):
            call = {"name": "done", "arguments": {"answer": owners[asked[1]]}}
        return f"<think>So be it.</think><tool_call>{json.dumps(call)}</tool_call>"

    with Endpoint(default=replying(reply), models=["reader"]) as endpoint:
        command = [
            *(sys.executable, "-m", "webdojo.cli", "eval", "apps", "--model", endpoint.url, "--json"),
            *("env.applications=[trac]", f"env.folder={folder}", "env.templates=[owner]", "env.heldout_seeds=1"),
            "evaluate.tasks=4",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["model"], result["success_eval"]["n"], result["success_eval"]["successes"]) == ("reader", 4, 4)
