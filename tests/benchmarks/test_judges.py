"""The benchmark of the judges: real episodes, real requests, and figures that follow from what was asked."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.benchmarks.conftest import Script
from webdojo.loops.judging.corruptions import CORRUPTIONS


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, script: Script) -> dict[str, Any]:
    """The record of a small run."""
    folder = tmp_path_factory.mktemp("results")
    judges, record = script("judges"), script("record")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "RESULTS", folder)
        patch.setattr(judges, "REPEATS", 1)
        patch.setattr(judges, "SPEED", {name: (judge, 2) for name, (judge, _) in judges.SPEED.items()})
        patch.setattr(sys, "argv", ["judges.py", "--trajectories", "6", "--seed", "3"])
        judges.main()
    return dict(json.loads((folder / "judges.json").read_text()))


def rows(printed: dict[str, Any], part: str) -> list[dict[str, Any]]:
    return [row for row in printed["rows"] if row["part"] == part]


def test_the_three_agents_made_the_episodes(printed: dict[str, Any]) -> None:
    made = {row["agent"]: row for row in rows(printed, "episodes")}
    assert {agent: row["episodes"] for agent, row in made.items()} == {"oracle": 2, "erring_oracle": 2, "chance": 2}
    assert made["oracle"]["done"]["percent"] == 100 and made["chance"]["done"]["percent"] == 0
    assert all(row["facts"] >= 2 for row in made.values())


def test_calls_are_those_of_the_protocols_and_within_what_a_dry_run_plans(printed: dict[str, Any]) -> None:
    cost = {(row["judge"], row.get("agent")): row for row in rows(printed, "cost")}
    assert all(row["calls"] <= row["most_calls"] for row in cost.values())
    for judge in ("openwebrl", "webvoyager", "agenttrek", "deepshop_molmoweb"):
        assert cost[judge, None]["calls"] == 1
    naive, webgym, least = (cost[name, None] for name in ("naive", "webgym", "webgym_last_screenshot_alone"))
    assert naive["calls"] == naive["fact_calls"] + 2
    assert webgym["fact_calls"] < naive["fact_calls"], "no episode failed at a fact before the last"
    assert (least["calls"], least["images"]) == (webgym["calls"], least["calls"]), "an image a question"
    done = cost["webgym", "oracle"]
    assert done["fact_calls"] == cost["naive", "oracle"]["fact_calls"], "a fact that holds ended a verdict"
    assert done["calls"] > cost["naive", "oracle"]["calls"]
    assert naive["image_tokens"] == pytest.approx(1280 * naive["images"], rel=1e-3), "40 by 32 squares a screenshot"


def test_the_headline_divides_what_the_rows_hold(printed: dict[str, Any]) -> None:
    headline = printed["headline"]
    naive, webgym = (next(row for row in rows(printed, "cost") if row["judge"] == name) for name in ("naive", "webgym"))
    assert headline["x_calls_saved"] == pytest.approx(naive["calls"] / webgym["calls"], abs=0.01)
    assert headline["x_tokens_saved"] < headline["x_tokens_saved_at_most"]
    assert headline["x_fact_calls_saved"] > 1


def test_the_speed_is_that_of_an_endpoint_which_takes_its_time(printed: dict[str, Any]) -> None:
    speed = {(row["judge"], row["way"]): row["verdicts_per_s"] for row in rows(printed, "speed")}
    assert len(speed) == 4
    assert 0 < speed["openwebrl", "one_at_a_time"] < 20 > speed["webgym", "one_at_a_time"] > 0
    assert printed["headline"]["verdicts_per_s"] == pytest.approx(speed["openwebrl", "default"], abs=0.06)


def test_rules_accept_nothing_that_was_tampered_with_and_the_credulous_judge_most(printed: dict[str, Any]) -> None:
    headline = printed["headline"]
    assert headline["false_accept_stress_rules"] == 0 < 50 < headline["false_accept_stress_credulous"]
    for judge in ("rules", "credulous"):
        own = [row for row in rows(printed, "stress") if row["judge"] == judge]
        kinds = [row for row in own if "kind" in row]
        assert len(kinds) >= 8 and {row["kind"] for row in kinds} <= CORRUPTIONS.keys()
        (total,) = [row["false_accepts"] for row in own if "false_accepts" in row]
        assert total["n"] == sum(row["accepted"]["n"] for row in kinds if row["truth"] != "success")
        assert total["percent"] == headline[f"false_accept_stress_{judge}"]
        assert total["ci95_percent"][0] <= total["percent"] <= total["ci95_percent"][1]
