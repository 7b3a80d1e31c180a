"""An application that is added in an afternoon: Datasette, from its three files to episodes in a real Chromium."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.envs.apps.library import Library
from tests.envs.apps.playing import followed, play
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.apps.application import Home
from webdojo.envs.apps.env import Apps
from webdojo.store.images import MemoryImages

NAME = "tests.envs.apps.library:Library"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apps")
    Home(Library(), folder).install()
    return folder


@pytest.mark.parametrize("template", Library.templates)
async def test_its_oracle_does_a_task_and_nothing_else_does(folder: Path, template: str) -> None:
    env = Apps(applications=[NAME], templates=[template], folder=str(folder), train_seeds=1)
    task, other = env.tasks("train", 2, 1)
    [extra] = Apps(applications=[NAME], templates=["lend"], train_seeds=1).tasks("train", 1, 3)
    both = followed(task, [*extra.metadata["plan"][:-1], {"do": "go", "path": "/db/book"}, *task.metadata["plan"]])
    both.metadata["role"] = "librarian"
    config = BrowserConfig(viewport_px=(1280, 1000))
    async with env, BrowserPool(config, MemoryImages(), env.hosts) as pool:
        (right, near, log), (idle, *_), (spoiled, *_) = await asyncio.gather(
            play(task, env, pool, other), play(followed(task, [task.metadata["plan"][-1]]), env, pool),
            play(both, env, pool),
        )  # fmt: skip
    assert right.success, log
    assert not near[0].success, log
    assert not idle.success
    assert not spoiled.success and "which was not asked for" in spoiled.reason
