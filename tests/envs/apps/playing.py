"""Visits an application, and plays its tasks in a real Chromium."""

from __future__ import annotations

import time
from typing import Any

from webdojo.browser.pool import BrowserPool
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.script import PlanScript
from webdojo.envs.apps.verdict import evaluate, state_of
from webdojo.sites.verdict import Verdict
from webdojo.types import Task

_MOST_STEPS = 30


def followed(task: Task, plan: list[dict[str, Any]]) -> Task:
    """The task with another plan."""
    return task.model_copy(update={"metadata": {**task.metadata, "plan": plan}})


async def play(task: Task, env: Apps, pool: BrowserPool, *others: Task) -> tuple[Verdict, list[Verdict], str]:
    """Let the script do a task: the verdict, those of `others` on the same episode and its answer, and a log."""
    visit = await env.visit(task)
    session = await pool.open(visit.start_url, visit.headers, visit.storage_state)
    script, answer, log = PlanScript(task), None, [task.instruction]
    while answer is None and len(log) < _MOST_STEPS:
        step = await script.step(session)
        result = await session.act(step.calls)
        answer = result.answer
        log.append(f"{step.think} {[each.text for each in result.feedback if not each.ok]}")
    log.append(f"{session.page.url} {(await env.state(visit))[task.website]['changes']}"[:2000])
    changes, served = env.left_by(visit)
    pages = list(served)
    verdicts = [evaluate(each, answer, state_of(each, changes, pages)) for each in (task, *others)]
    await session.close()
    await env.leave(visit)
    return verdicts[0], verdicts[1:], "\n".join([*log, verdicts[0].reason])


async def seconds_to_visit(env: Apps, task: Task) -> float:
    """The fastest of five visits, since others may have the cores meanwhile; one before them starts the application
    and makes the data of the seed."""
    await env.leave(await env.visit(task))
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        visit = await env.visit(task)
        seconds.append(time.perf_counter() - began)
        await env.leave(visit)
    return min(seconds)
