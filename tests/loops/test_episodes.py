"""What ends a run whose episodes fail for no fault of the agent, and by which exit code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import PrivateAttr

from tests.rollout.records import task, trajectory
from webdojo.errors import ConfigError, RewardError, WebdojoError
from webdojo.loops.episodes import FAILURES_IN_A_ROW, EpisodeRunner
from webdojo.recipe import load_recipe
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.store.run import RunStore
from webdojo.types import ImageSource, Reward, Termination, Trajectory


class Judge(RewardFunction):
    """Raises an error, or none."""

    _error: Exception | None = PrivateAttr(default=None)

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        if self._error is not None:
            raise self._error
        return Reward(value=1.0, success=True)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[EpisodeRunner]:
    recipe = load_recipe("quickstart", ["rollout.concurrency=2"])
    with RunStore.create(tmp_path / "run", "name: x", {"seed": 0}) as store:
        unused = cast(Any, None)
        yield EpisodeRunner(recipe, store, unused, unused, Scorer(Judge(), store.images))


async def finish(runner: EpisodeRunner, number: int, termination: Termination = Termination.COMPLETED) -> None:
    episode = trajectory(task("t"), 0, trajectory_id=f"t-{number}")
    episode.reward, episode.termination, episode.answer = None, termination, "7"
    await runner.finish(episode, "rl", 1)


async def asked_beside_others(runner: EpisodeRunner, error: Exception) -> tuple[int, WebdojoError]:
    """After how many episodes to be judged the run ends where every other one needs no verdict."""
    cast(Judge, runner.scorer.function)._error = error
    with pytest.raises(WebdojoError) as ended:
        for number in range(100):
            await finish(runner, 2 * number + 1)
            await finish(runner, 2 * number + 2, Termination.MAX_STEPS)
    return number + 1, ended.value


async def test_a_reward_that_fails_again_and_again_ends_the_run_beside_episodes_that_need_none(
    runner: EpisodeRunner,
) -> None:
    for number in range(FAILURES_IN_A_ROW - 1):
        cast(Judge, runner.scorer.function)._error = OSError("refused")
        await finish(runner, -number)
    cast(Judge, runner.scorer.function)._error = None
    await finish(runner, 1000)
    asked, error = await asked_beside_others(runner, OSError("refused"))
    assert asked == FAILURES_IN_A_ROW, "one that was judged between them begins the count anew"
    assert isinstance(error, RewardError) and error.exit_code == 75
    assert str(error).startswith(f"{FAILURES_IN_A_ROW} episodes to be judged one after the other in phase 'rl' failed")


async def test_a_bug_in_the_reward_is_for_the_user_to_mend(runner: EpisodeRunner) -> None:
    _, error = await asked_beside_others(runner, KeyError("page"))
    assert isinstance(error, ConfigError) and error.exit_code == 2
    assert "test_episodes.py, line " in str(error) and "KeyError: 'page'" in str(error)
