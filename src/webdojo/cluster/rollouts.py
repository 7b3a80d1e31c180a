"""Rollout workers on a cluster: processes that run episodes, each with an environment and browsers of its own.

An episode is a conversation of the process that trains with a worker: each answer of the worker is the next prompt, or
the trajectory; each call brings the response to the last prompt. So the engine is asked where its requests are counted,
its sleep stops the clock of every episode, and a worker that dies loses only the episodes that it had, which run again
elsewhere. A scripted episode runs in the worker whole, because a script looks into the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

from webdojo.agent.harness import Harness
from webdojo.agent.script import Script
from webdojo.browser.interface import Session
from webdojo.cluster.images import SentImages
from webdojo.cluster.replica import Lost, Replica, Replicas
from webdojo.cluster.roles import actor_of, image_server, received, sent
from webdojo.errors import BrowserError, EngineError, Failure
from webdojo.loops.rollouts import EpisodeSpec, Rollouts
from webdojo.loops.rollouts import open_rollouts as open_here
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.policy.scripted import ScriptedActor
from webdojo.recipe import Recipe
from webdojo.reward.function import RewardFunction
from webdojo.rollout.episode import Actor, fail
from webdojo.sleep_clock import SleepClock
from webdojo.store.images import ImageStore
from webdojo.types import Engine, Prompt, Response, Sampling, Task, Termination, Trajectory

ScriptFor = Callable[[Task], Script]
"""Gives what does a task."""

GRACE_S = 30.0
"""Seconds that a worker may take to end an episode whose time is over."""


class Admitted:
    """An episode has begun: its time runs from now on."""


@dataclass(frozen=True)
class Asked:
    """A prompt that waits for its response."""

    prompt: Prompt
    sampling: Sampling


Event = Admitted | Asked | Trajectory
"""What a worker says next of an episode; the trajectory is the last."""


class ToldClock(SleepClock):
    """The clock of an episode in a worker: whoever has given the job says when its time is over."""

    def __init__(self, admitted: Callable[[], None]) -> None:
        super().__init__()
        self._admitted = admitted
        self._deadline: asyncio.Timeout | None = None

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        async with asyncio.timeout(None) as self._deadline:
            self._admitted()
            yield self._deadline

    def expire(self) -> None:
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(asyncio.get_running_loop().time())


class RunningEpisode:
    """An episode in a worker, which is at the same time the engine that it asks."""

    def __init__(self, images: SentImages) -> None:
        self._images = images
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._answers: asyncio.Queue[Response | EngineError] = asyncio.Queue()
        self.clock = ToldClock(lambda: self._events.put_nowait(Admitted()))
        self.done: asyncio.Task[Trajectory]

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        await self._images.flush()
        self._events.put_nowait(Asked(prompt, sampling))
        answer = await self._answers.get()
        if isinstance(answer, EngineError):
            raise answer
        return answer

    async def next(self, answer: Response | EngineError | None) -> Event:
        """What comes next, after the answer to the last prompt if there was one; raises what the episode raises."""
        if answer is not None:
            self._answers.put_nowait(answer)
        event = asyncio.ensure_future(self._events.get())
        try:
            await asyncio.wait([event, self.done], return_when=asyncio.FIRST_COMPLETED)
            if event.done():
                return event.result()
        finally:
            event.cancel()
        trajectory = self.done.result()
        await self._images.flush()
        return trajectory


class RolloutServer:
    """The process of one worker."""

    def __init__(self, recipe: str, images: Any) -> None:
        self._recipe = received(recipe)
        self._images = SentImages(images)
        self._exit = AsyncExitStack()
        self._rollouts: Rollouts | None = None
        self._harness: Harness
        self._episodes: dict[str, RunningEpisode] = {}

    async def start(self) -> None:
        """Open environment and browsers."""
        if self._rollouts is None:
            recipe = self._recipe
            self._harness = recipe.build_harness(load_processor(model_folder(recipe.model.path)))
            opening = open_here(recipe, self._images, self._harness, recipe.reward_function)
            self._rollouts = await self._exit.enter_async_context(opening)

    async def ping(self) -> int:
        """How many episodes may run here at once."""
        return 0 if self._rollouts is None else self._rollouts.places

    async def begin(self, name: str, spec: EpisodeSpec, script_for: ScriptFor | None) -> Event:
        """Begin an episode, which a script does, or whoever answers its prompts; further calls know it by `name`."""
        assert self._rollouts is not None
        episode = self._episodes[name] = RunningEpisode(self._images)
        script = None if script_for is None else ScriptedActor(self._harness, script_for)
        running = self._rollouts.run(spec, script or (lambda task, session: episode), episode.clock)
        episode.done = asyncio.create_task(running)
        return await self._next(name, None)

    async def go_on(self, name: str, answer: Response | EngineError | None) -> Event | None:
        """Give an episode the response to its prompt; None where it is not known here."""
        return await self._next(name, answer) if name in self._episodes else None

    async def expire(self, name: str) -> Trajectory | None:
        """End an episode whose time is over; None where it is not known here."""
        if (episode := self._episodes.get(name)) is None:
            return None
        episode.clock.expire()
        try:
            return await episode.done
        finally:
            del self._episodes[name]

    async def cancel(self, name: str) -> None:
        if (episode := self._episodes.pop(name, None)) is not None:
            episode.done.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await episode.done

    async def _next(self, name: str, answer: Response | EngineError | None) -> Event:
        try:
            event = await self._episodes[name].next(answer)
        except Exception:  # of the episode; a call that is cancelled leaves it as it is
            await self.cancel(name)
            raise
        if isinstance(event, Trajectory):
            del self._episodes[name]
        return event


class ClusterRollouts:
    """All workers as one place where episodes run."""

    def __init__(self, recipe: Recipe, workers: Replicas) -> None:
        self._config = recipe.rollout
        self.workers = workers
        self._begun = 0

    @property
    def places(self) -> int:
        return sum(worker.status for worker in self.workers.up)

    async def run(self, spec: EpisodeSpec, actor: Actor[Session], clock: SleepClock | None = None) -> Trajectory:
        """Run one episode on the least busy worker. Where the worker is lost, the trajectory says so and has no
        turns."""
        worker = await self.workers.least_busy()
        self._begun += 1
        worker.busy += 1
        try:
            return await self._converse(
                worker, f"{spec.trajectory_id}/{self._begun}", spec, actor, clock or SleepClock()
            )
        except Lost as lost:
            failed = Trajectory(
                id=spec.trajectory_id,
                task=spec.task,
                group=spec.group,
                seed=spec.seed,
                turns=[],
                termination=Termination.ENV_ERROR,
            )
            fail(failed, Termination.ENV_ERROR, BrowserError(str(lost), Failure.WORKER_LOST))
            return failed
        finally:
            worker.busy -= 1

    async def _converse(
        self, worker: Replica, name: str, spec: EpisodeSpec, actor: Actor[Session], clock: SleepClock
    ) -> Trajectory:
        script_for = actor.script_for if isinstance(actor, ScriptedActor) else None
        engine = None if script_for is not None else actor(spec.task, _NO_SESSION)
        try:
            event = await worker.call("begin", name, spec, script_for)
            if isinstance(event, Trajectory):  # it could not begin
                return event
            try:
                async with clock.timeout(self._config.task_timeout_s) as deadline:
                    return await self._answer(worker, name, engine)
            except TimeoutError:
                if not deadline.expired():
                    raise
                return await self._expired(worker, name)
        except asyncio.CancelledError:
            worker.actor.cancel.remote(name)
            raise

    async def _answer(self, worker: Replica, name: str, engine: Engine | None) -> Trajectory:
        """Answer the prompts of an episode to its end."""
        answer: Response | EngineError | None = None
        while not isinstance(event := await worker.call("go_on", name, answer), Trajectory):
            if event is None:
                raise Lost(f"{worker.name} was started again and knows nothing of the episode")
            assert engine is not None
            try:
                answer = await engine.generate(event.prompt, event.sampling)
            except EngineError as error:
                answer = error
        return event

    async def _expired(self, worker: Replica, name: str) -> Trajectory:
        """The trajectory of an episode whose time is over."""
        try:
            async with asyncio.timeout(GRACE_S):
                trajectory = await worker.call("expire", name)
        except TimeoutError:
            worker.actor.cancel.remote(name)
            raise Lost(f"{worker.name} does not end an episode whose time is over") from None
        if trajectory is None:
            raise Lost(f"{worker.name} was started again and knows nothing of the episode")
        return cast(Trajectory, trajectory)


_NO_SESSION = cast(Session, None)
"""Who answers prompts from here sees no page."""


@asynccontextmanager
async def open_rollouts(
    recipe: Recipe, images: ImageStore, harness: Harness, reward: RewardFunction, *, by_person: bool = False
) -> AsyncIterator[Rollouts]:
    """Start the workers of a recipe, with the arguments of `loops.rollouts.open_rollouts`."""
    assert not by_person, "a person uses windows of this machine"
    role, server = recipe.cluster.rollouts, image_server(images.folder)
    actors = [actor_of(RolloutServer, role, sent(recipe), server) for _ in range(role.replicas)]

    async def start(worker: Replica) -> None:
        await worker.call("start")

    workers = Replicas(
        Replica(f"rollout worker {n + 1} of {role.replicas}", actor, start, recipe.cluster.heartbeat_timeout_s)
        for n, actor in enumerate(actors)
    )
    async with workers:
        yield ClusterRollouts(recipe, workers)
