"""The kit of an evaluation holds what its number depends on, and by it the episodes are judged again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loops.judging.known import RECIPE
from tests.loops.results.evaluated import OWN, episodes, evaluation_in
from webdojo.errors import StoreError
from webdojo.loops.judging.replay import replay
from webdojo.loops.results.cost import cost
from webdojo.loops.results.kit import tasks_hash
from webdojo.loops.run_folder import ENGINE_ACCOUNT
from webdojo.policy.chat.ledger import Spending
from webdojo.policy.engine import ChatConfig
from webdojo.store.run import RunStore


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return evaluation_in(tmp_path / "run")


def kit_of(run: Path) -> dict[str, Any]:
    kit: dict[str, Any] = json.loads((run / "evaluation.json").read_text())
    return kit


def replayed(run: Path) -> dict[str, Any]:
    def begin(total: int) -> Callable[[], None]:
        return lambda: None

    return asyncio.run(replay(run, begin))


def test_it_says_what_the_number_depends_on(run: Path) -> None:
    kit = kit_of(run)
    assert kit["protocol"]["name"] == "quickstart"
    assert kit["protocol"]["values"]["evaluate.max_steps"] == OWN.evaluate.max_steps
    assert kit["tasks"]["n"] == 3 and len(kit["tasks"]["sha256"]) == 64
    assert kit["judge"]["name"] == "rules" and len(kit["judge"]["code_sha256"]) == 64
    assert (kit["git"], kit["versions"], kit["model"]) == ("abc", {"python": "3"}, "tiny")
    assert [(each["task"], each["seed"]) for each in kit["episodes"]][:3] == [
        ("a", "0/a/1"),
        ("a", "0/a/2"),
        ("b", "0/b/1"),
    ]
    assert kit["result"]["rate"] == pytest.approx(1 / 6)


def test_judged_again_it_is_the_same_number_from_the_folder_or_the_file(run: Path) -> None:
    before = (run / "run.sqlite").read_bytes()
    for given in (run, run / "evaluation.json"):
        report = replayed(given)
        assert report["again"] == report["was"] == kit_of(run)["result"]
        assert report["changed"] == [] and report["same_judge"]
        assert not [*run.glob("judgements/*.jsonl")], "the next one would not ask the judge"
    assert (run / "run.sqlite").read_bytes() == before


def test_a_verdict_that_changes_is_named_and_moves_the_number(run: Path) -> None:
    kit = kit_of(run)
    told = next(each for each in kit["episodes"] if each["id"] == "b-1")
    told["success"] = True
    (run / "evaluation.json").write_text(json.dumps(kit))
    report = replayed(run)
    assert [(each["id"], each["was"]["success"], each["again"]["success"]) for each in report["changed"]] == [
        ("b-1", True, False)
    ]


def test_another_judge_is_told(run: Path) -> None:
    recipe = (run / "recipe.yaml").read_text()
    (run / "recipe.yaml").write_text(recipe.replace("format_reward: true", "format_reward: false"))
    assert not replayed(run)["same_judge"]


def test_an_episode_that_is_gone_and_a_run_without_a_kit_are_told(run: Path) -> None:
    with RunStore.open(run) as store:
        store.discard_trajectory("a-1")
    with pytest.raises(StoreError, match=r"lacks 1 of the 6 episodes .* 'a-1'"):
        replayed(run)
    (run / "evaluation.json").unlink()
    with pytest.raises(StoreError, match="`webdojo eval` writes it"):
        replayed(run)


def test_the_hash_of_tasks_is_of_all_that_they_are_and_not_of_their_order(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "other", RECIPE, {}) as store:
        tasks = [each.task for each in episodes(store)[::2]]
    other = [tasks[0].model_copy(update={"instruction": "Another"}), *tasks[1:]]
    assert tasks_hash(tasks) == tasks_hash(tasks[::-1]) != tasks_hash(other)


def test_money_is_what_the_runs_accounts_say(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "other", RECIPE, {}) as store:
        made = episodes(store)
    assert "engine" not in cost(made, tmp_path)
    account = Spending(ChatConfig(price_input=1, price_output=2), tmp_path / ENGINE_ACCOUNT)
    account.add("answered", 0.25)
    account.add("answered", 0.5)
    account.close()
    found = cost(made, tmp_path)
    assert (found["engine"]["requests"], found["engine"]["usd"]) == (2, 0.75)
    assert (found["episodes"], found["steps"], "judge" in found) == (6, 4.0, False)
