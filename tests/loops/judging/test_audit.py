"""A judge against the truth, and judges against one another, on a run whose truth is known by construction."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loops.judging.known import RECIPE, fill, known
from webdojo.errors import StoreError
from webdojo.evaluation.agreement import Confusion, agreement, mcnemar
from webdojo.loops.judging.audit import Choice, audit
from webdojo.loops.judging.compare import rejudge
from webdojo.store.run import RunStore

HERE = "tests.loops.judging.known"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with RunStore.create(tmp_path / "runs" / "known", RECIPE, {}) as store:
        fill(store)
    return tmp_path / "runs" / "known"


def counting() -> tuple[list[int], Callable[[int], Callable[[], None]]]:
    """What a bar was told: its total, and then a 1 for each step."""
    told: list[int] = []

    def begin(total: int) -> Callable[[], None]:
        told.append(total)
        return lambda: told.append(1)

    return told, begin


def counts(report: dict[str, Any]) -> tuple[int, ...]:
    return tuple(report["counts"][name] for name in ("tp", "fp", "fn", "tn", "invalid"))


async def test_the_truth_is_computed_again_and_what_has_none_is_left_out(run: Path) -> None:
    told, begin = counting()
    report = await audit(run, "rules", [], Choice(), begin)
    assert counts(report["overall"]) == (6, 0, 0, 7, 0)
    assert report["left_out"] == {
        "that the web or the system failed": 1,
        "of a task that rules cannot check": 1,
    }
    assert (told[0], sum(told[1:])) == (15, 15)
    assert report["overall"]["accuracy"]["ci95"] == list(agreement(Confusion(tp=6, tn=7)).accuracy.ci95)


async def test_errors_stand_where_they_were_made(run: Path) -> None:
    """The judge rejects one right episode, is unsure about another, and accepts the rest, the unfinished one excepted,
    about which nobody asks it."""
    overrides = ["reward.rejects=[wiki-10]", "reward.unsure=[shop-21]"]
    report = await audit(run, f"{HERE}:Scripted", overrides, Choice(), counting()[1])
    assert counts(report["overall"]) == (4, 6, 1, 1, 1)
    assert report["invalid"] == {"scripted": 1}
    assert report["overall"]["precision"]["rate"] == 0.4
    by = report["by"]
    assert counts(by["kind"]["wiki"]) == (3, 2, 1, 0, 0)
    assert counts(by["kind"]["shop"]) == (1, 4, 0, 1, 1)
    assert {key: each["n"] for key, each in by["difficulty"].items()} == {"1": 6, "2": 6}
    assert by["termination"].keys() == {"completed", "max_steps"}
    assert counts(by["termination"]["max_steps"]) == (0, 0, 0, 1, 0)
    assert by["harness"].keys() == {"openwebrl"}
    gap = report["gap"]
    assert [(each["iteration"], each["n"], each["invalid"]) for each in gap] == [(1, 4, 0), (2, 3, 1), (3, 4, 0)]
    assert [each["gap"]["value"] for each in gap] == pytest.approx([0.5, 2 / 3, 0.25])
    assert all(low < each["gap"]["value"] < high for each in gap for low, high in [each["gap"]["ci95"]])
    json.dumps(report)


async def test_phases_and_a_limit_choose(run: Path) -> None:
    one = await audit(run, "rules", [], Choice(["rl"]), counting()[1])
    assert one["overall"]["n"] == 12 and one["left_out"] == {}
    few = [await audit(run, "rules", [], Choice(["rl"], 5, seed), counting()[1]) for seed in (0, 0, 1)]
    assert [each["overall"]["n"] for each in few] == [5, 5, 5]
    assert few[0] == few[1] and few[0]["gap"] != few[2]["gap"]
    with pytest.raises(StoreError, match="no phase 'rll'"):
        await audit(run, "rules", [], Choice(["rll"]), counting()[1])


async def test_runs_of_several_harnesses_are_audited_together(run: Path) -> None:
    other = run.with_name("other")
    with RunStore.create(other, RECIPE.replace("name: openwebrl", "name: webgym"), {}) as store:
        store.add_trajectory(known("only", store.images), "rl", 1)
    (other / "recipe.yaml").write_text("name: quickstart\nharness:\n  name: webgym\n")
    report = await audit(run.parent, "rules", [], Choice(["rl"]), counting()[1])
    assert {name: each["n"] for name, each in report["by"]["harness"].items()} == {"openwebrl": 12, "webgym": 1}
    assert [(Path(each["run"]).name, each["iteration"]) for each in report["gap"]][-1] == ("other", 1)


async def test_judges_are_compared_with_the_stored_rewards_and_with_one_another(run: Path) -> None:
    before = _stored(run)
    told, begin = counting()
    report = await rejudge(run, [f"{HERE}:Scripted", "rules"], ["reward.timeout_s=9"], Choice(["rl"]), begin)
    assert (told[0], sum(told[1:])) == (24, 24)
    scripted = f"{HERE}:Scripted"
    pairs = {(each["first"], each["second"]): each for each in report["pairs"]}
    assert pairs.keys() == {("stored", scripted), ("stored", "rules"), (scripted, "rules")}
    assert counts(pairs["stored", scripted]) == (6, 6, 0, 0, 0)
    assert pairs["stored", scripted]["mcnemar_p"] == mcnemar(6, 0)
    assert pairs["stored", "rules"]["kappa"]["value"] == 1
    assert report["rates"]["rules"] == {"episodes": 12, "valid": 12, "accepted": 6}
    assert report["verdicts"]["rules"]["wiki-10"]["success"] is True
    assert _stored(run) == before, "the run's own rewards changed"
    unsure = await rejudge(run, [scripted], ["reward.unsure=[wiki-10]"], Choice(["rl"]), counting()[1])
    assert counts(unsure["pairs"][0]) == (5, 6, 0, 0, 1)


async def test_an_invalid_stored_reward_is_no_failure(run: Path) -> None:
    report = await rejudge(run, [f"{HERE}:Scripted"], [], Choice(["eval_rl"]), counting()[1])
    assert report["rates"]["stored"] == {"episodes": 3, "valid": 2, "accepted": 1}
    assert counts(report["pairs"][0]) == (1, 0, 0, 1, 1)


def _stored(run: Path) -> list[Any]:
    with RunStore.open(run, readonly=True) as store:
        return store.rows()
