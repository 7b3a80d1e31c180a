"""The clock that stands still while an engine sleeps, and deadlines by it."""

from __future__ import annotations

import asyncio

import pytest

from webdojo.sleep_clock import SleepClock

LONG = 1.0


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_it_stands_still_while_the_engine_sleeps() -> None:
    clock = SleepClock()
    with clock.stopped():
        before = clock.now()
        await asyncio.sleep(LONG)
        assert clock.now() == before
        slept = now()
    assert clock.now() - before <= now() - slept, "it jumped when the engine woke"


async def test_a_deadline_leaves_out_the_sleeps_and_comes_after_them() -> None:
    clock = SleepClock()

    async def episode() -> float:
        """When it ran out of time."""
        with pytest.raises(TimeoutError):
            async with clock.timeout(LONG / 2):
                await asyncio.Event().wait()
        return now()

    began = now()
    before = asyncio.create_task(episode())
    await asyncio.sleep(0)
    with clock.stopped():
        fell_asleep = now()
        during = asyncio.create_task(episode())
        await asyncio.sleep(LONG)
        woke = now()
        assert not before.done()
        assert not during.done()
    assert await before > woke + LONG / 2 - (fell_asleep - began) - 0.01
    assert await during > woke + LONG / 2 - 0.01


async def test_a_deadline_that_has_passed_or_is_left_takes_no_part_in_a_sleep() -> None:
    clock = SleepClock()

    async def late() -> None:
        async with clock.timeout(0):
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(LONG)  # its session closes while the engine sleeps

    over = asyncio.create_task(late())
    async with clock.timeout(LONG):
        pass
    await asyncio.sleep(LONG / 4)
    with clock.stopped():
        await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        await over
