"""The loop under what the disk and people do to its run: it ends with one error, and goes on once the cause is gone.

Model and browser are stand-ins, so that a run takes a second; `test_full_disk.py` has the real ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from tests.loops.crash import TASKS, Versions, World, trained_groups
from webdojo.errors import StoreFailure
from webdojo.loops.log import RunLog
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.loops.resume import trained_key
from webdojo.loops.run_folder import RL
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store import database
from webdojo.store.checkpoints import RECORD
from webdojo.store.run import RunStore
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.learner import OnScored

ITERATIONS, N, G = 6, 2, 3
RECIPE = load_recipe(
    "quickstart",
    [
        *(f"train.iterations={ITERATIONS}", f"train.groups_per_iteration={N}", f"rollout.group_size={G}"),
        *("rollout.concurrency=6", "rollout.max_staleness=2", "train.threads=1", "train.save_every=1"),
        "train.save_total_limit=0",
    ],
)


class Learner:
    """Looks at the screenshots of its samples, and learns nothing."""

    def __init__(self, store: RunStore) -> None:
        self.store, self.config, self.stop = store, RECIPE.train, threading.Event()
        self.thread = ThreadPoolExecutor(1)

    def state_dict(self) -> dict[str, Any]:
        return {}

    def train_policy(
        self, samples: list[Sample], temperature: float, version: int, on_scored: OnScored | None = None
    ) -> dict[str, float]:
        for sample in samples:
            for image in sample.prompt.images:
                self.store.images.get(image)
        return {"samples": len(samples)}

    def save(self, folder: Path) -> None:
        (folder / "weights").write_text("")

    def load(self, folder: Path) -> None:
        (folder / "weights").read_text()


def attempt(run: Path, episodes: int = 0, meddle: Callable[[], object] = lambda: None) -> None:
    """Go on with the run; `meddle` is called after so many episodes."""
    left = itertools.count(episodes - 1, -1)

    def count() -> None:
        if next(left) == 0:
            meddle()

    engine = Versions()
    with RunStore.open(run) as store, RunLog(store) as log:
        world = World(RECIPE, store, engine, count)
        asyncio.run(
            online(cast(Any, world), Learning(lambda: cast(Any, Learner(store)), store), cast(Any, engine), TASKS, log)
        )


def check(run: Path) -> None:
    """The run is finished, lost no group, and trained none twice."""
    trained_groups(RECIPE, run)
    with RunStore.open(run, readonly=True) as store:
        assert all(map(store.has_screenshots, store.trajectories(RL)))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    RunStore.create(tmp_path / "run", dump_recipe(RECIPE), {}).close()
    return tmp_path / "run"


@contextlib.contextmanager
def locked_database(run: Path) -> Iterator[Callable[[], object]]:
    other = sqlite3.connect(run / "run.sqlite", check_same_thread=False)
    yield lambda: other.execute("BEGIN IMMEDIATE")
    other.close()


@contextlib.contextmanager
def deleted_database(run: Path) -> Iterator[Callable[[], object]]:
    yield (run / "run.sqlite").unlink


@contextlib.contextmanager
def deleted_screenshots(run: Path) -> Iterator[Callable[[], object]]:
    yield lambda: (run / "images").rename(run / "gone")


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (locked_database, r"database is locked\): another program .*; end that program"),
        (deleted_database, "was deleted while its run went on: it is there again"),
        (deleted_screenshots, r"images was deleted while its run went on: put it back, or"),
    ],
)
@pytest.mark.parametrize("episodes", [4, 25])
def test_a_run_ends_with_one_error_and_goes_on_once_the_cause_is_gone(
    run: Path, monkeypatch: pytest.MonkeyPatch, cause, message, episodes
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.1)
    with cause(run) as meddle, pytest.raises(StoreFailure, match=message):
        attempt(run, episodes, meddle)
    attempt(run)
    check(run)


def test_lost_screenshots_are_made_good_by_a_later_attempt_too(run: Path) -> None:
    with deleted_screenshots(run) as meddle, pytest.raises(StoreFailure):
        attempt(run, 25, meddle)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            attempt(run, 1, lambda: 1 / 0)
    attempt(run)
    check(run)


def test_episodes_of_weights_whose_checkpoint_was_deleted_run_again(run: Path) -> None:
    attempt(run)
    with RunStore.open(run) as store:
        for iteration in (5, 6):
            store.checkpoints.remove(f"rl-{iteration:04d}")
    attempt(run)
    check(run)
    with RunStore.open(run, readonly=True) as store:
        history = [store.get(trained_key(step)) for step in range(1, ITERATIONS + 1)]
        versions = {t.group: max(t.versions) for t in store.trajectories(RL)}
    for step, groups in enumerate(history):
        assert all(versions[group] <= step for group in groups), "weights that are gone sampled what trained"


def test_a_run_of_version_0_1_goes_on(run: Path) -> None:
    """Its checkpoints have other names for the state of the pool and for the metrics."""
    with pytest.raises(ZeroDivisionError):
        attempt(run, 25, lambda: 1 / 0)
    records = list((run / "checkpoints").glob(f"*/{RECORD}"))
    assert records, "the run ended before its first checkpoint"
    for file in records:
        record = json.loads(file.read_text())
        meta = record["meta"]
        meta["unsettled"], meta["figures"] = meta.pop("pool"), meta.pop("metrics")
        file.write_text(json.dumps(record))
    with RunStore.open(run) as store:
        last = max(row["step"] for row in store.metrics(RL))
        store.discard_metrics(RL, after=int(last) - 1)
    attempt(run)
    check(run)
