"""A judge as a part of a run: refused before it starts, and what an empty budget leaves of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.policy.chat.endpoint import Endpoint, completion, say
from tests.reward.judges.episodes import IMAGES, episode
from webdojo.errors import BudgetError, ConfigError
from webdojo.loops.episodes import EpisodeRunner
from webdojo.policy.engines import Chat
from webdojo.recipe import load_recipe
from webdojo.reward.gate import Scorer
from webdojo.reward.judges.openwebrl import OpenWebRLJudge
from webdojo.store.info import run_info
from webdojo.store.run import RunStore


def test_a_judge_that_nobody_can_ask_is_refused_before_the_run() -> None:
    recipe = load_recipe("quickstart", ["reward.name=openwebrl", "evaluate.tasks=1"])
    with pytest.raises(ConfigError, match=r"the judge 'openwebrl' \(section reward\): reward.engine.base_url is ''"):
        recipe.check(trains=True, demonstrates=True)


async def test_an_empty_budget_loses_no_episode_and_more_of_it_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = tmp_path / "run"

    async def finish(endpoint: Endpoint, budget: int, *ids: str) -> None:
        judge = OpenWebRLJudge(engine=Chat(**endpoint.config(budget_requests=budget).model_dump()))
        with RunStore.open(run) if run.exists() else RunStore.create(run, "", run_info(0)) as store:
            async with Scorer(judge, IMAGES, store.path) as scorer:
                nothing: Any = None
                runner = EpisodeRunner(load_recipe("quickstart"), store, nothing, nothing, scorer)
                await runner.score_left()
                for id in ids:
                    await runner.finish(episode(answer=id).model_copy(update={"id": id}), "rl", 1)

    with Endpoint(default=say(completion("All is there.\nSUCCESS"))) as endpoint:
        with pytest.raises(
            BudgetError, match=r"all 2 requests to m are used up .* raise reward\.engine\.budget_requests"
        ):
            await finish(endpoint, 2, "a", "b", "c", "d")
        assert "of its budget of 2 requests" in caplog.text
        with RunStore.open(run, readonly=True) as store:
            assert [(row.id, row.reward) for row in store.rows()] == [("a", 1), ("b", 1), ("c", None)]
        await finish(endpoint, 4, "d")
        assert len(endpoint.bodies) == 4
    with RunStore.open(run, readonly=True) as store:
        assert [(row.id, row.reward) for row in store.rows()] == [("a", 1), ("b", 1), ("c", 1), ("d", 1)]
        assert all(found.reward is not None and found.reward.judgements for found in store.trajectories())
