"""One episode: open a session, then observe, ask, parse and act until something ends it.

Whatever the web, the agent or the engine does wrong becomes a `Termination` with the turns up to
then; only cancellation and errors of our own code leave `run_episode` as exceptions. The session is
closed in every case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from webdojo.agent.harness import Harness
from webdojo.browser.interface import Pool, Session
from webdojo.browser.storage import read_storage_state
from webdojo.config import RolloutConfig
from webdojo.errors import BrowserError, EngineError, EngineLost, Failure, StartError, TaskError
from webdojo.rollout.rest import Rest
from webdojo.sites.perturbations.schedule import NO_PERTURBATIONS, Perturbations
from webdojo.sites.site import check_layout
from webdojo.types import Engine, FinishReason, Sampling, Task, Termination, Trajectory, Turn

SessionT = TypeVar("SessionT", bound=Session)

Actor = Callable[[Task, SessionT], Engine]
"""Who answers the prompts of an episode. For a model: `lambda task, session: engine`."""


class Sites(Protocol):
    """Who serves the pages of tasks with a `kind`, and keeps a state for each visit (`sites.server.SiteServer`)."""

    def headers(self, session_id: str, layout: str, perturbations: Perturbations) -> dict[str, str]:
        """What the browser must send with every request of the visit."""
        ...

    def state(self, session_id: str) -> dict[str, Any]:
        """The state as evaluators read it; plain JSON."""
        ...

    def end(self, session_id: str) -> None:
        """Forget the visit."""
        ...


async def run_episode(
    task: Task,
    *,
    pool: Pool[SessionT],
    harness: Harness,
    actor: Actor[SessionT],
    config: RolloutConfig,
    sampling: Sampling,
    max_steps: int,
    server: Sites | None = None,
    layout: str = "auto",
    perturbations: Perturbations = NO_PERTURBATIONS,
    group: str = "",
    trajectory_id: str = "",
    on_turn: Callable[[Turn], None] = lambda turn: None,
    rest: Rest | None = None,
) -> Trajectory:
    """Run one task to its end (OpenWebRL §4.1, failure attribution of A.1).

    Args:
        config: read for `max_context_tokens` and `task_timeout_s`.
        max_steps: turns before the episode ends unfinished.
        server: serves the pages of tasks with a `kind`.
        layout: which pages embedded sites serve, `auto` or `compact`.
        perturbations: what may go wrong on embedded sites in this episode.
        group: id shared by the episodes of one group.
        trajectory_id: unique; empty draws one.
        on_turn: told of each turn once its calls were carried out.
        rest: of the engine, which `task_timeout_s` leaves out; None: it never rests.

    Raises:
        TaskError: an embedded task without a site server, or one that was drawn for another layout.
        ConfigError: the task's `storage_state` cannot be read.
    """
    if task.kind and server is None:
        raise TaskError(
            f"task {task.id!r} runs on the embedded site {task.website!r}; give run_episode the server that has it"
        )
    check_layout(task, layout)
    clock = _Clock()
    trajectory = Trajectory(
        id=trajectory_id or f"{task.id}-{uuid4().hex[:12]}",
        task=task,
        group=group,
        turns=[],
        termination=Termination.ABORTED,
        began=clock.now(),
    )
    site = server if task.kind else None
    visit = uuid4().hex  # site state belongs to the visit, so that a repeated trajectory id starts afresh
    storage_state = read_storage_state(task.storage_state, f"storage_state of task {task.id!r}")
    try:
        async with (rest or Rest()).timeout(config.task_timeout_s) as deadline:
            with clock.phase("start"):
                headers = site.headers(visit, layout, perturbations) if site is not None else None
                session = await pool.open(task.start_url, headers, storage_state)
            try:
                engine = actor(task, session)
                await _converse(trajectory, session, harness, engine, config, sampling, max_steps, clock, on_turn)
            finally:
                clock.next_turn()
                with clock.phase("close"):
                    if site is not None:
                        trajectory.state = site.state(visit)
                    await session.close()
    except TimeoutError:
        if not deadline.expired():
            raise
        _end(trajectory, Termination.TIMEOUT, f"the episode ran past its limit of {config.task_timeout_s:g} s")
    except BrowserError as error:
        termination = Termination.START_ERROR if isinstance(error, StartError) else Termination.ENV_ERROR
        _end(trajectory, termination, str(error))
        trajectory.failure, trajectory.diagnostics = error.failure, error.diagnostics
    except EngineError as error:
        _end(trajectory, Termination.ABORTED, str(error))
        if isinstance(error, EngineLost):
            trajectory.failure = Failure.ENGINE_LOST
    finally:
        if site is not None:
            site.end(visit)
    trajectory.seconds = clock.phases()
    return trajectory


async def _converse(
    trajectory: Trajectory,
    session: Session,
    harness: Harness,
    engine: Engine,
    config: RolloutConfig,
    sampling: Sampling,
    max_steps: int,
    clock: _Clock,
    on_turn: Callable[[Turn], None],
) -> None:
    with clock.phase("observe"):
        observation = await session.observe(harness.view)
    conversation = harness.start(trajectory.task, observation)
    malformed = 0
    while True:
        trajectory.final = observation
        if len(trajectory.turns) == max_steps:
            return _end(trajectory, Termination.MAX_STEPS)
        room = config.max_context_tokens - sampling.max_tokens
        prompt = conversation.prompt(room)
        if len(prompt) > room:
            return _end(trajectory, Termination.CONTEXT_LENGTH)
        clock.next_turn()
        began = clock.now()
        with clock.phase("generate"):
            response = await engine.generate(prompt, sampling)
        text = harness.codec.decode(response.ids)
        parsed = conversation.parse(text)
        turn = Turn(observation=observation, prompt=prompt, response=response, text=text, parsed=parsed, began=began)
        trajectory.turns.append(turn)
        turn.seconds = clock.turn
        if response.finish_reason is FinishReason.LENGTH and not parsed.calls:
            on_turn(turn)
            return _end(trajectory, Termination.GENERATION_LENGTH)
        malformed = malformed + 1 if parsed.error is not None else 0
        trajectory.final, answer = None, None
        if parsed.calls:
            with clock.phase("act"):
                result = await session.act(parsed.calls)
            turn.feedback, answer = result.feedback, result.answer
            turn.seconds |= result.seconds
        on_turn(turn)
        if answer is None or len(parsed.calls) > 1:  # `done` alone cannot have changed the screen
            with clock.phase("observe"):
                observation = await session.observe(harness.view)
        trajectory.final = observation
        turn.same_screen = observation.screenshot.sha == turn.observation.screenshot.sha
        if answer is not None:
            trajectory.answer = answer
            return _end(trajectory, Termination.COMPLETED)
        if malformed == harness.config.max_format_errors:
            return _end(trajectory, Termination.FORMAT_ERROR)
        conversation.add(response, parsed, turn.feedback, observation)


def _end(trajectory: Trajectory, termination: Termination, error: str = "") -> None:
    trajectory.termination = termination
    trajectory.error = " ".join(error.split())


class _Clock:
    """Wall seconds by phase, for the episode and for the turn at hand."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._begin_unix = time.time()
        self._total: dict[str, float] = {}
        self.turn: dict[str, float] = {}

    def now(self) -> float:
        """Unix time that runs on evenly, whatever is done to the machine's clock meanwhile."""
        return self._begin_unix + time.perf_counter() - self._begin

    def next_turn(self) -> None:
        """What follows is not of the turn at hand any more."""
        self.turn = {}

    def phases(self) -> dict[str, float]:
        """All phases so far, and `total` since the clock was made."""
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
