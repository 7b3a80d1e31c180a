"""Back-pressure: what holds a start, that it goes on when the cause has gone, and where the slots' time went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.rollout.test_pool import World, numbers, settle
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.gates import CHECK_S, SETTLE_S, SHORT_S, Gate, Hold, MemoryGate, make_gates
from webdojo.rollout.slots import Slots
from webdojo.types import EngineHealth


class Resources:
    """What gates look at."""

    waiting = 0
    places = 100
    free_mb = 4000.0

    def health(self) -> EngineHealth:
        return EngineHealth(alive=True, waiting=self.waiting)

    def slots(self, max_waiting_requests: int = 32) -> Slots:
        config = RolloutConfig(concurrency=6, min_free_memory_mb=0, max_waiting_requests=max_waiting_requests)
        gates = make_gates(config, self.health, lambda: self.places)
        return Slots(config.concurrency, [*gates, Gate(Hold.MEMORY, MemoryGate(1000, lambda: self.free_mb))])


def exhaust(resources: Resources, reason: Hold) -> Callable[[], None]:
    """Use a resource up; returns what gives it back."""
    name, none = {Hold.ENGINE: ("waiting", 5), Hold.BROWSERS: ("places", 0), Hold.MEMORY: ("free_mb", 10.0)}[reason]
    before = getattr(resources, name)
    setattr(resources, name, none)
    return lambda: setattr(resources, name, before)


@pytest.mark.parametrize("reason", [Hold.ENGINE, Hold.BROWSERS, Hold.MEMORY])
async def test_what_is_held_starts_when_the_cause_has_gone_though_no_episode_ends(reason: Hold) -> None:
    world, resources = World(), Resources()
    world.hold = lambda number, member: True
    relieve = exhaust(resources, reason)
    slots = resources.slots(max_waiting_requests=4)
    async with world.pool(groups=4, slots=slots):
        await asyncio.sleep(2.5 * CHECK_S)
        assert len(world.begun) == 1, "one may always start"
        relieve()
        await asyncio.sleep(2.5 * CHECK_S)
        after_memory = len(world.begun) == 2  # then one a `SETTLE_S`
        assert after_memory if reason is Hold.MEMORY else len(world.begun) == 6
        spent = slots.seconds()
        assert spent.held[reason] >= max(5 * 2.5 * CHECK_S, 0.9 * sum(spent.held.values()))
        assert spent.busy + sum(spent.held.values()) == pytest.approx(spent.there)


@pytest.mark.parametrize("reason", [Hold.ENGINE, Hold.BROWSERS, Hold.MEMORY])
async def test_a_gate_that_never_opens_stops_nothing(reason: Hold) -> None:
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
    async with world.pool(groups=2, staleness=0, slots=resources.slots(max_waiting_requests=4)) as pool:
        for _ in range(3):
            await pool.take()
            world.advance(pool)
    assert most == 1


async def test_episodes_never_outnumber_the_places_for_sessions() -> None:
    world, resources = World(), Resources()
    world.hold = lambda number, member: True
    resources.places = 4
    slots = resources.slots()
    async with world.pool(groups=4, slots=slots):
        await settle()
        assert len(world.begun) == 4
        resources.places = 5  # a further server came
        await asyncio.sleep(2 * CHECK_S)
        assert len(world.begun) == 5


async def test_gates_that_stay_open_change_no_order_of_starts() -> None:
    begun = []
    for with_gates in (True, False):
        world, resources = World(lambda number, member: float(member == 0 and number % 3 > 0)), Resources()
        slots = resources.slots() if with_gates else Slots(6)
        async with world.pool(groups=3, staleness=0, slots=slots) as pool:
            trained = []
            for _ in range(4):
                trained += numbers((await pool.take()).groups)
                await settle()
                world.advance(pool)
        begun.append((world.begun, trained))
    assert begun[0] == begun[1]


async def test_slots_that_wait_for_the_learner_are_told_apart() -> None:
    world, slots = World(), Slots(4)
    async with world.pool(groups=1, staleness=0, slots=slots) as pool:
        await pool.take()
        before = slots.seconds()
        await asyncio.sleep(0.1)  # the learner steps
        spent = slots.seconds().since(before)
    assert spent.held[Hold.STALENESS] == pytest.approx(spent.there)
    assert spent.there >= 4 * 0.1


async def test_after_a_shortage_of_memory_starts_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now, free_mb = 100.0, 2000.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    gate = MemoryGate(1000, lambda: free_mb)
    assert [gate(1), gate(2)] == [True, True]
    free_mb = 999.0
    assert not gate(3)
    free_mb, now = 1001.0, now + SETTLE_S
    assert [gate(3), gate(4)] == [True, False]
    now += SETTLE_S
    assert [gate(4), gate(5)] == [True, False]
    now += SHORT_S
    assert [gate(5), gate(6)] == [True, True]
