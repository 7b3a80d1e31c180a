"""The gate around every verdict, and how verdicts are asked for: concurrently, with a limit, and never for nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import ClassVar

import pytest
from pydantic import PrivateAttr

from tests.rollout.records import task, trajectory
from webdojo.errors import BudgetError, ConfigError, Failure, TaskError
from webdojo.recipe import load_recipe
from webdojo.reward import gate
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.reward.registry import EnvironmentReward
from webdojo.reward.rules import Rules
from webdojo.store.images import MemoryImages
from webdojo.types import ImageSource, Parsed, Reward, Task, Termination, Trajectory

Judge = Callable[[Trajectory], Awaitable[Reward]]


class Judged(RewardFunction):
    """Says what a function of the test says, and remembers who was asked about."""

    _judge: Judge = PrivateAttr()
    _asked: list[str] = PrivateAttr(default_factory=list)

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        self._asked.append(trajectory.id)
        return await self._judge(trajectory)


class JudgedAll(Judged):
    scores_unfinished: ClassVar[bool] = True


async def right(trajectory: Trajectory) -> Reward:
    return Reward(value=1.0, success=True, reason="well done", facts=[True])


def judged(judge: Judge = right, kind: type[Judged] = Judged, *, max_concurrency: int = 16, timeout_s: float = 120):
    function = kind(max_concurrency=max_concurrency, timeout_s=timeout_s)
    function._judge = judge
    return function


def ended(
    termination: Termination = Termination.COMPLETED, answer: str | None = "7", *errors: str, id: str = "x-0"
) -> Trajectory:
    """An episode that has ended; `errors` are format errors of turns before the last."""
    done = trajectory(task("t"), 0, trajectory_id=id)
    done.reward, done.termination, done.answer = None, termination, answer
    malformed = [done.turns[0].model_copy(update={"parsed": Parsed(error=error)}) for error in errors]
    done.turns = malformed + done.turns
    return done


async def scored(function: RewardFunction, episode: Trajectory) -> Reward:
    await Scorer(function, MemoryImages()).score(episode)
    assert episode.reward is not None
    return episode.reward


# --- the gate ---------------------------------------------------------------------------------


async def test_a_finished_episode_gets_the_verdict_of_the_function() -> None:
    async def half(trajectory: Trajectory) -> Reward:
        return Reward(value=0.5, success=True, reason="half of it")

    reward = await scored(judged(half), ended())
    assert (reward.value, reward.success, reward.valid, reward.reason) == (0.5, True, True, "half of it")


@pytest.mark.parametrize(
    ("termination", "value", "valid"),
    [
        (Termination.FORMAT_ERROR, -1, True),
        (Termination.MAX_STEPS, 0, True),
        (Termination.GENERATION_LENGTH, 0, True),
        (Termination.CONTEXT_LENGTH, 0, True),
        (Termination.ENV_ERROR, 0, False),
        (Termination.START_ERROR, 0, False),
        (Termination.TIMEOUT, 0, False),
        (Termination.ABORTED, 0, False),
    ],
)
@pytest.mark.parametrize("kind", [Judged, JudgedAll])
async def test_how_an_episode_ended_decides_before_any_verdict(termination, value, valid, kind) -> None:
    reward = await scored(judged(kind=kind), ended(termination))  # a verdict of 1 does not help
    assert (reward.value, reward.success, reward.valid) == (value, False, valid)
    assert termination.value in reward.reason or reward.reason == "repeated format errors"


@pytest.mark.parametrize(
    "episode", [ended(Termination.MAX_STEPS), ended(answer=""), ended(answer="  "), ended(Termination.CONTEXT_LENGTH)]
)
async def test_an_unfinished_episode_is_judged_only_where_the_function_wants_it(episode: Trajectory) -> None:
    plain, all_of_them = judged(), judged(kind=JudgedAll)
    assert (await scored(plain, episode)).facts == []
    assert plain._asked == []
    reward = await scored(all_of_them, episode)
    assert all_of_them._asked == ["x-0"]
    assert (reward.value, reward.success, reward.facts) == (0, False, [True])


@pytest.mark.parametrize("answer", ["", "  "])
async def test_an_empty_answer_is_none(answer: str) -> None:
    reward = await scored(judged(), ended(answer=answer))
    assert (reward.value, reward.success, reward.reason) == (0, False, "no answer")


async def test_an_episode_that_its_environment_ended_needs_no_answer() -> None:
    assert (await scored(judged(), ended(answer=None))).value == 1


@pytest.mark.parametrize("kind", [Judged, JudgedAll])
@pytest.mark.parametrize("termination", [t for t in Termination if t.is_infra] + [Termination.FORMAT_ERROR])
async def test_nobody_judges_what_failed_or_said_nothing_that_can_be_read(termination: Termination, kind) -> None:
    function = judged(kind=kind)
    await scored(function, ended(termination))
    assert function._asked == []


async def test_a_format_error_in_any_turn_costs_the_reward_but_not_the_success() -> None:
    reward = await scored(judged(), ended(Termination.COMPLETED, "7", "no think end tag"))
    assert (reward.value, reward.success, reward.valid) == (0, True, True)
    assert reward.reason == "format error in turn 1; well done"


@pytest.mark.parametrize(
    ("episode", "value", "success"),
    [
        (ended(Termination.FORMAT_ERROR), 0, False),
        (ended(Termination.COMPLETED, "7", "no think end tag"), 1, True),
        (ended(Termination.MAX_STEPS), 0, False),
        (ended(answer=""), 0, False),
    ],
)
async def test_without_a_format_reward_the_reward_is_binary(episode: Trajectory, value: float, success: bool) -> None:
    function = judged()
    function.format_reward = False
    reward = await scored(function, episode)
    assert (reward.value, reward.success, reward.valid) == (value, success, True)


async def test_who_needs_no_answer_is_asked_about_a_bare_done() -> None:
    class NeedsNone(Judged):
        def needs_answer(self, task: Task) -> bool:
            return False

    assert (await scored(judged(kind=NeedsNone), ended(answer=""))).value == 1


def test_the_environments_reward_gets_the_options_of_the_section() -> None:
    own = EnvironmentReward(format_reward=False, timeout_s=3, max_concurrency=2).resolved(Rules(), "dojo")
    assert (type(own), own.name) == (Rules, "rules")
    assert (own.format_reward, own.timeout_s, own.max_concurrency) == (False, 3, 2)


@pytest.mark.parametrize("recipe", ["webgym", "asyncwebrl", "webagent_r1", "openwebvoyager"])
def test_the_papers_with_a_binary_reward_have_one(recipe: str) -> None:
    for name in (recipe, f"{recipe}-dojo"):
        assert load_recipe(name).reward.format_reward is False
    assert load_recipe("openwebrl").reward_function.format_reward is True


async def test_a_function_may_call_an_episode_invalid() -> None:
    async def lost(trajectory: Trajectory) -> Reward:
        return Reward(value=0.0, success=False, valid=False, reason="the site was down")

    reward = await scored(judged(lost), ended(Termination.COMPLETED, "7", "no think end tag"))
    assert (reward.valid, reward.reason) == (False, "the site was down")
    reward = await scored(judged(lost, JudgedAll), ended(Termination.MAX_STEPS))
    assert (reward.valid, reward.reason) == (False, "the site was down")


def test_a_reward_that_was_stored_without_facts_still_loads() -> None:
    assert Reward.model_validate_json('{"value": 1, "success": true}').facts == []


# --- asking -----------------------------------------------------------------------------------


async def test_so_many_episodes_are_scored_at_once_and_no_more() -> None:
    asked, most, go_on = 0, 0, asyncio.Event()

    async def slow(trajectory: Trajectory) -> Reward:
        nonlocal asked, most
        asked += 1
        most = max(most, asked)
        await go_on.wait()
        asked -= 1
        return await right(trajectory)

    scorer = Scorer(judged(slow, max_concurrency=3), MemoryImages())
    episodes = [ended(id=f"x-{n}") for n in range(8)]
    scoring = asyncio.gather(*map(scorer.score, episodes))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (asked, most) == (3, 3)
    unfinished = ended(Termination.MAX_STEPS)
    await scorer.score(unfinished)  # waits for nobody
    go_on.set()
    await scoring
    assert most == 3
    assert all(episode.reward is not None and episode.reward.success for episode in episodes)


async def test_a_verdict_that_takes_too_long_makes_the_episode_invalid() -> None:
    async def for_ever(trajectory: Trajectory) -> Reward:
        await asyncio.Event().wait()
        raise AssertionError

    episode = ended()
    reward = await scored(judged(for_ever, timeout_s=0.05), episode)
    assert (reward.value, reward.success, reward.valid) == (0, False, False)
    assert "no verdict within 0.05 s (reward.timeout_s)" in reward.reason
    assert episode.failure == Failure.REWARD_FAILED.value == "reward_failed"
    assert "no verdict within" in episode.error


async def test_waiting_for_a_place_does_not_count_as_scoring() -> None:
    async def slow(trajectory: Trajectory) -> Reward:
        await asyncio.sleep(0.4)
        return await right(trajectory)

    scorer = Scorer(judged(slow, max_concurrency=1, timeout_s=1), MemoryImages())
    episodes = [ended(id=f"x-{n}") for n in range(4)]
    await asyncio.gather(*map(scorer.score, episodes))
    assert [episode.failure for episode in episodes] == [""] * 4


@pytest.mark.parametrize("kind", [Judged, JudgedAll])
async def test_a_function_that_raises_makes_the_episode_invalid_and_never_0(kind) -> None:
    async def broken(trajectory: Trajectory) -> Reward:
        raise ValueError("the judge said\nneither yes nor no")

    for episode in (ended(), ended(Termination.COMPLETED, "7", "no think end tag")):
        reward = await scored(judged(broken, kind), episode)
        assert (reward.value, reward.success, reward.valid) == (0, False, False)
        told = (
            r"reward '.*' failed in score \(test_reward\.py, line \d+\): ValueError: the judge said neither yes nor no"
        )
        assert re.fullmatch(told, reward.reason)
        assert (episode.failure, episode.termination) == ("reward_failed", Termination.COMPLETED)
        assert episode.error == "ValueError: the judge said neither yes nor no"
        assert "Traceback" in episode.diagnostics["reward"]
        assert "in broken" in episode.diagnostics["reward"], "the line that raised is not told"


class Sync(RewardFunction):
    def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:  # type: ignore[override]
        return Reward(value=1.0, success=True)


async def test_a_score_that_is_not_async_is_told_so() -> None:
    with pytest.raises(ConfigError, match=r"reward '.*:Sync': score must be `async def`$"):
        await scored(Sync(), ended())


@pytest.mark.parametrize(("error", "bug"), [(KeyError("page"), True), (OSError("no network"), False)])
async def test_errors_of_code_are_told_from_those_that_may_pass(error: Exception, bug: bool) -> None:
    async def broken(trajectory: Trajectory) -> Reward:
        raise error

    episode = ended()
    await scored(judged(broken), episode)
    assert episode.is_bug == bug


async def test_a_timeout_inside_the_function_is_its_failure_too() -> None:
    async def impatient(trajectory: Trajectory) -> Reward:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()
        raise AssertionError

    episode = ended()
    assert not (await scored(judged(impatient), episode)).valid
    assert episode.failure == "reward_failed"


@pytest.mark.parametrize(
    "error", [TaskError("it has no rubric"), ConfigError("the key is missing"), BudgetError("all spent")]
)
async def test_what_the_user_has_to_change_is_raised(error: Exception) -> None:
    async def refuses(trajectory: Trajectory) -> Reward:
        raise error

    with pytest.raises(type(error), match=str(error)):
        await scored(judged(refuses), ended())


async def test_a_place_is_free_again_after_every_end() -> None:
    async def broken(trajectory: Trajectory) -> Reward:
        raise TaskError("no") if trajectory.id == "x-0" else ValueError("no")

    scorer = Scorer(judged(broken, max_concurrency=1), MemoryImages())
    with pytest.raises(TaskError):
        await scorer.score(ended())
    cancelled = asyncio.create_task(scorer.score(ended(id="x-1")))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    async with asyncio.timeout(5):
        await scorer.score(ended(id="x-2"))


# --- which function it is ---------------------------------------------------------------------


def test_the_environments_own_verdict_has_the_limits_of_the_recipe() -> None:
    asked = EnvironmentReward(max_concurrency=3, timeout_s=7)
    found = asked.resolved(Rules(), "dojo")
    assert isinstance(found, Rules)
    assert (found.max_concurrency, found.timeout_s) == (3, 7)
    with pytest.raises(
        ConfigError, match=r"reward\.name is 'env', and the environment 'web' has no verdict of its own"
    ):
        asked.resolved(None, "web")


def test_another_reward_stands_in_the_place_of_the_environments_own() -> None:
    function = judged()
    assert function.resolved(Rules(), "dojo") is function
    assert function.resolved(None, "web") is function


class Costly(Judged):
    @property
    def costs(self) -> bool:
        return True


@pytest.mark.parametrize(("kind", "comes_in"), [(Costly, True), (Judged, False)])
async def test_a_verdict_that_costs_something_comes_in_although_its_episode_is_cancelled(kind, comes_in: bool) -> None:
    asked, said = asyncio.Event(), []

    async def slowly(trajectory: Trajectory) -> Reward:
        asked.set()
        await asyncio.sleep(0.05)
        said.append(trajectory.id)
        return await right(trajectory)

    async with Scorer(judged(slowly, kind), MemoryImages()) as scorer:
        scoring = asyncio.create_task(scorer.score(ended()))
        await asked.wait()
        scoring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scoring
    assert said == ["x-0"] * comes_in


async def test_a_verdict_that_does_not_come_in_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "GRACE_S", 0.05)
    asked, gone = asyncio.Event(), asyncio.Event()

    async def never(trajectory: Trajectory) -> Reward:
        asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            gone.set()
        raise AssertionError

    async with asyncio.timeout(10), Scorer(judged(never, Costly), MemoryImages()) as scorer:
        scoring = asyncio.create_task(scorer.score(ended()))
        await asked.wait()
        scoring.cancel()
    assert gone.is_set()


class Excusing(Judged):
    def excuse(self, trajectory: Trajectory) -> Reward | None:
        return Reward(value=0, success=False, valid=False, cause="blocked", reason="shut out")


@pytest.mark.parametrize(
    ("episode", "excused"),
    [
        (ended(Termination.MAX_STEPS), True),
        (ended(answer=""), True),
        (ended(Termination.CONTEXT_LENGTH), True),
        (ended(Termination.FORMAT_ERROR), False),
    ],
)
async def test_what_is_not_the_agents_doing_is_not_a_failure_where_it_did_not_finish(episode, excused) -> None:
    function = judged(kind=Excusing)
    reward = await scored(function, episode)
    assert (reward.valid, reward.cause) == ((False, "blocked") if excused else (True, ""))
    assert function._asked == []


async def test_an_invalid_verdict_stays_as_it_is_whatever_the_format() -> None:
    async def shut_out(trajectory: Trajectory) -> Reward:
        return Reward(value=0, success=False, valid=False, cause="blocked", reason="shut out", parts={"a": 1})

    reward = await scored(judged(shut_out), ended(Termination.COMPLETED, "7", "no think end tag"))
    assert (reward.valid, reward.cause, reward.reason, reward.parts) == (False, "blocked", "shut out", {"a": 1})


async def test_a_reward_that_gives_a_number_is_told_what_to_give() -> None:
    async def half(trajectory: Trajectory) -> Reward:
        return 0.5  # type: ignore[return-value]

    trajectory = ended()
    async with Scorer(judged(half), MemoryImages()) as scorer:
        await scorer.score(trajectory)
    assert trajectory.reward is not None
    assert (trajectory.reward.valid, trajectory.failure) == (False, Failure.REWARD_FAILED)
    assert "score gave 0.5 and must give a webdojo.Reward" in trajectory.error
