"""Longer thoughts for demonstrations: what changes and what does not, and that nothing is asked twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.errors import BudgetError
from webdojo.loops.collection.dataset import open_dataset
from webdojo.loops.collection.imitated import imitated
from webdojo.loops.collection.rethink import rethink, retold
from webdojo.loops.construction.writer import LeftOut
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.types import Trajectory

THOUGHT = "The page is open. I open the list."


def trajectories(folder: Path) -> list[Trajectory]:
    with open_dataset(folder) as dataset:
        return list(dataset.trajectories())


def asking(folder: Path, url: str, *more: str) -> Recipe:
    engine = ["engine.name=chat", f"engine.base_url={url}", "engine.model=thinker", "engine.max_concurrency=2"]
    return load_recipe(str(folder / "recipe.yaml"), [*engine, *more])


def thinking(messages: list[dict[str, Any]]) -> str:
    return f"<think>What would it think?</think>\n{THOUGHT}"


def test_with_its_own_thoughts_a_trajectory_is_the_same(erring: Path) -> None:
    recipe = load_recipe(str(erring / "recipe.yaml"))
    harness = recipe.harness.build(Processor.load(model_folder(recipe.model.path)))
    for each in trajectories(erring):
        again = retold(each, [turn.parsed.think for turn in each.turns], harness, recipe, LeftOut())
        assert again == each


def test_thoughts_change_and_what_the_agent_did_does_not(erring: Path, tmp_path: Path) -> None:
    with Endpoint(default=replying(thinking)) as endpoint:
        report = rethink(erring, asking(erring, endpoint.url), "", tmp_path / "new")
    before, after = trajectories(erring), trajectories(tmp_path / "new")
    assert report["thoughts"] == sum(len(each.turns) for each in before)
    assert not report["left_out"]
    for old, new in zip(before, after, strict=True):
        assert [turn.parsed.calls for turn in new.turns] == [turn.parsed.calls for turn in old.turns]
        assert {turn.parsed.think for turn in new.turns} == {THOUGHT}
        assert new.reward == old.reward
        shown = Processor.load(model_folder("tiny")).decode(new.turns[-1].prompt.ids(0))
        assert shown.count(THOUGHT) == len(new.turns) - 1, "later prompts show the old thoughts"
    told = str(endpoint.bodies[0]["messages"][1]["content"])
    assert any(each.task.instruction in told for each in before)
    found = imitated(load_recipe("quickstart", [f"sft.data={tmp_path / 'new'}"]))
    assert {turn.parsed.think for each in found for turn in each.turns} == {THOUGHT}
    with open_dataset(tmp_path / "new") as dataset:
        assert dataset.manifest.lineage[0]["thoughts"] == {"engine": "chat", "model": "thinker"}


def test_a_call_that_ran_out_of_budget_goes_on(erring: Path, tmp_path: Path) -> None:
    with Endpoint(default=replying(thinking)) as endpoint:
        with pytest.raises(BudgetError, match="budget"):
            rethink(erring, asking(erring, endpoint.url, "engine.budget_requests=5"), "", tmp_path / "new")
        assert not (tmp_path / "new").exists()
        first = [str(body["messages"]) for body in endpoint.bodies]
        rethink(erring, asking(erring, endpoint.url), "", tmp_path / "new")
    later = [str(body["messages"]) for body in endpoint.bodies[len(first) :]]
    assert later and not set(first) & set(later), "something was asked twice"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]


def test_a_thought_that_does_not_fit_is_left_out(erring: Path, tmp_path: Path) -> None:
    with Endpoint(default=replying(lambda messages: "I look. " * 80)) as endpoint:
        report = rethink(erring, asking(erring, endpoint.url), "", tmp_path / "new")
    assert report["thoughts"] == 0
    assert list(report["left_out"]) == ["thought: more than 96 tokens (rollout.sampling.max_tokens)"]
    assert trajectories(tmp_path / "new") == trajectories(erring)
