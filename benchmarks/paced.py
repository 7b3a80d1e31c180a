"""The real loop and pool on a clock that jumps: browsers, engine and learner only take their time.

`run` drives `loops.online.online` for hours of such time in seconds. Latencies follow the papers:

    256 slots, groups of 4                        WebGym §4.2
    31 s a step with all slots busy               WebGym §4.2: 1,800 trajectories of 13.2 steps in 48.6 minutes;
                                                  AsyncWebRL: 3,100 trajectories an hour of 9.2 steps
    9.1 s of them the browser's                   reported for OpenWebRL's environment; the engines' part shrinks with
                                                  the episodes that they serve, down to a quarter
    lognormal, sigma 0.84: 1 % five times the     OpenWebRL Table 7: a browser step may take 45 s; "thinking" models
    mean; 1.2 for "thinking"                      write longer answers of more unlike lengths: a guess, with which
                                                  WebGym's way does 1,180 an hour (AsyncWebRL measured 1,050)
    5.1 steps a success, the horizon a failure    AsyncWebRL: 12.5 steps; WebGym §5.2: horizons 10, 20, 30
    52 %, 34 %, 7 % success at 25 : 5 : 1         AsyncWebRL's table; WebGym's ratio of difficulties
    1.15 s of the learner a collected trajectory  what is left between WebGym's rollouts (2,222 an hour) and its loop
                                                  as AsyncWebRL measured it (1,300 an hour)

Not from the papers: 20 s to save, 10 s to publish weights, during which no step ends; how alike the members of a
group are (Beta with concentration 2), which makes about 0.6 of the groups effective; and, where it is asked for, an
engine whose memory holds the prompts of so many episodes: with more it computes them again and again, and its part of
a step grows with their square.
"""

from __future__ import annotations

import asyncio
import math
import random
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

from webdojo.loops.log import RunLog
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.loops.run_folder import RL
from webdojo.recipe import Recipe, dump_recipe, parse_recipe
from webdojo.rollout.groups import run_each
from webdojo.store.run import RunStore
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.learner import OnScored
from webdojo.types import (
    Engine,
    EngineHealth,
    FinishReason,
    ImageRef,
    Observation,
    Parsed,
    Prompt,
    Response,
    Reward,
    Sampling,
    Task,
    Termination,
    TextSegment,
    Trajectory,
    Turn,
)

SLOTS = 256
GROUP_SIZE = 4
BROWSER_S, ENGINE_S = 9.1, 22.3
LEAST_LOAD = 0.25
"""Of the engines' step time, however few episodes they serve."""
SIGMAS = {"instruct": 0.84, "thinking": 1.2}
LEARNER_S = 1.15
SAVE_S, PUBLISH_S = 20.0, 10.0
SUCCESS_STEPS = 5.1
MEAN_STEPS = 9.2
"""Of a trajectory, as AsyncWebRL measured it."""
HORIZON = {1: 10, 2: 20, 3: 30}
SUCCESS = {1: 0.52, 2: 0.34, 3: 0.07}
SHARE = {1: 25, 2: 5, 3: 1}
CONCENTRATION = 2.0
EFFECTIVE = 0.6
TOKENS = 1000
"""Of a response, on average."""

_SCREEN = Observation(
    screenshot=ImageRef(sha="0" * 64, width=1, height=1, mime="image/jpeg"),
    url="http://a/",
    title="",
    tabs=[],
    viewport_px=(1, 1),
)
_PROMPT = Prompt(segments=(TextSegment(ids=(1,)),))


class JumpingLoop(asyncio.SelectorEventLoop):
    """Never waits: where nothing is left to do now, its clock jumps to the next timer.

    What is sent to a thread runs at once, and takes the seconds that it asks for with `spend`.
    """

    def __init__(self) -> None:
        super().__init__(_Jumps(self))
        self.now = 0.0
        self._spent = 0.0

    def time(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self._spent += seconds

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()
        self._spent = 0.0
        result = func(*args)
        self.call_later(self._spent, lambda: None if future.done() else future.set_result(result))
        return future


class _Jumps(selectors.DefaultSelector):
    def __init__(self, loop: JumpingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "everything waits for something else"
        self._loop.now += max(timeout, 0.0)
        return super().select(0)


@dataclass
class Engines:
    """The engines: they know how many episodes they serve, and which weights.

    Args:
        fits: episodes whose prompts stay in their memory.
    """

    fits: float = math.inf
    version: int = 0
    active: int = 0
    sleeps_during_update: bool = False
    updates_asleep: bool = False
    _serving: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._serving.set()

    def health(self) -> EngineHealth:
        return EngineHealth(alive=True, version=self.version)

    async def update_weights(self, source: object, version: int) -> None:
        self._serving.clear()
        await asyncio.sleep(PUBLISH_S)
        self.version = version
        self._serving.set()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """A response of all the tokens that it may have."""
        load = max(LEAST_LOAD, self.active / SLOTS) * max(1.0, self.active / self.fits)
        await asyncio.sleep(ENGINE_S * load * sampling.max_tokens / TOKENS)
        await self._serving.wait()
        return Response(ids=[1], logprobs=[0.0], versions=[self.version], finish_reason=FinishReason.STOP)


class Learner:
    """Takes its time for a batch."""

    def __init__(self, loop: JumpingLoop, trajectory_s: float) -> None:
        self._loop = loop
        self._trajectory_s = trajectory_s
        self.config = TrainConfig(threads=1)
        self.thread = None
        self.turns = 0

    def state_dict(self) -> dict[str, Any]:
        return {}

    def train_policy(
        self, samples: list[Any], temperature: float, version: int, on_scored: OnScored | None = None
    ) -> dict[str, float]:
        self._loop.spend(len(samples) * self._trajectory_s / MEAN_STEPS / EFFECTIVE)
        self.turns += len(samples)
        return {"samples": len(samples)}

    def save(self, folder: Path) -> None:
        self._loop.spend(SAVE_S)


class World:
    """Tasks, and episodes on them that take their time; stands in for an `EpisodeRunner`.

    Args:
        sigma: of the seconds of a step.
        watch: is given every training episode that has ended.
    """

    rollouts = SimpleNamespace(places=SLOTS)

    def __init__(
        self,
        recipe: Recipe,
        store: RunStore,
        engine: Engines,
        sigma: float,
        watch: Callable[[Trajectory], None] = lambda trajectory: None,
    ) -> None:
        self.recipe, self.store, self.engine, self.sigma, self.watch = recipe, store, engine, sigma, watch
        self.ended = 0

    def blocked(self) -> tuple[str, ...]:
        return ()

    async def rollout(
        self, task: Task, group: str, trajectory_id: str, actor: Callable[[object, object], Engine], **_: object
    ) -> Trajectory:
        return await self.episode(actor(None, None), task, group, trajectory_id)

    async def finish(self, trajectory: Trajectory, phase: str, iteration: int) -> None:
        self.watch(trajectory)

    async def episode(self, engine: Engine, task: Task, group: str, trajectory_id: str) -> Trajectory:
        draw = random.Random(trajectory_id)
        mean = SUCCESS[task.difficulty]
        chance = random.Random(group).betavariate(CONCENTRATION * mean, CONCENTRATION * (1 - mean))
        success = draw.random() < chance
        horizon = HORIZON[task.difficulty]
        # 1 + a geometric number of further steps
        needed = 1 + int(math.log(1 - draw.random()) / math.log(1 - 1 / SUCCESS_STEPS))
        turns = []
        clock = asyncio.get_running_loop().time
        self.engine.active += 1
        try:
            for _ in range(min(needed, horizon) if success else horizon):
                length = draw.lognormvariate(-(self.sigma**2) / 2, self.sigma)
                began = clock()
                await asyncio.sleep(BROWSER_S * length)
                response = await engine.generate(_PROMPT, Sampling(max_tokens=1 + int(TOKENS * length)))
                turns.append(_turn(response, began, clock() - began))
        finally:
            self.engine.active -= 1
        self.ended += 1
        return Trajectory(
            id=trajectory_id,
            task=task,
            group=group,
            turns=turns,
            termination=Termination.COMPLETED,
            reward=Reward(value=float(success), success=success),
        )


def _turn(response: Response, began: float, seconds: float) -> Turn:
    return Turn(
        observation=_SCREEN,
        prompt=_PROMPT,
        response=response,
        text="",
        parsed=Parsed(),
        began=began,
        seconds={"total": seconds},
    )


def tasks() -> list[Task]:
    """Tasks of WebGym's difficulties in their ratio."""
    levels = [level for level, share in SHARE.items() for _ in range(share)]
    return [
        Task(id=f"t{n}", instruction="Do it", start_url="http://a/", website="a", difficulty=levels[n % len(levels)])
        for n in range(100 * len(levels))
    ]


@dataclass
class Pace:
    """What a system did in some hours of its own time."""

    hours: float
    trajectories: int
    """That ended."""
    turns_trained: int
    rows: list[dict[str, float]]
    """The loop's figures, an iteration each; none of a system that has none."""


def run(
    groups: int,
    max_staleness: int,
    iterations: int,
    sigma: float,
    seed: int = 0,
    *,
    concurrency: int = SLOTS,
    adaptive: bool = False,
    fits: float = math.inf,
    learner_s: float = LEARNER_S,
    watch: Callable[[Trajectory], None] = lambda trajectory: None,
) -> Pace:
    """The project's loop, paced, for some iterations.

    Args:
        groups: of an update.
        max_staleness: 0 is the synchronous loop.
        sigma: of the seconds of a step.
        seed: of the order of the tasks, and with it of everything that is drawn.
        concurrency: `rollout.concurrency`.
        adaptive: `rollout.adaptive_concurrency`.
        fits: episodes whose prompts the engines' memory holds.
        learner_s: of the learner for a collected trajectory.
        watch: is given every episode that has ended, whose turns say when they began and how long they took.
    """
    recipe = parse_recipe(
        {
            "name": "paced",
            "seed": seed,
            "rollout": {
                "group_size": GROUP_SIZE,
                "concurrency": concurrency,
                "adaptive_concurrency": adaptive,
                "min_free_memory_mb": 0,
                "max_staleness": max_staleness,
            },
            "train": {"iterations": iterations, "groups_per_iteration": groups},
        },
        "benchmarks/paced.py",
    )

    async def go() -> Pace:
        loop = cast(JumpingLoop, asyncio.get_running_loop())
        engine, learner = Engines(fits), Learner(loop, learner_s)
        with TemporaryDirectory() as folder, RunStore.create(f"{folder}/run", dump_recipe(recipe), {}) as store:
            world = World(recipe, store, engine, sigma, watch)
            with RunLog(store) as log:
                await online(
                    cast(Any, world), Learning(lambda: cast(Any, learner), store), cast(Any, engine), tasks(), log
                )
            return Pace(loop.now / 3600, world.ended, learner.turns, store.metrics(RL))

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(go())


def run_phased(
    trajectories: int, iterations: int, sigma: float, seed: int = 0, *, learner_s: float = LEARNER_S
) -> Pace:
    """A loop as WebGym's: all episodes of an iteration roll out, each slot takes the next one; then all of them train.

    Args:
        trajectories: of an iteration.
        sigma: of the seconds of a step.
        seed: of everything that is drawn.
        learner_s: as in `run`.
    """

    async def go() -> Pace:
        loop = cast(JumpingLoop, asyncio.get_running_loop())
        engine = Engines()
        world = World(parse_recipe({"name": "paced"}, "benchmarks/paced.py"), cast(Any, None), engine, sigma)
        every = (task for task in tasks() * iterations for _ in range(GROUP_SIZE))
        started = count()

        async def episode(task: Task, group: str, trajectory_id: str) -> Trajectory:
            number = next(started)
            group = f"{seed}-{number // GROUP_SIZE}"
            return await world.episode(engine, task, group, f"{group}-{number % GROUP_SIZE}")

        turns = 0
        for iteration in range(1, iterations + 1):
            turns += sum(t.steps for t in await run_each(episode, list(islice(every, trajectories)), SLOTS))
            await asyncio.sleep(trajectories * learner_s + SAVE_S)
            await engine.update_weights(None, iteration)
        return Pace(loop.now / 3600, world.ended, turns, [])

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(go())
