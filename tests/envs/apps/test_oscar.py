"""The shop itself: installed from the package registry, its tasks done in a real Chromium."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from tests.envs.apps.playing import followed, play
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.apps.application import Home
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.oscar import Oscar
from webdojo.store.images import MemoryImages
from webdojo.types import Task

CONFIG = BrowserConfig(viewport_px=(1280, 1000))


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Apps:
    folder = tmp_path_factory.mktemp("apps")
    Home(Oscar(), folder).install()
    return Apps(folder=str(folder), train_seeds=1)


def of_template(env: Apps, template: str) -> Sequence[Task]:
    return Apps(templates=[template], train_seeds=1).tasks("train", 2, 1)


async def test_a_visit_begins_in_about_a_second(env: Apps) -> None:
    task = env.tasks("train", 1, 0)[0]
    async with env:
        await env.leave(await env.visit(task))
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            visit = await env.visit(task)
            seconds.append(time.perf_counter() - began)
            await env.leave(visit)
        assert sorted(seconds)[2] < 1


@pytest.mark.parametrize("template", list(Oscar.templates))
async def test_the_oracle_does_a_task_which_is_no_other_one(env: Apps, template: str) -> None:
    task, other = of_template(env, template)
    idle = followed(task, [{"do": "done", "answer": "Done"}])
    async with env, BrowserPool(CONFIG, MemoryImages(), env.hosts) as pool:
        verdict, near, log = await play(task, env, pool, other)
        assert verdict.success, log
        assert not near[0].success, log
        assert not (await play(idle, env, pool))[0].success


@pytest.mark.parametrize(("template", "more"), [("add", "wish"), ("price", "rename"), ("advance", "note")])
async def test_a_task_is_not_done_where_more_was_changed_than_it_asks_for(env: Apps, template: str, more: str) -> None:
    task, extra = of_template(env, template)[0], of_template(env, more)[0]
    role = task.metadata["role"] or extra.metadata["role"]
    both = followed(task, [*extra.metadata["plan"][:-1], {"do": "go", "path": "/"}, *task.metadata["plan"]])
    if role == "staff":
        both.metadata["plan"].insert(len(extra.metadata["plan"]), {"do": "go", "path": "/dashboard/"})
    both.metadata["role"] = role
    async with env, BrowserPool(CONFIG, MemoryImages(), env.hosts) as pool:
        verdict, _, log = await play(both, env, pool)
        assert not verdict.success and "which was not asked for" in verdict.reason, log
