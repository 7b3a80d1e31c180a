"""Kill -9 of the loop at random moments: what is stored is used, and nothing trains twice.

The loop, the pool and the store are the real ones. The learner's weights are the list of what it trained on,
so its last checkpoint tells the whole history; episodes end in milliseconds. Whole runs with the tiny model
and Chromium are killed in `test_resume.py`.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, cast

from tests.rollout.records import screen, task, trajectory
from webdojo.config import dump_recipe, load_recipe
from webdojo.loops.log import RunLog
from webdojo.loops.online import PHASE, latest, online
from webdojo.rollout.groups import is_settled
from webdojo.store.run import RunStore
from webdojo.train.batch import Sample
from webdojo.types import EngineHealth, Task, Trajectory

ITERATIONS = 12
N, G = 3, 3
RECIPE = load_recipe(
    "quickstart",
    [
        *(f"train.iterations={ITERATIONS}", f"train.groups_per_iteration={N}", f"rollout.group_size={G}"),
        *("rollout.concurrency=8", "rollout.max_staleness=2", "train.threads=1"),
    ],
)
TASKS = [task(f"t{n}") for n in range(40)]


class Notebook:
    """A learner that writes down the numbers of the groups that it trained on."""

    def __init__(self) -> None:
        self.trained: list[list[int]] = []
        self.config = RECIPE.train
        self.stop = threading.Event()

    def state_dict(self) -> dict[str, Any]:
        return {}

    def train_policy(self, samples: list[Sample], temperature: float, version: int) -> dict[str, float]:
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

    async def update_weights(self, source: object, version: int) -> None:
        await asyncio.sleep(0.005)
        self.version = version

    def health(self) -> EngineHealth:
        return EngineHealth(alive=True, version=self.version)


class World:
    """Episodes that end in milliseconds and are stored; stands in for an `Arena`."""

    places = 100

    def __init__(self, store: RunStore, engine: Versions) -> None:
        self.recipe, self.store, self.engine = RECIPE, store, engine

    def blocked(self) -> tuple[str, ...]:
        return ()

    def runner(
        self, actor: object, phase: str, iteration: Callable[[], int], *_: object
    ) -> Callable[[Task, str, str], Coroutine[Any, Any, Trajectory]]:
        async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
            begun_in, version = iteration(), self.engine.version
            draw = random.Random(trajectory_id)
            await asyncio.sleep(draw.expovariate(1 / 0.01))
            image = screen(self.store.images)
            found = trajectory(task, float(draw.random() < 0.4), version, trajectory_id, group, image)
            found.turns[0].response.ids[0] = int(group.rpartition("-")[2])
            await asyncio.to_thread(self.store.add_trajectory, found, phase, begun_in)
            return found

        return run


def attempt(folder: Path, seconds: float) -> None:
    """Go on with the run, and be killed after some seconds; never with 0."""
    if seconds:
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
    engine = Versions()
    with RunStore.open(folder) as store, RunLog(store) as log:
        asyncio.run(online(cast(Any, World(store, engine)), cast(Any, Notebook()), cast(Any, engine), TASKS, log))


def test_twenty_kills_lose_no_group_and_train_none_twice(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    RunStore.create(folder, dump_recipe(RECIPE), {}).close()
    draw = random.Random(5)
    fork = multiprocessing.get_context("fork")
    killed = 0
    for seconds in [*(draw.uniform(0.02, 0.4) for _ in range(20)), 0.0]:
        process = fork.Process(target=attempt, args=(folder, seconds))
        process.start()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        assert process.exitcode in (0, -signal.SIGKILL)
    assert killed

    with RunStore.open(folder, readonly=True) as store:
        checkpoint = latest(store)
        assert checkpoint is not None
        history: list[list[int]] = json.loads((checkpoint.path / "trained.json").read_text())
        told = [store.get(f"trained groups {step}") for step in range(1, ITERATIONS + 1)]
        metrics, rows = store.metrics(PHASE), store.rows(PHASE)
        stored = store.trajectories(PHASE)
    assert [row["step"] for row in metrics] == list(range(1, ITERATIONS + 1)), "the metrics have a gap"
    numbers = [[int(id.rpartition("-")[2]) for id in ids] for ids in told]
    for trained, ids in zip(history, numbers, strict=True):
        assert trained == sorted(ids * G), "the learner trained on something else, or not on every member once"
    used = [number for ids in numbers for number in ids]
    assert len(used) == len(set(used)) == N * ITERATIONS

    rewards: defaultdict[int, list[float]] = defaultdict(list)
    for row in rows:
        assert row.reward is not None
        rewards[int(row.group_id.rpartition("-")[2])].append(row.reward)
    effective = {number for number, values in rewards.items() if len(values) == G and not is_settled(values)}
    assert set(used) <= effective
    stale = sum(row["groups_too_stale"] for row in metrics)
    assert len(effective - set(used)) <= stale, "a group was lost"
    assert len(set(range(max(rewards))) - set(rewards)) <= stale, "a task was passed over"
    assert max(Counter(t.group for t in stored).values()) == G
    for iteration, ids in enumerate(numbers):
        for t in stored:
            if int(t.group.rpartition("-")[2]) in ids:
                assert iteration - 2 <= min(t.versions) <= max(t.versions) <= iteration
