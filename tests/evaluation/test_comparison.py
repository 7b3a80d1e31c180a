"""Comparing policies on the same tasks."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.store.fabricate import trajectory
from webdojo.errors import StoreError
from webdojo.evaluation.comparison import Measured, Outcome, compare
from webdojo.evaluation.metrics import clustered
from webdojo.loops.results.counted import counted
from webdojo.loops.runs import measured
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.types import Termination


def policy(name: str, outcomes: str) -> Measured:
    """A policy whose k-th task ended as the k-th character says: `+`, `-`, or `!` for invalid; a space is no task."""
    found = [
        Outcome(task_id=f"t{number}", success=each == "+", valid=each != "!")
        for number, each in enumerate(outcomes)
        if each != " "
    ]
    return Measured(name=name, outcomes=found)


def test_what_was_won_and_lost_is_told_by_task() -> None:
    found = compare(policy("a", "++--+-"), policy("b", "+-+++-")).official
    assert (found.won, found.lost, found.n) == (["t2", "t3"], ["t1"], 6)
    assert (found.first.successes, found.second.successes) == (3, 4)
    assert found.difference.value == pytest.approx(1 / 6)
    assert found.mcnemar_p == 1.0  # 3 differ, 1 against 2


@pytest.mark.parametrize(("lost", "won", "p"), [(0, 10, 2 / 1024), (1, 9, 22 / 1024), (10, 0, 2 / 1024), (0, 0, 1.0)])
def test_mcnemar_is_exact(lost: int, won: int, p: float) -> None:
    first, second = "+" * lost + "-" * won + "+-", "-" * lost + "+" * won + "+-"
    assert compare(policy("a", first), policy("b", second)).official.mcnemar_p == pytest.approx(p)


def test_the_interval_is_that_of_the_paired_difference() -> None:
    """50 of 100 tasks are won and none is lost: what differs by task varies less than the two rates do."""
    low, high = compare(policy("a", "-" * 100), policy("b", "+-" * 50)).official.difference.ci95
    assert 0.38 < low < 0.42 and 0.58 < high < 0.62
    same = compare(policy("a", "+-" * 50), policy("b", "+-" * 50)).official.difference
    assert same.value == 0.0
    assert -0.03 < same.ci95[0] < -0.01, "equal on a hundred tasks is not proved equal"
    assert same.ci95[1] == -same.ci95[0]


@pytest.mark.parametrize(
    ("first", "second", "least"),
    [("-" * 20, "-" * 20, 0.15), ("+" + "-" * 9, "+" + "-" * 9, 0.2), ("-", "-", 0.7), ("-----", "+++++", 0.3)],
)
def test_few_tasks_that_all_end_alike_prove_nothing(first: str, second: str, least: float) -> None:
    difference = compare(policy("a", first), policy("b", second)).official.difference
    low, high = difference.ci95
    assert low <= difference.value - least or high >= difference.value + least
    assert -1 <= low <= difference.value <= high <= 1


def test_of_policies_that_are_equally_good_one_in_twenty_seems_better() -> None:
    draw, wrong = random.Random(0), 0
    for _ in range(400):
        a, b = ("".join(draw.choices("+-", k=60)) for _ in range(2))
        low, high = compare(policy("a", a), policy("b", b)).official.difference.ci95
        wrong += not low <= 0 <= high
    assert 8 <= wrong <= 36, "5 % of 400 are 20"


def test_invalid_episodes_are_failures_and_stand_apart() -> None:
    found = compare(policy("a", "+!-+"), policy("b", "-++!"))
    assert (found.official.n, found.official.won, found.official.lost) == (4, ["t1", "t2"], ["t0", "t3"])
    assert (found.valid.n, found.valid.won, found.valid.lost) == (2, ["t2"], ["t0"])


def test_only_episodes_of_the_same_task_are_compared() -> None:
    found = compare(policy("a", "+- +"), policy("b", " ++-"))
    assert (found.official.n, found.left_out) == (2, 2)
    with pytest.raises(StoreError, match="a and b have no task in common: measure both on the same tasks"):
        compare(policy("a", "+ "), policy("b", " +"))


def runs(name: str, *tasks: str) -> Measured:
    """A policy whose k-th task had an episode for each character of the k-th text."""
    found = [Outcome(task_id=f"t{k}", success=it == "+", valid=True) for k, task in enumerate(tasks) for it in task]
    return Measured(name=name, outcomes=found)


def test_the_runs_of_a_task_are_paired_in_their_order_and_count_as_one_task() -> None:
    found = compare(runs("a", "+--"), runs("b", "-+-+"))
    assert (found.official.n, found.left_out, found.official.won, found.official.lost) == (3, 1, [], [])
    found = compare(runs("a", "-" * 10), runs("b", "+" * 10))
    assert (found.official.won, found.official.lost, found.official.mcnemar_p) == (["t0"], [], 1.0)
    assert found.official.difference.ci95[0] < 0.3, "ten runs of one task are one task"


def test_with_several_runs_the_rates_are_those_that_eval_prints() -> None:
    outcomes = ["+-", "--"] * 15
    found = runs("a", *outcomes)
    assert found.rate == clustered([[it == "+" for it in task] for task in outcomes])
    assert compare(found, found).official.first == found.rate
    low, high = compare(found, runs("b", *["++", "--"] * 15)).official.difference.ci95
    assert 0.1 < low < 0.25 < high < 0.4


def test_what_was_measured_otherwise_is_told(tmp_path: Path) -> None:
    for name, overrides in (("a", []), ("b", ["evaluate.max_steps=5", "seed=3", "evaluate.tasks=7"])):
        with RunStore.create(tmp_path / name, dump_recipe(load_recipe("quickstart", overrides)), {}) as store:
            made = trajectory(name, store.images)
            store.add_trajectory(made.model_copy(update={"task": made.task.model_copy(update={"id": "t"})}), "eval", 0)
            if name == "a":
                store.write_result({})
    first, second = (measured(tmp_path / name) for name in "ab")
    assert compare(first, second).differs == {"evaluate.max_steps": [8, 5]}
    assert (first.finished, second.finished) == (True, False)


def test_the_runs_of_a_task_are_read_in_the_order_of_their_seeds(tmp_path: Path) -> None:
    with RunStore.create(tmp_path, "evaluate: {runs: 3}", {}) as store:
        first = trajectory("0", store.images)
        for run, succeeds in ((2, True), (0, False), (1, True)):  # as they ended
            reward = first.reward.model_copy(update={"success": succeeds}) if first.reward else None
            told = {"id": str(run), "seed": f"t/{run}", "reward": reward}
            store.add_trajectory(first.model_copy(update=told), "eval", 0)
        assert [each.success for each in measured(tmp_path).outcomes] == [False, True, True]


def test_an_evaluation_is_read_from_its_run(tmp_path: Path) -> None:
    with RunStore.create(tmp_path, "", {}) as store:
        with pytest.raises(StoreError, match="holds no evaluation: measure the model by `webdojo eval`"):
            measured(tmp_path)
        failed: dict[str, Any] = {"success": False, "valid": False, "termination": Termination.ENV_ERROR}
        first = trajectory("a", store.images, **failed)
        again = trajectory("b", store.images).model_copy(update={"task": first.task})
        for each in (first, again, trajectory("c", store.images, **failed)):
            store.add_trajectory(each, "eval_rl", 3)
        store.add_trajectory(trajectory("d", store.images), "eval_rl", 2)
        found = measured(tmp_path).outcomes
        assert [(each.success, each.valid) for each in found] == [(True, True), (False, False)], "what ran again counts"
        store.add_trajectory(trajectory("e", store.images), "eval", 0)
        assert len(measured(tmp_path).outcomes) == 1, "an evaluation of its own comes first"


def test_of_several_runs_as_many_count_as_were_asked_for_the_valid_ones_first(tmp_path: Path) -> None:
    recipe = dump_recipe(load_recipe("quickstart", ["evaluate.runs=3"]))
    with RunStore.create(tmp_path / "run", recipe, {}) as store:
        for number, valid in enumerate((False, True, False, True)):
            made = trajectory(f"{number}", store.images, success=valid, valid=valid)
            made.task = made.task.model_copy(update={"id": "t"})
            store.add_trajectory(made, "eval", 0)
        assert [row.id for row in counted(store)] == ["1", "3", "2"]
    assert (measured(tmp_path / "run").rate.n, measured(tmp_path / "run").rate.successes) == (3, 2)
