"""Scripted policies for adapters: what they call is known beforehand, so that any package can send it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from webdojo.interop.host import EpisodeHost
from webdojo.recipe import Recipe, load_recipe
from webdojo.types import Task, ToolCall

GIVE_UP = ToolCall(name="done", arguments={"answer": "nonsense"})
SMALL = [
    *("env.kinds=[wiki]", "env.difficulties=[1]", "env.layout=compact", "browser.viewport_px=[320,320]"),
    *("browser.browsers=1", "browser.sessions_per_browser=4", "browser.warm_sessions=0", "rollout.max_steps=6"),
]


def recipe(*overrides: str) -> Recipe:
    """The quickstart's with a few easy tasks."""
    return load_recipe("quickstart", [*SMALL, *overrides])


def host(run: Path | None, *overrides: str, idle_timeout_s: float = 60) -> EpisodeHost:
    """A host of ten tasks."""
    return EpisodeHost(recipe(*overrides), "test", run=run, tasks=10, idle_timeout_s=idle_timeout_s)


async def solution(episodes: EpisodeHost, task: Task) -> list[Sequence[ToolCall]]:
    """The calls, turn by turn, by which the oracle of the environment does a task; it tries them in an episode."""
    maker = episodes.recipe.env.oracle
    assert maker is not None
    script = maker(task, None, 0.0, "")
    done: list[Sequence[ToolCall]] = []
    hosted = await episodes.begin(task, seed=0)
    while not hosted.over:
        step = await script.step(hosted._episode._session)
        done.append(list(step.calls))
        await hosted.act(step.calls)
    assert hosted.trajectory.reward is not None and hosted.trajectory.reward.success
    return done


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, a minute at most."""
    for _ in range(600):
        if holds():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it does not hold after a minute")
