"""A training whose reward is a judge: what a budget stops goes on with a larger one, and no verdict is lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.loops.conftest import SmallRecipe
from tests.loops.crash import trained_groups
from tests.loops.judged import attempt, judged_by, of_two_minds
from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.errors import BudgetError
from webdojo.loops.run_folder import RL
from webdojo.recipe import dump_recipe
from webdojo.store.run import RunStore
from webdojo.types import Termination

SIZES = ("train.iterations=2",)


def test_a_budget_that_runs_out_ends_a_training_with_one_line_and_a_larger_one_goes_on(
    tmp_path: Path, small_recipe: SmallRecipe, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "run"
    with Endpoint(default=replying(of_two_minds)) as endpoint:
        recipe = judged_by(endpoint, small_recipe, *SIZES, budget_requests=5)
        RunStore.create(folder, dump_recipe(recipe), {}).close()
        with pytest.raises(BudgetError) as stopped:
            attempt(recipe, folder, "first")
        assert "\n" not in str(stopped.value)
        assert "raise reward.engine.budget_requests" in str(stopped.value)
        assert "has used" in caplog.text
        assert len(endpoint.bodies) == 5
        with RunStore.open(folder, readonly=True) as store:
            ended = store.trajectories(RL)
        unjudged = [each for each in ended if each.reward is None]
        judged = [each for each in ended if each.reward is not None and each.reward.judgements]
        assert judged
        assert len(judged) + len(unjudged) > 5
        assert unjudged, "the episode that the budget did not suffice for is not in the store"
        assert all(each.termination is Termination.COMPLETED and each.turns for each in unjudged)

        with pytest.raises(BudgetError):  # what is left is judged first, so no browser is needed to find out
            attempt(recipe, folder, "again")
        with RunStore.open(folder, readonly=True) as store:
            assert {each.id for each in store.trajectories(RL)} == {each.id for each in ended}

        larger = judged_by(endpoint, small_recipe, *SIZES, budget_requests=500)
        attempt(larger, folder, "second")
    trained_groups(larger, folder)
    with RunStore.open(folder, readonly=True) as store:
        found = {each.id: each for each in store.trajectories(RL)}
    for before in judged:
        assert found[before.id] == before, "an episode that was judged has changed"
    for before in unjudged:
        after = found[before.id]
        assert after.reward is not None
        assert len(after.reward.judgements) == 1
        assert after.turns == before.turns
    asked = Counter(json.dumps(body["messages"]) for body in endpoint.bodies)
    assert set(asked.values()) == {1}, "a verdict was paid twice"
    verdicts = [each.reward for each in found.values() if each.reward is not None and each.reward.judgements]
    assert len(verdicts) == len(endpoint.bodies)
    assert {reward.success for reward in verdicts} == {True, False}
