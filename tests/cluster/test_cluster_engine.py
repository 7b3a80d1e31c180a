"""Engines on a cluster: replicas die, hang and return, and every request has its answer."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
import ray

from webdojo.cluster.engines import ClusterEngine, open_engine
from webdojo.cluster.replica import Replica
from webdojo.loops.models import open_engine as open_here
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.images import ImageStore
from webdojo.types import Prompt, Sampling, TextSegment

pytestmark = pytest.mark.integration

SAMPLING = Sampling(temperature=1.0, max_tokens=24)


def recipe(*overrides: str) -> Recipe:
    always = ["cluster.engines.replicas=2", "cluster.engines.num_cpus=1", "cluster.heartbeat_timeout_s=4"]
    return load_recipe("quickstart", [*always, *overrides])


@asynccontextmanager
async def opened(images: ImageStore, *overrides: str) -> AsyncIterator[ClusterEngine]:
    async with open_engine(recipe(*overrides), images, "tiny") as engine:
        yield cast(ClusterEngine, engine)


def prompts(n: int) -> list[Prompt]:
    processor = Processor.load(model_folder("tiny"))
    return [Prompt(segments=(TextSegment(ids=tuple(processor.encode(f"the task {k}"))),)) for k in range(n)]


def pid(replica: Replica) -> int:
    return int(ray.get(replica.actor.__ray_call__.remote(lambda self: os.getpid())))


async def until_up(replica: Replica, starts: int) -> None:
    async with asyncio.timeout(90):
        while not (replica.up and replica.starts == starts):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_it_answers_as_one_engine_here_does(connection: None, images: ImageStore) -> None:
    asked = prompts(6)
    async with open_here(recipe(), images, "tiny") as alone:
        wanted = [(await alone.generate(prompt, SAMPLING)).ids for prompt in asked]
    async with opened(images, "cluster.engines.replicas=1") as engine:
        answers = await asyncio.gather(*(engine.generate(prompt, SAMPLING) for prompt in asked))
    assert [answer.ids for answer in answers] == wanted


async def test_a_replica_that_dies_or_hangs_loses_no_request_and_returns_with_the_weights(
    connection: None, images: ImageStore
) -> None:
    async with opened(images) as engine:
        weights = load_model("tiny")[0].state_dict()
        await engine.update_weights(weights, 7)
        first, second = engine.replicas.all
        for replica, how in ((first, signal.SIGKILL), (second, signal.SIGSTOP)):
            process, starts = pid(replica), replica.starts
            running = [asyncio.create_task(engine.generate(prompt, SAMPLING)) for prompt in prompts(30)]
            await asyncio.sleep(0.05)
            os.kill(process, how)
            answers = await asyncio.gather(*running)
            assert {version for answer in answers for version in answer.versions} == {7}
            await until_up(replica, starts + 1)
            assert pid(replica) != process
            assert await engine.members[engine.replicas.up.index(replica)].generate(prompts(1)[0], SAMPLING)
        assert engine.again


@pytest.mark.slow
async def test_what_starts_again_sleeps_with_the_others(connection: None, images: ImageStore) -> None:
    async with opened(images) as engine:
        await engine.sleep()
        first = engine.replicas.all[0]
        os.kill(pid(first), signal.SIGKILL)
        asking = [asyncio.create_task(engine.generate(prompt, SAMPLING)) for prompt in prompts(4)]
        await until_up(first, 2)
        await asyncio.sleep(0.5)
        assert not any(task.done() for task in asking)
        await engine.wake_up()
        assert len(await asyncio.gather(*asking)) == 4
