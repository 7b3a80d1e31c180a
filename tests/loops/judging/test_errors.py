"""A model sorts the failed episodes of a run: a real endpoint, and a run whose failures are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loops.judging.known import RECIPE, known
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.errors import StoreError
from webdojo.loops.analysis.analyze import analyze, chosen
from webdojo.loops.judging.audit import Choice
from webdojo.loops.judging.errors import sort_errors
from webdojo.store.run import RunStore
from webdojo.types import Termination
from webdojo.view.judging import error_tables


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two successes, three wrong answers, one that ran out of steps, one unreadable, and one that the web failed."""
    with RunStore.create(tmp_path / "run", RECIPE, {}) as store:
        for n in range(5):
            store.add_trajectory(known(f"e-{n}", store.images, n < 2, site=n), "eval", 0)
        unfinished = known("cut", store.images, False, termination=Termination.MAX_STEPS, answer=None)
        unreadable = known("odd", store.images, False, termination=Termination.FORMAT_ERROR, answer=None)
        lost = known("lost", store.images, False, valid=False, termination=Termination.TIMEOUT)
        for made in (unfinished, unreadable, lost):
            store.add_trajectory(made, "eval", 0)
    return tmp_path / "run"


def says(messages: list[dict[str, Any]]) -> str:
    text = json.dumps(messages[1:])
    category = "grounding" if "Final answer of the agent: none" in text else "reasoning"
    return f"It read the wrong row in step 4.\nCategory: {category}"


def begin(total: int) -> Callable[[], None]:
    return lambda: None


def at(endpoint: Endpoint) -> list[str]:
    return ["reward.engine.name=chat", f"reward.engine.base_url={endpoint.url}", "reward.engine.model=m"]


async def test_failures_are_sorted_once_and_stand_beside_the_rules(run: Path) -> None:
    with Endpoint(default=replying(says)) as endpoint:
        report = await sort_errors(run, at(endpoint), Choice(), begin)
        assert await sort_errors(run, at(endpoint), Choice(), begin) == report
    assert len(endpoint.bodies) == 4, "an episode was asked about twice, or one that needs no model"
    assert report["categories"] == {"access": 0, "reasoning": 3, "grounding": 1, "task or judge": 0}
    assert report["left_out"].keys() == {"that succeeded", "that the system failed or whose responses cannot be read"}
    assert sum(report["left_out"].values()) == 4
    assert report["examples"]["grounding"] == {"episode": "cut", "reason": "It read the wrong row in step 4."}
    assert len(list(error_tables(report))) == 2
    (table,) = analyze([run], questions=chosen(["model_errors"]))
    found = [dict(zip(table.places, row, strict=True)) for row in table.rows]
    assert [(row["category"], row["episodes"], row["rules_agree"]) for row in found] == [
        ("reasoning", 3, 1.0),
        ("grounding", 1, 0.0),
    ]
    (judges,) = analyze([run], questions=chosen(["judges"]))
    assert not judges.rows, "a category was taken for a verdict"


async def test_an_answer_without_a_category_is_counted_as_invalid(run: Path) -> None:
    with Endpoint(default=replying(lambda messages: "It failed.\nCategory: the weather")) as endpoint:
        report = await sort_errors(run, at(endpoint), Choice(limit=1, seed=3, phases=["eval"]), begin)
    assert (report["episodes"], report["invalid"]) == (1, 1)
    assert not any(report["categories"].values())
    (table,) = analyze([run], questions=chosen(["model_errors"]))
    assert "no model was asked" in table.missing[0]


async def test_where_nothing_has_failed_nobody_is_asked(run: Path, tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "well", RECIPE, {}) as store:
        store.add_trajectory(known("e-0", store.images), "eval", 0)
    with pytest.raises(StoreError, match=r"no episode of .*well is left to ask about: 1 that succeeded"):
        await sort_errors(
            tmp_path / "well",
            ["reward.engine.model=m", "reward.engine.base_url=http://127.0.0.1:9/v1"],
            Choice(),
            begin,
        )
