"""Success by stage, while a run goes on and when it has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rollout.records import task, trajectory
from webdojo.errors import StoreError
from webdojo.loops.results.counted import counted
from webdojo.loops.results.stages import stages
from webdojo.loops.run_folder import EVAL_BASE, EVALUATION, PLANNED, RL
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.types import Termination

RECIPE = dump_recipe(load_recipe("quickstart", ["evaluate.tasks=3", "evaluate.runs=2", "train.iterations=5"]))


def add(store: RunStore, phase: str, outcomes: list[tuple[str, float | Termination]], iteration: int = 0) -> None:
    for name, outcome in outcomes:
        number = sum(store.count().values())
        store.add_trajectory(trajectory(task(name), outcome, trajectory_id=f"{name}-{number}"), phase, iteration)


def test_a_run_that_goes_on_says_what_its_episodes_say(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", RECIPE, {}) as store:
        assert stages(store) == {}
        store.set(PLANNED, 6)
        # An invalid episode that ran again is not counted.
        add(store, EVAL_BASE, [("a", Termination.TIMEOUT), ("a", 1), ("a", 0), ("b", 0), ("c", Termination.TIMEOUT)])
        add(store, EVALUATION, [("a", 1)], iteration=3)
        (key,) = (found := stages(store))
        assert key == "success_base"
        base = found[key]
        assert (base["n"], base["valid_n"], base["planned"], base["rate"]) == (4, 3, 6, 0.25)
        assert base["by_difficulty"]["1"]["n"] == 4
        add(store, EVALUATION, [("a", 1), ("b", 0)], iteration=5)
        assert stages(store)["success_rl"]["rate"] == 0.5
        assert stages(store, store.rows()) == stages(store)


def test_a_finished_run_says_what_its_result_says(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", RECIPE, {}) as store:
        add(store, EVAL_BASE, [("a", 1)])
        store.write_result({"success_base": {"rate": 0.4}, "seed": 0})
        assert stages(store) == {"success_base": {"rate": 0.4}}


def test_an_unfinished_training_says_when_it_is_measured(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", RECIPE, {}) as store:
        add(store, RL, [("a", 1)], iteration=1)
        store.add_metrics(RL, 1, {"success": 1.0})
        with pytest.raises(StoreError, match="no evaluation: its training is at 1 of 5 iterations"):
            counted(store)
