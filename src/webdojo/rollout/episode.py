"""One episode: open a session, then observe, ask, parse and act until something ends it.

Whatever the web, the agent or the engine does wrong becomes a `Termination` with the turns up to then, and so does an
error that nothing has named, with its traceback: one episode ends no other. Only cancellation, and errors that a user
has to act on, leave `run_episode` as exceptions.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import uuid4

from webdojo.agent.harness import Harness
from webdojo.browser.interface import Pool, Session
from webdojo.envs.env import Environment, Visit
from webdojo.errors import BrowserError, ConfigError, EngineError, Failure, StartError, TaskError, WebdojoError
from webdojo.plugins import BUGS
from webdojo.redact import redact
from webdojo.reward.function import RewardFunction
from webdojo.rollout.config import RolloutConfig
from webdojo.sleep_clock import SleepClock
from webdojo.types import Engine, FinishReason, Observation, Sampling, Task, Termination, Trajectory, Turn

SessionT = TypeVar("SessionT", bound=Session)

Actor = Callable[[Task, SessionT], Engine]
"""Who answers the prompts of an episode. For a model: `lambda task, session: engine`."""


async def run_episode(
    task: Task,
    *,
    env: Environment,
    pool: Pool[SessionT],
    harness: Harness,
    actor: Actor[SessionT],
    config: RolloutConfig,
    sampling: Sampling,
    max_steps: int,
    reward: RewardFunction | None = None,
    seed: str = "",
    group: str = "",
    trajectory_id: str = "",
    on_turn: Callable[[Turn], None] = lambda turn: None,
    clock: SleepClock | None = None,
) -> Trajectory:
    """Run one task to its end (OpenWebRL §4.1, failure attribution of A.1), in an environment that has started.

    `reward` reads its evidence before the session of a completed episode closes; it scores nothing here. `seed` is that
    of what the environment draws; `trajectory_id` is drawn where it is empty; `on_turn` is called with each turn, its
    secrets masked, once its calls were carried out. `task_timeout_s` goes by `clock`, which leaves out the engine's
    sleep.

    A TaskError says that the task cannot be done in this environment, a ConfigError that its `storage_state` cannot be
    read.
    """
    timer = _Timer()
    trajectory = Trajectory(
        id=trajectory_id or f"{task.id}-{uuid4().hex[:12]}",
        task=task,
        group=group,
        seed=seed,
        turns=[],
        termination=Termination.ABORTED,
        began=timer.now(),
    )

    async def converse(visit: Visit, session: SessionT) -> Termination:
        """Let the agent act until something ends the episode."""
        engine = actor(task, session)
        room = config.max_context_tokens - sampling.max_tokens  # for the prompt
        with timer.phase("observe"):
            observation = await session.observe(harness.view)
        conversation = harness.start(task, observation)
        malformed = 0
        while True:
            trajectory.final = observation
            if len(trajectory.turns) == max_steps:
                return Termination.MAX_STEPS
            prompt = conversation.prompt(room)
            if len(prompt) > room:
                return Termination.CONTEXT_LENGTH
            timer.turn = {}
            began = timer.now()
            with timer.phase("generate"):
                response = await engine.generate(prompt, sampling)
            text = harness.codec.decode(response.ids)
            parsed = conversation.parse(text)
            turn = Turn(
                observation=observation, prompt=prompt, response=response, text=text, parsed=parsed, began=began
            )
            trajectory.turns.append(turn)
            turn.seconds = timer.turn
            if response.finish_reason is FinishReason.LENGTH and not parsed.calls:
                on_turn(redact(turn, session.secrets))
                return Termination.GENERATION_LENGTH
            malformed = malformed + 1 if parsed.error is not None else 0
            trajectory.final, answer = None, None
            if parsed.calls:
                with timer.phase("act"):
                    result = await session.act(parsed.calls)
                turn.feedback, answer = result.feedback, result.answer
                turn.seconds |= result.seconds
            on_turn(redact(turn, session.secrets))
            if answer is None or len(parsed.calls) > 1:  # `done` alone cannot have changed the screen
                with timer.phase("observe"):
                    observation = await session.observe(harness.view)
            trajectory.final = observation
            visit.answer = answer
            with environment_errors(env):
                if await env.is_over(visit):
                    trajectory.answer = answer or None
                    return Termination.COMPLETED
            if answer is not None:
                trajectory.answer = answer
                return Termination.COMPLETED
            if malformed == harness.config.max_format_errors:
                return Termination.FORMAT_ERROR
            give_up_blocked(env, turn.observation, observation)
            turn.same_screen = observation.screenshot.sha == turn.observation.screenshot.sha
            conversation.add(response, parsed, turn.feedback, observation)

    visit: Visit | None = None
    try:
        with timer.phase("start"), environment_errors(env, StartError):
            await env.admit(task)
        async with (clock or SleepClock()).timeout(config.task_timeout_s) as deadline:
            with timer.phase("start"):
                with environment_errors(env, StartError):
                    visit = await env.visit(task, seed)
                session = await pool.open(visit.start_url, visit.headers, visit.storage_state)
            try:
                with timer.phase("start"), environment_errors(env, StartError):
                    await env.enter(visit, session)
                    task = trajectory.task = visit.task
                trajectory.termination = await converse(visit, session)
                if reward is not None and trajectory.termination is Termination.COMPLETED:
                    timer.turn = {}
                    with timer.phase("evidence"):
                        trajectory.evidence = await read_evidence(reward, trajectory, session)
            finally:
                trajectory.secrets = sorted(session.secrets)
                timer.turn = {}
                with timer.phase("close"):
                    try:
                        with environment_errors(env):
                            trajectory.state = await env.state(visit)
                    finally:
                        await session.close()
    except BrowserError as error:
        termination = Termination.START_ERROR if isinstance(error, StartError) else Termination.ENV_ERROR
        fail(trajectory, termination, error)
    except EngineError as error:
        _end(trajectory, Termination.ABORTED, str(error))
        trajectory.failure = error.failure or ""
    except WebdojoError:
        raise
    except Exception as error:
        if isinstance(error, TimeoutError) and deadline.expired():
            _end(trajectory, Termination.TIMEOUT, f"it ran past rollout.task_timeout_s={config.task_timeout_s:g}")
        else:
            fail(trajectory, Termination.ENV_ERROR, unexpected(error))
    finally:
        if visit is not None:
            try:
                with environment_errors(env):
                    await env.leave(visit)
            except BrowserError as error:
                if not trajectory.termination.is_infra:  # else something has failed it before
                    fail(trajectory, Termination.ENV_ERROR, error)
    trajectory.error = redact(trajectory.error, trajectory.secrets)
    trajectory.diagnostics = redact(trajectory.diagnostics, trajectory.secrets)
    trajectory.seconds = timer.phases()
    return trajectory


@contextmanager
def environment_errors(env: Environment, kind: type[BrowserError] = BrowserError) -> Iterator[None]:
    """Whatever the environment's own code raises in the block becomes a failure of this episode, and of no other."""
    try:
        yield
    except (BrowserError, ConfigError, TaskError):
        raise
    except Exception as error:  # code of a plug: what it raises is not ours to foresee
        message = f"environment {env.name!r} failed{env.culprit(error)}: {type(error).__name__}: {error}"
        raise kind(message, Failure.ENVIRONMENT_FAILED, raised_by_plug(error)) from error


def give_up_blocked(env: Environment, before: Observation, now: Observation) -> None:
    """Let an episode fail where pages turned it away on two observations in a row.

    Raises:
        BrowserError: they did, in an environment that leaves such pages.
    """
    if env.leaves_blocked_pages and before.blocked and now.blocked:
        raise BrowserError(f"{now.url} turns robots away: {now.blocked}", Failure.BLOCKED)


async def read_evidence(reward: RewardFunction, trajectory: Trajectory, session: Session) -> dict[str, Any]:
    """The evidence that a reward function reads; whatever else its code raises becomes a failure of this episode."""
    try:
        return await reward.evidence(trajectory, session)
    except (BrowserError, ConfigError, TaskError):
        raise
    except Exception as error:  # code of a plug: what it raises is not ours to foresee
        place = reward.culprit(error)
        message = f"reward {reward.name!r} failed to read its evidence{place}: {type(error).__name__}: {error}"
        raise BrowserError(message, Failure.REWARD_FAILED, raised_by_plug(error)) from error


def raised_by_plug(error: Exception) -> dict[str, Any]:
    """The diagnostics of an error that the code of a plug raised."""
    return {"traceback": traceback.format_exc(), "bug": isinstance(error, BUGS)}


def unexpected(error: Exception) -> BrowserError:
    """What an episode fails by where nothing has named an error."""
    where = {"traceback": "".join(traceback.format_exception(error))}
    return BrowserError(f"{type(error).__name__}: {error}", Failure.UNEXPECTED, where)


def fail(trajectory: Trajectory, termination: Termination, error: BrowserError) -> None:
    """Make a trajectory end with a failure of the browser or the environment."""
    _end(trajectory, termination, str(error))
    trajectory.failure, trajectory.diagnostics = error.failure, error.diagnostics


def _end(trajectory: Trajectory, termination: Termination, error: str) -> None:
    trajectory.termination, trajectory.error = termination, " ".join(error.split())


class _Timer:
    """Wall seconds by phase, for the episode and for the turn at hand."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._begin_unix = time.time()
        self._total: dict[str, float] = {}
        self.turn: dict[str, float] = {}
        """A new one for each turn."""

    def now(self) -> float:
        """Unix time that goes on evenly, whatever is done to the machine's clock meanwhile."""
        return self._begin_unix + time.perf_counter() - self._begin

    def phases(self) -> dict[str, float]:
        """All phases so far, and `total` since the timer was made."""
        return {**self._total, "total": time.perf_counter() - self._begin}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - begin
            self._total[name] = self._total.get(name, 0.0) + spent
            self.turn[name] = self.turn.get(name, 0.0) + spent
