"""What keeps an episode from starting, that it starts when the cause has gone, and where the slots' time went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.rollout.test_pool import StubEngine, World, numbers, plain_scheduler, settle
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.pool import CHECK_S
from webdojo.rollout.scheduler import RESOURCES, SETTLE_S, SHORT_S, Limit, MemoryGate, Scheduler
from webdojo.types import Prompt, Sampling

LONG = 1.0


class Resources(StubEngine):
    """What the scheduler looks at."""

    sessions = 100
    free_mb = 4000.0

    def scheduler(self, max_waiting_requests: int = 32) -> Scheduler:
        config = RolloutConfig(concurrency=6, min_free_memory_mb=1000, max_waiting_requests=max_waiting_requests)
        return Scheduler(config, self, lambda: self.sessions, lambda: self.free_mb * 1e6)


def exhaust(resources: Resources, reason: Limit) -> Callable[[], None]:
    """Use a resource up; returns what gives it back."""
    short = {Limit.ENGINE: ("waiting", 5), Limit.BROWSERS: ("sessions", 0), Limit.MEMORY: ("free_mb", 10.0)}
    name, none = short[reason]
    before = getattr(resources, name)
    setattr(resources, name, none)
    return lambda: setattr(resources, name, before)


@pytest.mark.parametrize("reason", RESOURCES)
async def test_what_must_wait_starts_when_the_cause_has_gone_though_no_episode_ends(reason: Limit) -> None:
    world, resources = World(), Resources()
    world.hold = lambda number, member: True
    relieve = exhaust(resources, reason)
    scheduler = resources.scheduler(max_waiting_requests=4)
    async with world.pool(groups=4, scheduler=scheduler):
        await asyncio.sleep(2.5 * CHECK_S)
        assert len(world.begun) == 1, "one may always start"
        relieve()
        await asyncio.sleep(2.5 * CHECK_S)
        after_memory = len(world.begun) == 2  # then one a `SETTLE_S`
        assert after_memory if reason is Limit.MEMORY else len(world.begun) == 6
        used = scheduler.usage()
        assert used.idle[reason] >= max(5 * 2.5 * CHECK_S, 0.9 * sum(used.idle.values()))
        assert used.slot_seconds == pytest.approx(6 * 5 * CHECK_S, rel=0.2)


@pytest.mark.parametrize("reason", RESOURCES)
async def test_a_shortage_that_never_ends_stops_nothing(reason: Limit) -> None:
    world, resources = World(), Resources()
    exhaust(resources, reason)
    running = most = 0
    run = world.run

    async def counted(*args: object) -> object:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            return await run(*args)  # type: ignore[arg-type]
        finally:
            running -= 1

    world.run = counted  # type: ignore[method-assign,assignment]
    async with world.pool(groups=2, staleness=0, scheduler=resources.scheduler(max_waiting_requests=4)) as pool:
        for _ in range(3):
            await pool.next_batch()
            world.advance(pool)
    assert most == 1


async def test_episodes_never_outnumber_the_browser_sessions() -> None:
    world, resources = World(), Resources()
    world.hold = lambda number, member: True
    resources.sessions = 4
    async with world.pool(groups=4, scheduler=resources.scheduler()):
        await settle()
        assert len(world.begun) == 4
        resources.sessions = 5  # a further server came
        await asyncio.sleep(2 * CHECK_S)
        assert len(world.begun) == 5


async def test_resources_that_are_never_short_change_no_order_of_starts() -> None:
    begun = []
    for with_resources in (True, False):
        world, resources = World(lambda number, member: float(member == 0 and number % 3 > 0)), Resources()
        scheduler = resources.scheduler() if with_resources else plain_scheduler(6)
        async with world.pool(groups=3, staleness=0, scheduler=scheduler) as pool:
            trained = []
            for _ in range(4):
                trained += numbers((await pool.next_batch()).groups)
                await settle()
                world.advance(pool)
        begun.append((world.begun, trained))
    assert begun[0] == begun[1]


async def test_slots_that_wait_for_the_learner_are_told_apart() -> None:
    world, scheduler = World(), plain_scheduler(4)
    async with world.pool(groups=1, staleness=0, scheduler=scheduler) as pool:
        await pool.next_batch()
        before = scheduler.usage()
        await asyncio.sleep(0.1)  # the learner steps
        used = scheduler.usage().since(before)
    assert used.idle[Limit.STALENESS] == pytest.approx(used.slot_seconds)
    assert used.slot_seconds >= 4 * 0.1


async def test_after_a_shortage_of_memory_starts_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now, free_mb = 100.0, 2000.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    gate = MemoryGate(1000, lambda: free_mb)
    assert [gate.admits(), gate.admits()] == [True, True]
    free_mb = 999.0
    assert not gate.admits()
    free_mb, now = 1001.0, now + SETTLE_S
    assert [gate.admits(), gate.admits()] == [True, False]
    now += SETTLE_S
    assert [gate.admits(), gate.admits()] == [True, False]
    now += SHORT_S
    assert [gate.admits(), gate.admits()] == [True, True]


async def test_slots_of_a_sleeping_engine_are_not_busy() -> None:
    world, scheduler = World(), plain_scheduler(2)
    world.hold = lambda number, member: True
    async with world.pool(groups=1, scheduler=scheduler):
        await asyncio.sleep(0)
        with scheduler.clock.stopped():
            before = scheduler.usage()
            await asyncio.sleep(LONG)
            used = scheduler.usage().since(before)
        before = scheduler.usage()
        await asyncio.sleep(LONG / 4)
        after = scheduler.usage().since(before)
    assert used.busy == pytest.approx(0, abs=1e-6)
    assert used.idle[Limit.SLEEP] == pytest.approx(used.slot_seconds)
    assert used.slot_seconds >= 2 * LONG
    assert after.busy == pytest.approx(after.slot_seconds)


async def test_requests_take_no_time_while_the_engine_sleeps() -> None:
    resources = Resources()
    scheduler = resources.scheduler()
    asked = asyncio.create_task(scheduler.engine.generate(Prompt(segments=()), Sampling()))
    await asyncio.sleep(0)
    with scheduler.clock.stopped():
        before = scheduler.usage().engine
        await asyncio.sleep(LONG)
        assert scheduler.usage().engine == before
        slept = asyncio.get_running_loop().time()
    resources.released.set()
    await asked
    assert scheduler.usage().engine - before <= asyncio.get_running_loop().time() - slept
    assert scheduler.engine.answered == 1
