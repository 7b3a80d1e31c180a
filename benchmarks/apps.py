"""Can the tasks of real applications be done, guessed or cheated, and what does an episode with one cost?

    python benchmarks/apps.py [--apps oscar,trac] [--tasks 100] [--concurrency 16] [--parts oracle,reset]

Applications are those of `webdojo apps list`, installed by `webdojo apps install`. By application:

| part | what it does |
|---|---|
| `oracle` | does tasks of training and held-out worlds in real Chromium: success, steps, episodes an hour |
| `null_agent` | says `done` at once |
| `random_clicker` | clicks for a while, then says some text of the page |
| `endings` | tries endings that are wrong (`app_endings.py`), made from right episodes and played in the browser |
| `reset` | begins visits one after the other: copy of the data and process, without the browser's part |
| `memory` | visits that the oracle has played and not left: memory that each adds, its browser aside |

Failures of the oracle and endings that were accepted are in the rows, one by one. `mb_per_slot` is the largest of the
applications, from the proportional set sizes of their processes. What was measured at this commit with the same options
is not measured again, and the record is written once all parts of all applications are there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

import process_tree
import psutil
import record
from app_endings import Databases, Tried, made, played, to_play
from app_visits import Agent, Episode, Stage, Tasks, by_plan, drawn, home_of, prepare, reset_seconds, stage
from sites import by_chance, by_nobody

from webdojo.envs.apps.application import Home
from webdojo.envs.apps.registry import APPLICATIONS
from webdojo.progress import Progress, progress
from webdojo.types import Task

Rows = list[dict[str, Any]]
VISITS = 9
"""Beside one another for the part `memory`; the first of them starts the application."""


@dataclass(frozen=True)
class Setting:
    """What the parts of one application work with."""

    given: str
    """How the application was named: in the registry, or where it is."""
    home: Home
    tasks: Tasks
    arguments: argparse.Namespace
    kept: Path
    """A folder for what episodes leave."""
    bar: Progress

    async def play(self, tasks: Sequence[Task], agent: Agent) -> tuple[list[Episode], float]:
        """Episodes, and how many seconds all of them took."""
        async with self.stage() as served:
            await prepare(served.env, tasks)
            began = time.perf_counter()
            done = await served.play(tasks, agent, self.bar)
            return done, time.perf_counter() - began

    def stage(self) -> AbstractAsyncContextManager[Stage]:
        options = self.arguments
        return stage(self.given, options.folder, options.worlds, options.concurrency, self.kept)


async def oracle(setting: Setting) -> Rows:
    done, seconds = await setting.play(setting.tasks.chosen, by_plan)
    rows = success_rows(done, expected=True)
    rows[0]["episodes_per_hour"] = round(3600 * len(done) / seconds)
    for level in sorted({each.task.difficulty for each in done}):
        of_level = [each for each in done if each.task.difficulty == level]
        rows.append({"difficulty": level, **success_rows(of_level, expected=True)[0]})
    return rows


async def null_agent(setting: Setting) -> Rows:
    return success_rows((await setting.play(setting.tasks.chosen, by_nobody))[0], expected=False)


async def random_clicker(setting: Setting) -> Rows:
    return success_rows((await setting.play(setting.tasks.chosen, by_chance))[0], expected=False)


def success_rows(done: Sequence[Episode], *, expected: bool) -> Rows:
    """Success and steps, then each episode that ended otherwise than expected."""
    rows: Rows = [
        {
            "n": len(done),
            "successes": sum(each.success for each in done),
            "steps": round(mean(each.steps for each in done), 2),
        }
    ]
    for each in done:
        if each.success != expected:
            rows.append({"task": each.task.id, "answer": each.answer, "steps": each.steps, "reason": each.reason})
    return rows


async def endings(setting: Setting) -> Rows:
    rng, databases = random.Random(setting.arguments.seed), Databases(setting.home.application.noise)
    pool = setting.tasks.pool
    done, _ = await setting.play(setting.tasks.chosen, by_plan)
    right = {each.task.id: each for each in done if each.success}
    tried = list(made(list(right.values()), pool, databases, rng))
    tasks = [each.task for each in right.values()]
    some = rng.sample(tasks, min(len(tasks), setting.arguments.played))
    plans = to_play(some, pool, rng)
    ended, _ = await setting.play([planned for _, planned, _ in plans], by_plan)
    for (way, _, task), episode in zip(plans, ended, strict=True):
        left = right[task.id].left
        assert left is not None
        if (one := played(way, task, episode, left, databases)) is not None:
            tried.append(one)
    return ending_rows(tried)


def ending_rows(tried: Sequence[Tried]) -> Rows:
    """How many of each way were tried and accepted, then each that was accepted."""
    counts, accepted = Counter((each.sort, each.way) for each in tried), [each for each in tried if each.accepted]
    wrong = Counter((each.sort, each.way) for each in accepted)
    rows: Rows = [
        {"sort": sort, "way": way, "tried": count, "accepted": wrong[sort, way]}
        for (sort, way), count in sorted(counts.items())
    ]
    for each in accepted:
        rows.append({"task": each.task.id, "instruction": each.task.instruction, "way": each.way, "about": each.about})
    return rows


async def reset(setting: Setting) -> Rows:
    async with setting.stage() as served:
        await prepare(served.env, setting.tasks.chosen)
        seconds = await reset_seconds(served.env, setting.tasks.chosen, setting.bar)
    return [{"n": len(seconds), **median_and_p95(seconds), "seconds": [round(each, 4) for each in seconds]}]


def median_and_p95(seconds: Sequence[float]) -> dict[str, float]:
    return {"reset_s_median": round(median(seconds), 4), "reset_s_p95": round(quantiles(seconds, n=20)[-1], 4)}


async def memory(setting: Setting) -> Rows:
    tasks = (list(setting.tasks.chosen) * VISITS)[:VISITS]
    async with setting.stage() as served:
        await prepare(served.env, tasks)
        held = []
        for task in tasks:
            visit = await served.env.visit(task)
            await served.act(task, visit, by_plan)
            held.append(application_mb())
            setting.bar.advance(1)
    return [{"mb_per_slot": round((held[-1] - held[0]) / (len(held) - 1), 1), "mb_at_first": round(held[0], 1)}]


def application_mb() -> float:
    """Proportional set size of all that this process started, but for the browser and what drives it."""
    held = process_tree.pss_mb_by_kind(os.getpid())
    return held["python"] + held["other"] - psutil.Process().memory_full_info().pss / 1e6


PARTS: dict[str, Callable[[Setting], Coroutine[Any, Any, Rows]]] = {
    "oracle": oracle,
    "null_agent": null_agent,
    "random_clicker": random_clicker,
    "endings": endings,
    "reset": reset,
    "memory": memory,
}


def headline_of(rows: Rows) -> dict[str, float | None]:
    """The figures of all applications; None where their part was not measured."""

    def first(part: str) -> Rows:
        """The rows with the result of a part, one for each application."""
        return [row for row in rows if row["part"] == part and ("n" in row or "mb_per_slot" in row)]

    def share(part: str) -> float | None:
        found = [row for row in first(part) if "difficulty" not in row]
        return round(sum(row["successes"] for row in found) / sum(row["n"] for row in found), 4) if found else None

    oracles = [row for row in first("oracle") if "difficulty" not in row]
    resets = [each for row in first("reset") for each in row["seconds"]]
    tried = [row for row in rows if "tried" in row]
    return {
        "apps": len({row["app"] for row in rows}),
        "tasks": sum(row["n"] for row in oracles),
        "oracle_min": min((round(row["successes"] / row["n"], 4) for row in oracles), default=None),
        "null_agent": share("null_agent"),
        "random_clicker": share("random_clicker"),
        "endings": sum(row["tried"] for row in tried) if tried else None,
        "false_accepts": sum(row["accepted"] for row in tried) if tried else None,
        **(median_and_p95(resets) if resets else {"reset_s_median": None, "reset_s_p95": None}),
        "mb_per_slot": max((row["mb_per_slot"] for row in first("memory")), default=None),
    }


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apps", type=names, default=list(APPLICATIONS), help="their names, with commas between them")
    parser.add_argument("--tasks", type=int, default=100, help="of each application (default %(default)s)")
    parser.add_argument("--parts", type=names, default=list(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--concurrency", type=int, default=16, help="episodes at once (default %(default)s)")
    parser.add_argument("--played", type=int, default=30, help="tasks whose wrong endings are played in the browser")
    parser.add_argument("--worlds", type=int, default=3, help="of each split (default %(default)s)")
    parser.add_argument("--folder", default="", help="where applications are installed")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {min(unknown)!r}; there are {', '.join(PARTS)}")
    homes = {name: home_of(name, arguments.folder) for name in arguments.apps}
    process_tree.adopt_orphans()
    kept = record.Part("apps")
    options = {key: vars(arguments)[key] for key in ("tasks", "concurrency", "played", "worlds", "seed")}
    done = {(each["app"], each["part"]): each["rows"] for each in kept.entries() if each["options"] == options}
    todo = [(name, part) for name in homes for part in arguments.parts if (name, part) not in done]
    totals = {"endings": None, "memory": VISITS}
    for name, part in todo:
        tasks = drawn(name, arguments.tasks, arguments.worlds, arguments.seed)
        with TemporaryDirectory() as folder, progress(f"{name} {part}", totals.get(part, arguments.tasks)) as bar:
            rows = asyncio.run(PARTS[part](Setting(name, homes[name], tasks, arguments, Path(folder), bar)))
        done[name, part] = [{"app": homes[name].application.name, "part": part, **row} for row in rows]
        kept.add({"app": name, "part": part, "options": options, "rows": done[name, part]})
    rows = [row for each in done.values() for row in each]
    if set(done) >= {(name, part) for name in APPLICATIONS for part in PARTS}:
        record.record("apps", headline_of(rows), rows)
        kept.end()
    else:
        print(json.dumps({"headline": headline_of(rows), "rows": rows}))


if __name__ == "__main__":
    main()
