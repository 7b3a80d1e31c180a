"""Ways to die by kill -9 at a chosen instant, and what must be true of a run that went on after them.

In `attempt` the loop, the pool and the store are the real ones. The learner's weights are the list of what it trained
on, so its last checkpoint tells the whole history; episodes end in milliseconds.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import BaseContext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import webdojo.store.database
from tests.rollout.records import screen, task, trajectory
from webdojo.loops.log import RunLog
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.loops.resume import latest, trained_key
from webdojo.loops.run_folder import RL
from webdojo.recipe import Recipe
from webdojo.rollout.groups import is_settled, number_of
from webdojo.store.run import RunStore
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.learner import OnScored
from webdojo.types import EngineHealth, Task, Trajectory

POINTS = int(os.environ.get("CRASH_POINTS", "0"))
"""So many kills a test, instead of as many as its time allows; `make crash` sets it."""
TASKS = [task(f"t{n}") for n in range(40)]

Arm = Callable[[Path], None]
"""Arranges the death of the process that calls it, which writes the run in that folder."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class AfterSeconds:
    """Death at any moment."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, folder: Path) -> None:
        threading.Timer(self.seconds, die).start()


class AtWrite:
    """Death right before the k-th thing that is done to the run folder.

    Counted are the opening, renaming and removing of a file or folder there, each statement of SQLite, `COMMIT`
    included, and every few instructions within one.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, folder: Path) -> None:
        left = itertools.count(self.number, -1)

        def count(*_: object) -> None:
            if next(left) == 0:
                die()

        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir") and arguments:
                path = arguments[0]
                # What has no folder is named within one that is being removed.
                if isinstance(path, str | Path) and (str(path).startswith(str(folder)) or "/" not in str(path)):
                    count()

        connect = webdojo.store.database.connect

        def counted(file: Path, readonly: bool) -> sqlite3.Connection:
            connection = connect(file, readonly)
            connection.set_trace_callback(count)
            connection.set_progress_handler(count, 20)
            return connection

        pytest.MonkeyPatch().setattr(webdojo.store.database, "connect", counted)
        sys.addaudithook(audit)


class Notebook:
    """A learner that writes down the numbers of the groups that it trained on."""

    def __init__(self, recipe: Recipe) -> None:
        self.trained: list[list[int]] = []
        self.config = recipe.train
        self.stop = threading.Event()
        self.thread = ThreadPoolExecutor(1)

    def state_dict(self) -> dict[str, Any]:
        return {}

    def train_policy(
        self, samples: list[Sample], temperature: float, version: int, on_scored: OnScored | None = None
    ) -> dict[str, float]:
        if on_scored is not None:
            on_scored(samples, [torch.tensor(sample.old_logprobs) for sample in samples])
        time.sleep(0.03)
        self.trained.append(sorted(sample.response_ids[0] for sample in samples))
        return {"samples": len(samples)}

    def save(self, folder: Path) -> None:
        (folder / "trained.json").write_text(json.dumps(self.trained))

    def load(self, folder: Path) -> None:
        self.trained = json.loads((folder / "trained.json").read_text())


class Versions:
    """An engine that is nothing but its version."""

    version = 0
    sleeps_during_update = updates_asleep = False

    async def update_weights(self, source: object, version: int) -> None:
        await asyncio.sleep(0.005)
        self.version = version

    def health(self) -> EngineHealth:
        return EngineHealth(alive=True, version=self.version)


class World:
    """Episodes that end in milliseconds and are stored; stands in for an `EpisodeRunner`.

    Args:
        before_storing: called by each episode at its end.
    """

    rollouts = SimpleNamespace(places=100)

    def __init__(
        self, recipe: Recipe, store: RunStore, engine: Versions, before_storing: Callable[[], None] = lambda: None
    ) -> None:
        self.recipe, self.store, self.engine = recipe, store, engine
        self.before_storing = before_storing

    def blocked(self) -> tuple[str, ...]:
        return ()

    async def rollout(self, task: Task, group: str, trajectory_id: str, **_: object) -> Trajectory:
        version, draw = self.engine.version, random.Random(trajectory_id)
        await asyncio.sleep(draw.expovariate(1 / 0.01))
        self.before_storing()
        image = await asyncio.to_thread(screen, self.store.images)
        found = trajectory(task, float(draw.random() < 0.4), version, trajectory_id, group, image)
        found.turns[0].response.ids[0] = number_of(group)
        return found

    async def finish(self, trajectory: Trajectory, phase: str, iteration: int) -> None:
        await asyncio.to_thread(self.store.add_trajectory, trajectory, phase, iteration)


def attempt(recipe: Recipe, folder: Path, arm: Arm | None) -> None:
    """Go on with a run of stand-ins to its end, or to a death."""
    if arm is not None:
        arm(folder)
    engine = Versions()
    with RunStore.open(folder) as store, RunLog(store) as log:
        world, notebook = World(recipe, store, engine), Notebook(recipe)
        asyncio.run(
            online(cast(Any, world), Learning(lambda: cast(Any, notebook), store), cast(Any, engine), TASKS, log)
        )


def count_killed(context: BaseContext, attempts: Iterable[Callable[[], None]]) -> int:
    """Make attempts at a run in processes, one after the other; returns how many of them were killed."""
    count = 0
    for each in attempts:
        process = context.Process(target=each)  # type: ignore[attr-defined]
        process.start()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        count += process.exitcode == -signal.SIGKILL
    return count


def trained_groups(recipe: Recipe, folder: Path) -> list[list[int]]:
    """The numbers of the groups that each iteration trained on, in a run that has ended; all else is asserted here.

    No group trained twice, none that could have trained was lost, none has a member too few or too many, no token
    was older than the recipe allows, and the metrics have no gap, in the store as on the curves.
    """
    iterations, size, wanted = recipe.train.iterations, recipe.rollout.group_size, recipe.train.groups_per_iteration
    staleness = recipe.rollout.max_staleness
    with RunStore.open(folder, readonly=True) as store:
        checkpoint = latest(store)
        assert checkpoint is not None
        trained = [store.get(trained_key(step)) for step in range(1, iterations + 1)]
        metrics, rows, stored = store.metrics(RL), store.rows(RL), store.trajectories(RL)
        assert store.get(trained_key(iterations + 1)) is None
    assert [row["step"] for row in metrics] == list(range(1, iterations + 1)), "the metrics have a gap"
    curves = EventAccumulator(str(folder / "tensorboard"), purge_orphaned_data=False)
    curves.Reload()
    points = {(point.step, round(point.value)) for point in curves.Scalars(f"{RL}/version")}
    assert points == {(step, step) for step in range(1, iterations + 1)}, "a curve has a gap"

    numbers = [[number_of(id) for id in ids] for ids in trained]
    used = [number for ids in numbers for number in ids]
    assert len(used) == len(set(used)) == wanted * iterations, "a group trained twice, or not at all"
    members: defaultdict[int, list[Trajectory]] = defaultdict(list)
    for each in stored:
        members[number_of(each.group)].append(each)
    assert max(map(len, members.values())) == size == min(len(members[number]) for number in used)
    assert max(Counter(row.id for row in rows).values()) == 1
    for iteration, ids in enumerate(numbers):
        versions = {version for number in ids for each in members[number] for version in each.versions}
        assert iteration - staleness <= min(versions) <= max(versions) <= iteration, "a token was too old"

    rewards = {n: [t.reward.value for t in found if t.reward and t.reward.valid] for n, found in members.items()}
    whole = {number for number, found in members.items() if len(found) == size}
    effective = {number for number in whole if len(rewards[number]) > 1 and not is_settled(rewards[number])}
    assert set(used) <= effective
    stale = sum(row["groups_too_stale"] for row in metrics)
    drawn = {number for number in members if number < checkpoint.meta["position"]}
    assert len((effective & drawn) - set(used)) <= stale, "a group was lost"
    assert len(drawn - whole) <= stale, "a group was left half done"
    counted = sum(row["groups"] for row in metrics) + len(checkpoint.meta["pool"]["finished"])
    assert counted >= len(drawn & whole) - stale, "a group that ended is in no metrics"
    if recipe.tasks.sampler.name == "uniform" and not recipe.train.stages:
        assert len(set(range(max(members))) - members.keys()) <= stale, "a task was passed over"
    return numbers
