"""What `webdojo eval` says below its table."""

from __future__ import annotations

from datetime import date
from typing import Any

from tests.store.fabricate import trajectory
from webdojo.evaluation.metrics import success
from webdojo.store.images import MemoryImages
from webdojo.tasks.dates import marks, shifted
from webdojo.types import Task, Trajectory
from webdojo.view.evaluating import evaluation_lines


def episodes(task: str, outcomes: str) -> list[Trajectory]:
    """A `+` is a success, a `-` a failure, a `!` invalid."""
    made = []
    for number, each in enumerate(outcomes):
        one = trajectory(f"{task}{number}", MemoryImages(), success=each == "+", valid=each != "!", seed=f"{number}")
        one.task = Task(id=task, instruction="Do it", start_url="http://a/", website="a")
        assert one.reward is not None
        one.reward.cause = "dead_page" if each == "!" else ""
        made.append(one)
    return made


def lines(*measured: Trajectory, differs: dict[str, Any] | None = None, **cost: Any) -> list[str]:
    spent = {"episodes": len(measured), "steps": 3.0, "response_tokens": 36.0, "seconds": 12.4, **cost}
    found = success(measured).model_dump(mode="json")
    result = {"success_eval": found, "cost": spent, "protocol": "openwebrl", "differs": differs or {}}
    return list(evaluation_lines(result))


def test_one_run_says_what_an_episode_costs_and_the_protocol() -> None:
    assert lines(*episodes("a", "+")) == ["an episode: 3.0 steps, 36 tokens, 12s", "protocol: openwebrl"]


def test_invalid_episodes_are_told_with_the_rate_without_them() -> None:
    first = lines(*episodes("a", "+"), *episodes("b", "!"), *episodes("c", "-"), *episodes("d", "!"))[0]
    assert first == "without the invalid: 50.0% of 2 (9.5% .. 90.5%); invalid: 2 dead page"


def test_several_runs_have_a_spread_and_figures_at_k() -> None:
    first = lines(*episodes("a", "+-"), *episodes("b", "--"))[0]
    assert first == "2 runs of 2 tasks: 25.0% ± 35.4%; pass@2 50.0%; S@2 50.0%; F@1 50.0%"


def test_tasks_that_plan_for_days_gone_by_are_counted_and_so_are_those_whose_dates_were_moved() -> None:
    text, measured = "Book a hotel in Rome for January 3, 2024", []
    for number, outcome in enumerate("-+-+"):
        (episode,) = episodes(f"a{number}", outcome)
        task = episode.task.model_copy(update={"instruction": text, "metadata": marks(text, date(2026, 1, 1))})
        episode.task = shifted(task, date(2027, 1, 1)) if number == 3 else task
        measured.append(episode)
    about_the_past = episodes("b", "+")
    about_the_past[0].task.metadata.update(marks("What were the scores of January 3, 2024?", date(2026, 1, 1)))
    assert lines(*measured, *about_the_past)[:2] == [
        "3 of 5 episodes plan ahead of a day that has gone by (tasks.shift_dates moves it): 33.3%",
        "1 of 5 episodes have their dates moved by tasks.shift_dates: 100.0%",
    ]


def test_money_is_told_an_episode_and_the_judges_apart() -> None:
    totals = {"requests": 4, "usd": 0.5}
    said = lines(*episodes("a", "+-"), engine=totals, judge=totals | {"usd": 0.1})[1]
    assert said == "an episode: 3.0 steps, 36 tokens, 12s, 0.2500 USD, 0.0500 USD for its judge"


def test_what_differs_from_the_protocol_is_named_with_both_values() -> None:
    differs = {"evaluate.tasks": [300, 10], "reward.name": ["openwebrl", "rules"]}
    said = lines(*episodes("a", "+"), differs=differs)[-1]
    assert said == "protocol: openwebrl, but evaluate.tasks 10 (not 300), reward.name rules (not openwebrl)"
