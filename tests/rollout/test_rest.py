"""What the time counts for in which an engine rests."""

from __future__ import annotations

import asyncio

import pytest

from tests.rollout.test_pool import World
from webdojo.rollout.gates import Hold
from webdojo.rollout.rest import Rest
from webdojo.rollout.slots import Slots

LONG = 0.2


async def test_its_clock_stands_still_while_the_engine_rests() -> None:
    rest = Rest()
    with rest.within():
        before = rest.awake()
        await asyncio.sleep(LONG)
        assert rest.awake() == before
    assert rest.awake() >= before


async def test_a_deadline_leaves_out_the_rests_and_comes_after_them() -> None:
    rest, woken = Rest(), asyncio.Event()

    async def episode() -> str:
        try:
            async with rest.timeout(LONG / 2):
                await woken.wait()
                await asyncio.Event().wait()
        except TimeoutError:
            return "in time" if woken.is_set() else "too early"
        return "never"

    before = asyncio.create_task(episode())
    await asyncio.sleep(0)
    with rest.within():
        during = asyncio.create_task(episode())
        await asyncio.sleep(LONG)
        woken.set()
        await asyncio.sleep(0)
        assert not before.done()
        assert not during.done()
    assert [await before, await during] == ["in time", "in time"]


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
    assert spent.busy == 0
    assert spent.held[Hold.REST] == pytest.approx(spent.there)
    assert spent.there >= 2 * LONG
