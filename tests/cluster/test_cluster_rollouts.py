"""Episodes on a cluster: the same as here, whatever dies meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import ray

from webdojo.cluster.rollouts import ClusterRollouts, open_rollouts
from webdojo.errors import ConfigError, EngineTimeout, Failure
from webdojo.loops.collection.teachers import oracle_teacher
from webdojo.loops.rollouts import EpisodeSpec, Rollouts
from webdojo.loops.rollouts import open_rollouts as open_here
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.images import ImageStore
from webdojo.types import FinishReason, Prompt, Response, Sampling, Task, Termination, Trajectory

pytestmark = pytest.mark.integration


def recipe(*overrides: str) -> Recipe:
    always = ["cluster.rollouts.replicas=2", "cluster.rollouts.num_cpus=1", "cluster.heartbeat_timeout_s=4"]
    return load_recipe("quickstart", [*always, *overrides])


@asynccontextmanager
async def opened(images: ImageStore, *overrides: str) -> AsyncIterator[ClusterRollouts]:
    wanted = recipe(*overrides)
    harness = wanted.build_harness(Processor.load(model_folder("tiny")))
    async with open_rollouts(wanted, images, harness, wanted.reward_function) as rollouts:
        assert isinstance(rollouts, ClusterRollouts)
        yield rollouts


class Scrolls:
    """Answers each prompt with a scroll, after `seconds`, and says after some that it is done."""

    def __init__(self, turns: int = 3, seconds: float = 0.0, fails: bool = False) -> None:
        self.turns, self.seconds, self.fails = turns, seconds, fails
        self.codec = Processor.load(model_folder("tiny"))
        self.asked = asyncio.Event()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        self.asked.set()
        await asyncio.sleep(self.seconds)
        if self.fails:
            raise EngineTimeout("no response within 1 s")
        self.turns -= 1
        call = '{"name": "scroll", "arguments": {"direction": "down"}}'
        if not self.turns:
            call = '{"name": "done", "arguments": {"answer": "nothing"}}'
        ids = [*self.codec.encode(f"<think>So.</think><tool_call>{call}</tool_call>"), self.codec.stop_id]
        return Response(ids=ids, logprobs=[0.0] * len(ids), versions=[1] * len(ids), finish_reason=FinishReason.STOP)


def spec_of(task: Task, name: str = "t") -> EpisodeSpec:
    return EpisodeSpec(task, "g", name, "0", Sampling(temperature=1.0, max_tokens=96), max_steps=8)


async def run(rollouts: Rollouts, task: Task, engine: Scrolls, name: str = "t") -> Trajectory:
    return await rollouts.run(spec_of(task, name), lambda task, session: engine)


async def test_episodes_are_those_that_run_here(connection: None, images: ImageStore, tmp_path: Path) -> None:
    wanted = recipe()
    tasks = wanted.draw("eval", 3)
    harness = wanted.build_harness(Processor.load(model_folder("tiny")))
    async with open_here(wanted, images, harness, wanted.reward_function) as here:
        alone = [await run(here, task, Scrolls()) for task in tasks]
    images.new_bytes = 0
    (tmp_path / "cluster").mkdir()
    elsewhere = ImageStore(tmp_path / "cluster")
    async with opened(elsewhere) as rollouts:
        assert rollouts.places > 0
        there = await asyncio.gather(*(run(rollouts, task, Scrolls(), f"{n}") for n, task in enumerate(tasks)))
        script = oracle_teacher(harness, wanted.env.oracle)("0")  # type: ignore[arg-type]
        shown = await rollouts.run(spec_of(tasks[0], "o"), script)
    for one, other in zip(alone, there, strict=True):
        assert other.termination is Termination.COMPLETED
        assert [turn.observation for turn in one.turns] == [turn.observation for turn in other.turns]
        assert [turn.prompt for turn in one.turns] == [turn.prompt for turn in other.turns]
        assert (one.answer, one.state) == (other.answer, other.state)
        assert all(elsewhere.has(turn.observation.screenshot) for turn in other.turns)
    assert shown.termination is Termination.COMPLETED
    assert shown.turns


async def test_a_worker_that_dies_loses_only_its_own_episodes(connection: None, images: ImageStore) -> None:
    task = recipe().draw("eval", 1)[0]
    async with opened(images) as rollouts:
        engines = [Scrolls(seconds=1.5) for _ in range(4)]
        running = [asyncio.create_task(run(rollouts, task, each, f"{n}")) for n, each in enumerate(engines)]
        await asyncio.gather(*(each.asked.wait() for each in engines))
        first = rollouts.workers.all[0]
        os.kill(ray.get(first.actor.__ray_call__.remote(lambda self: os.getpid())), signal.SIGKILL)
        ended = await asyncio.gather(*running)
        lost = [each for each in ended if each.failure]
        assert {each.failure for each in lost} == {Failure.WORKER_LOST}
        assert len(lost) == 2
        assert {each.termination for each in ended if not each.failure} == {Termination.COMPLETED}
        async with asyncio.timeout(90):
            while first.starts < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        assert (await run(rollouts, task, Scrolls(), "again")).termination is Termination.COMPLETED


async def test_what_only_the_user_can_change_is_said_so(connection: None, images: ImageStore) -> None:
    with pytest.raises(ConfigError, match=r"rollout worker 1 of 2: port 0 of 203\.0\.113\.1 cannot be used"):
        async with opened(images, "env.host=203.0.113.1"):
            pass


async def test_time_and_errors_end_an_episode_as_they_do_here(connection: None, images: ImageStore) -> None:
    task = recipe().draw("eval", 1)[0]
    async with opened(images, "cluster.rollouts.replicas=1", "rollout.task_timeout_s=8") as rollouts:
        slow, failing, cancelled = await asyncio.gather(
            run(rollouts, task, Scrolls(seconds=60), "slow"),
            run(rollouts, task, Scrolls(fails=True), "failing"),
            _cancelled(run(rollouts, task, Scrolls(seconds=60), "cancelled")),
        )
        assert (slow.termination, len(slow.turns)) == (Termination.TIMEOUT, 0)
        assert (failing.termination, failing.failure) == (Termination.ABORTED, Failure.ENGINE_TIMEOUT)
        assert cancelled
        await asyncio.sleep(0.5)
        worker = rollouts.workers.all[0]
        left = worker.actor.__ray_call__.remote(lambda self: len(self._episodes))
        assert await left == 0


async def _cancelled(episode: Coroutine[Any, Any, Trajectory]) -> bool:
    task = asyncio.create_task(episode)
    await asyncio.sleep(1)
    task.cancel()
    return isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
