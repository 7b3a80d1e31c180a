"""What the time counts for in which an engine rests."""

from __future__ import annotations

import asyncio

import pytest

from tests.rollout.test_pool import World
from webdojo.rollout.gates import Hold
from webdojo.rollout.requests import Requests
from webdojo.rollout.rest import Rest
from webdojo.rollout.slots import Slots
from webdojo.types import FinishReason, Prompt, Response, Sampling

LONG = 1.0


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_its_clock_stands_still_while_the_engine_rests() -> None:
    rest = Rest()
    with rest.within():
        before = rest.awake()
        await asyncio.sleep(LONG)
        assert rest.awake() == before
        slept = now()
    assert rest.awake() - before <= now() - slept, "it jumped over the rest"


async def test_a_deadline_leaves_out_the_rests_and_comes_after_them() -> None:
    rest = Rest()

    async def episode() -> float:
        """When it ran out of time."""
        with pytest.raises(TimeoutError):
            async with rest.timeout(LONG / 2):
                await asyncio.Event().wait()
        return now()

    began = now()
    before = asyncio.create_task(episode())
    await asyncio.sleep(0)
    with rest.within():
        fell_asleep = now()
        during = asyncio.create_task(episode())
        await asyncio.sleep(LONG)
        woke = now()
        assert not before.done()
        assert not during.done()
    assert await before > woke + LONG / 2 - (fell_asleep - began) - 0.01
    assert await during > woke + LONG / 2 - 0.01


async def test_a_deadline_that_has_passed_or_is_left_takes_no_part_in_a_rest() -> None:
    rest = Rest()

    async def late() -> None:
        async with rest.timeout(0):
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(LONG)  # its session closes while the engine rests

    over = asyncio.create_task(late())
    async with rest.timeout(LONG):
        pass
    await asyncio.sleep(LONG / 4)
    with rest.within():
        await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        await over


async def test_slots_of_a_resting_engine_are_not_busy() -> None:
    rest, world = Rest(), World()
    world.hold = lambda number, member: True
    slots = Slots(2, rest=rest)
    async with world.pool(groups=1, slots=slots):
        await asyncio.sleep(0)
        with rest.within():
            before = slots.seconds()
            await asyncio.sleep(LONG)
            spent = slots.seconds().since(before)
        before = slots.seconds()
        await asyncio.sleep(LONG / 4)
        after = slots.seconds().since(before)
    assert spent.busy == pytest.approx(0, abs=1e-6)
    assert spent.held[Hold.REST] == pytest.approx(spent.there)
    assert spent.there >= 2 * LONG
    assert after.busy == pytest.approx(after.there)


async def test_requests_take_no_time_while_the_engine_rests() -> None:
    rest, answer = Rest(), asyncio.Event()

    class Engine:
        async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
            await answer.wait()
            return Response(ids=[1], logprobs=[0.0], versions=[0], finish_reason=FinishReason.STOP)

    requests = Requests(Engine(), rest)
    asked = asyncio.create_task(requests.generate(Prompt(segments=()), Sampling()))
    await asyncio.sleep(0)
    with rest.within():
        before = requests.seconds()
        await asyncio.sleep(LONG)
        assert requests.seconds() == before
        slept = now()
    answer.set()
    await asked
    assert requests.seconds() - before <= now() - slept
    assert requests.answered == 1
