"""Which trajectories and steps are imitated: tables of rows, and turns that could not be parsed or did nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.rollout.records import task, trajectory
from webdojo.errors import ConfigError
from webdojo.rollout.curation import CurateConfig, choose, dropped_steps
from webdojo.store.run import TrajectoryRow
from webdojo.types import ImageRef, Turn


def row(id: str, task: str = "", **values: object) -> TrajectoryRow:
    known = {"website": "a.com", "kind": "", "difficulty": 1, "termination": "completed", "reward": 1.0}
    known |= {"success": True, "valid": True, "steps": 3, "response_tokens": 100, "created": 0.0}
    return TrajectoryRow(id=id, phase="collect", iteration=0, group_id="", task_id=task or id, **(known | values))  # type: ignore[arg-type]


def on(turn: Turn, screen: str) -> Turn:
    """The same turn on another screen."""
    again = turn.model_copy(deep=True)
    again.observation.screenshot = ImageRef(sha=screen, width=64, height=64, mime="image/png")
    return again


def kept(rows: list[TrajectoryRow], seed: int = 0, **options: object) -> list[str]:
    chosen, dropped = choose(rows, CurateConfig.model_validate(options), seed)
    assert sorted([*dropped, *(each.id for each in chosen)]) == sorted(each.id for each in rows)
    return [each.id for each in chosen]


def test_of_a_task_the_shortest_success_stays_and_among_equals_that_of_fewer_tokens() -> None:
    rows = [
        row("long", "t", steps=5, response_tokens=10),
        row("wordy", "t", steps=3, response_tokens=90),
        row("failed", "t", steps=1, success=False, reward=0.0),
        row("short", "t", steps=3, response_tokens=80),
        row("same", "t", steps=3, response_tokens=80),
        row("other", "u", steps=9),
    ]
    assert kept(rows) == ["short", "other"]
    assert kept(rows, keep="all") == ["long", "wordy", "short", "same", "other"]
    assert kept(rows, outcomes="finished") == ["failed", "other"]
    reasons = {id: dropped.reason for id, dropped in choose(rows, CurateConfig(), 0)[1].items()}
    assert reasons["failed"] == "not successful" and reasons["same"] == "not the shortest of its task"


def test_tasks_of_two_websites_may_have_the_same_id() -> None:
    rows = [row("a", "1", website="one.example", steps=2), row("b", "1", website="two.example", steps=5)]
    assert kept(rows) == ["a", "b"]


def test_what_ended_otherwise_is_not_finished() -> None:
    rows = [row("done", success=False, reward=0.0), row("cut", termination="max_steps", success=False, reward=0.0)]
    assert kept(rows, outcomes="finished") == ["done"]
    assert kept(rows, outcomes="all") == ["done", "cut"]
    assert kept([row("empty", steps=0)], outcomes="all") == []


def test_a_website_has_no_more_tasks_than_the_cap() -> None:
    rows = [row(f"{site}{n}", website=site) for n in range(10) for site in ("a.com", "b.com")]
    few = kept(rows, per_website=3)
    assert Counter(id[:5] for id in few) == {"a.com": 3, "b.com": 3}
    assert kept(rows, per_website=3) == few, "it was drawn anew"
    assert any(kept(rows, per_website=3, seed=seed) != few for seed in range(1, 5))


def test_the_cap_counts_tasks_and_not_their_trajectories() -> None:
    rows = [row(f"{task}-{n}", task) for task in "tu" for n in range(3)]
    assert len(kept(rows, per_website=1, keep="all")) == 3


@pytest.mark.parametrize(
    ("options", "by_difficulty"),
    [
        ({"mix": {1: 1, 2: 1}}, {1: 4, 2: 4}),
        ({"mix": {1: 1, 2: 2}}, {1: 2, 2: 4}),
        ({"mix": {1: 3, 3: 1}}, {1: 6, 3: 2}),
        ({"mix": {2: 1, 1: 0}}, {2: 4}),
        ({"mix": {1: 1, 2: 1}, "max_tasks": 6}, {1: 3, 2: 3}),
        ({"max_tasks": 50}, {1: 8, 2: 4, 3: 2}),
    ],
)
def test_difficulties_are_mixed_as_far_as_there_are_tasks(
    options: dict[str, Any], by_difficulty: dict[int, int]
) -> None:
    rows = [row(f"{level}/{n}", difficulty=level) for level, count in {1: 8, 2: 4, 3: 2}.items() for n in range(count)]
    assert Counter(int(id[0]) for id in kept(rows, **options)) == by_difficulty
    assert len(kept(rows, max_tasks=5)) == 5


def test_a_mix_of_a_difficulty_that_is_not_there_is_refused() -> None:
    rows = [row("a"), row("b", difficulty=3, success=False, reward=0.0)]
    with pytest.raises(ConfigError, match=r"curate\.mix names difficulty 3, of which no task .* are left: 1$"):
        kept(rows, mix={1: 2, 3: 1})
    assert kept(rows, mix={1: 2, 3: 0}) == ["a"]


def test_steps_that_did_nothing_went_astray_or_could_not_be_read() -> None:
    shown = trajectory(task("t"), 1.0)
    (only,) = shown.turns
    shown.turns = [on(only, screen) for screen in "abacdd"]
    shown.turns[4].same_screen = True
    shown.turns[3].parsed.error = "no call"
    assert dropped_steps(shown, []) == {}
    every = dropped_steps(shown, ["format_error", "no_op", "repeated_screen"])
    assert {place: each.reason for place, each in every.items()} == {
        0: "repeated screen",
        3: "format error",
        4: "no-op",
    }
    assert every[0].why == "step 3 is on the same screen"
    assert dropped_steps(shown, ["repeated_screen"]).keys() == {0, 4}
