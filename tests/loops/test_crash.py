"""Kill -9 of the loop at random moments and in its writes: what is stored is used, and nothing trains twice.

With stand-ins for model and browser (`crash.py`), so that kills are many; `test_kills.py` has few, of the real ones.
"""

from __future__ import annotations

import json
import multiprocessing
import random
from functools import partial
from pathlib import Path

import pytest

from tests.loops.crash import POINTS, AfterSeconds, Arm, AtWrite, attempt, count_killed, trained_groups
from webdojo.loops.resume import latest
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore

KILLS = POINTS or 20
BY_TASK = "tasks.sampler={name: mixed_outcomes, by: [task], window: 1, prior: 0.5}"
SIZES = [
    *(f"train.iterations={max(12, KILLS * 3 // 5)}", "train.groups_per_iteration=3", "rollout.group_size=3"),
    *("rollout.concurrency=8", "rollout.max_staleness=2", "train.threads=1"),
]


def moments(draw: random.Random) -> list[Arm]:
    return [AfterSeconds(draw.uniform(0.02, 0.4)) for _ in range(KILLS)]


def writes(draw: random.Random) -> list[Arm]:
    return [AtWrite(draw.randrange(1, 400)) for _ in range(KILLS)]


@pytest.mark.parametrize(("deaths", "overrides"), [(moments, []), (writes, []), (writes, [BY_TASK])])
def test_kills_lose_no_group_and_train_none_twice(tmp_path: Path, deaths, overrides) -> None:
    folder, recipe = tmp_path / "run", load_recipe("quickstart", [*SIZES, *overrides])
    RunStore.create(folder, dump_recipe(recipe), {}).close()
    arms = [*deaths(random.Random(f"{deaths.__name__}{overrides}")), None]
    attempts = [partial(attempt, recipe, folder, arm) for arm in arms]
    assert count_killed(multiprocessing.get_context("fork"), attempts) > KILLS / 3, (
        "most attempts were over before they could be killed"
    )

    numbers = trained_groups(recipe, folder)
    with RunStore.open(folder) as store:
        checkpoint = latest(store)
        assert checkpoint is not None
        for each in store.checkpoints.all():
            assert len(json.loads((each.path / "trained.json").read_text())) == each.meta["iteration"]
        assert {path.name for path in (folder / "checkpoints").iterdir()} == {c.name for c in store.checkpoints.all()}
    history: list[list[int]] = json.loads((checkpoint.path / "trained.json").read_text())
    for trained, ids in zip(history, numbers, strict=True):
        assert trained == sorted(ids * 3), "the learner trained on something else, or not on every member once"
