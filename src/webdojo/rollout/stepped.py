"""One episode that is driven from outside: whoever has the policy gives the calls, one turn after another.

`run_episode` asks an engine; here a trainer of another project, a Gymnasium loop or a client over a network holds the
policy, and says what its model has called. What ends an episode, what makes it invalid and how it is scored are the
same, and so is the trajectory, except for prompts and token ids: they stay with whoever has sampled them, so that such
a trajectory is judged, stored and looked at, and does not train a model of ours.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from typing import Any

from webdojo.browser.interface import Pool, Session
from webdojo.envs.env import Environment, Visit
from webdojo.errors import BrowserError, StartError, WebdojoError
from webdojo.redact import redact
from webdojo.reward.gate import Scorer
from webdojo.rollout.episode import environment_errors, fail, give_up_blocked, read_evidence, unexpected
from webdojo.types import (
    Feedback,
    FinishReason,
    Observation,
    Parsed,
    Prompt,
    Response,
    Task,
    Termination,
    Trajectory,
    Turn,
    View,
)


def outside_turn(seen: Observation, parsed: Parsed, text: str) -> Turn:
    """A turn whose prompt and response are empty, because the policy is somebody else's."""
    nothing = Response(ids=[], logprobs=[], versions=[], finish_reason=FinishReason.STOP)
    return Turn(observation=seen, prompt=Prompt(segments=()), response=nothing, text=text, parsed=parsed)


class SteppedEpisode:
    """One episode; `begin` starts it, and `leave` has to be called whatever happens.

    Its trajectory's termination is `ABORTED` while it goes on. One turn at a time: `act`, `abandon` and `leave` must
    not overlap.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        env: Environment,
        scorer: Scorer,
        *,
        max_steps: int,
        max_format_errors: int = 0,
        view: View | None = None,
    ) -> None:
        self.trajectory = trajectory
        self.seen: Observation
        """What the browser shows now."""
        self.over = False
        self._env, self._scorer = env, scorer
        self._max_steps, self._max_format_errors, self._view = max_steps, max_format_errors, view
        self._malformed = 0
        self._began = time.perf_counter()
        self._visit: Visit
        self._session: Session
        self._leaving = AsyncExitStack()

    @classmethod
    async def begin(
        cls,
        task: Task,
        *,
        env: Environment,
        pool: Pool[Any],
        scorer: Scorer,
        max_steps: int,
        max_format_errors: int = 0,
        view: View | None = None,
        seed: str = "",
        id: str = "",
        group: str = "",
    ) -> SteppedEpisode:
        """Visit the environment, open a session and look at it.

        Args:
            max_steps: turns before the episode ends as `max_steps`.
            max_format_errors: consecutive malformed turns that end it as `format_error`; 0 is no limit.
            view: what else of the page its agent sees, besides the screenshot.
            seed: of what the environment draws.
            id: of the trajectory; drawn where it is empty.

        Raises:
            StartError: the start URL cannot be reached, the environment does not admit the episode, or it fails.
            BrowserError: no browser can be had.
            TaskError: the task cannot be done here.
        """
        async with AsyncExitStack() as leaving:
            with environment_errors(env, StartError):
                await env.admit(task)
                visit = await env.visit(task, seed)
            leaving.push_async_callback(env.leave, visit)
            session = await pool.open(visit.start_url, visit.headers, visit.storage_state)
            leaving.push_async_callback(session.close)
            with environment_errors(env, StartError):
                await env.enter(visit, session)
            trajectory = Trajectory(
                id=id or f"{task.id}-{visit.id[:12]}",
                task=visit.task,
                group=group,
                seed=seed,
                turns=[],
                termination=Termination.ABORTED,
                began=time.time(),
            )
            episode = cls(trajectory, env, scorer, max_steps=max_steps, max_format_errors=max_format_errors, view=view)
            episode._visit, episode._session = visit, session
            episode.seen = await session.observe(view)
            episode._leaving = leaving.pop_all()
        return episode

    async def act(self, parsed: Parsed, text: str = "") -> list[Feedback]:
        """Carry out one turn, and end and score the episode where it is the last one.

        Args:
            parsed: what the model has called, or why that could not be read.
            text: the model's own words, for people and judges.

        Returns:
            What the browser says, one for each call that it has carried out or refused; none where it was lost.

        Raises:
            ConfigError, TaskError: what a user has to act on.
        """
        assert not self.over, "the episode is over"
        turn = outside_turn(self.seen, parsed, text)
        self.trajectory.turns.append(turn)
        self._malformed = self._malformed + 1 if parsed.error is not None else 0
        termination = await self._carry_out(turn)
        if termination is not None:
            await self._finish(termination)
        return turn.feedback

    async def abandon(self, error: BrowserError) -> None:
        """End an episode that nobody goes on with, as a failure of the system: it is stored and counts for nothing."""
        if not self.over:
            fail(self.trajectory, Termination.ABORTED, error)
            await self._finish(Termination.ABORTED)

    async def stop(self) -> None:
        """End an episode whose agent does not go on: it is unfinished, as one that has used up its steps."""
        if not self.over:
            await self._finish(Termination.STOPPED)

    async def leave(self) -> None:
        """Close the session and end the visit. Leaving twice is allowed."""
        leaving, self._leaving = self._leaving, AsyncExitStack()
        with environment_errors(self._env):
            await leaving.aclose()

    async def _carry_out(self, turn: Turn) -> Termination | None:
        """Execute the calls of a turn; why the episode ends with it, or None where it goes on."""
        trajectory, answer = self.trajectory, None
        try:
            if turn.parsed.calls:
                result = await self._session.act(turn.parsed.calls)
                turn.feedback, answer = result.feedback, result.answer
                turn.seconds |= result.seconds
            self.seen = await self._session.observe(self._view)
            self._visit.answer = answer
            with environment_errors(self._env):
                over = await self._env.is_over(self._visit)
            if not over and answer is None:
                give_up_blocked(self._env, turn.observation, self.seen)
        except BrowserError as error:
            fail(trajectory, Termination.ENV_ERROR, error)
            return Termination.ENV_ERROR
        except WebdojoError:
            raise
        except Exception as error:
            fail(trajectory, Termination.ENV_ERROR, unexpected(error))
            return Termination.ENV_ERROR
        turn.same_screen = self.seen.screenshot.sha == turn.observation.screenshot.sha
        trajectory.answer = (answer or None) if over else answer
        if over or answer is not None:
            return Termination.COMPLETED
        if self._malformed and self._malformed == self._max_format_errors:
            return Termination.FORMAT_ERROR
        return Termination.MAX_STEPS if len(trajectory.turns) == self._max_steps else None

    async def _finish(self, termination: Termination) -> None:
        """End the episode, read what its reward needs, leave, and score it."""
        trajectory = self.trajectory
        self.over = True
        trajectory.termination, trajectory.final = termination, self.seen
        try:
            try:
                if termination is Termination.COMPLETED:
                    trajectory.evidence = await read_evidence(self._scorer.function, trajectory, self._session)
                with environment_errors(self._env):
                    trajectory.state = await self._env.state(self._visit)
            finally:
                trajectory.secrets = sorted(self._session.secrets)
                await asyncio.shield(self.leave())
        except BrowserError as error:
            if not termination.is_infra:
                fail(trajectory, Termination.ENV_ERROR, error)
        trajectory.turns = [redact(turn, self._session.secrets) for turn in trajectory.turns]
        trajectory.error = redact(trajectory.error, trajectory.secrets)
        trajectory.diagnostics = redact(trajectory.diagnostics, trajectory.secrets)
        trajectory.seconds = {"total": time.perf_counter() - self._began}
        await self._scorer.score(trajectory)
