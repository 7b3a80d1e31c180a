"""Episodes that are not for training, in the slots of the pool."""

from __future__ import annotations

import asyncio

import pytest

from tests.rollout.records import trajectory
from tests.rollout.test_pool import World, numbers, settle
from webdojo.errors import BrowserError
from webdojo.types import Task, Trajectory


async def test_they_go_first_and_the_gate_does_not_count_them() -> None:
    world = World()
    world.hold = lambda number, member: True
    order: list[str] = []

    async def other(task: Task, group: str, trajectory_id: str) -> Trajectory:
        order.append(task.id)
        assert len(world.begun) == 2, "an episode that trains took a slot before"
        await asyncio.sleep(0)
        return trajectory(task, 1.0, world.version, trajectory_id, group)

    async with world.pool(groups=2, staleness=0, concurrency=2) as pool:
        await settle()
        assert world.begun == [0, 0]
        evaluation = asyncio.create_task(pool.evaluate(other, world.tasks[:3]))
        await settle()
        assert not order, "more episodes than slots"
        world.hold = lambda number, member: False
        world.held[0].set()
        found = await evaluation
        assert order == [task.id for task in world.tasks[:3]] == [each.task.id for each in found]
        batch = await pool.next_batch()
        await settle()
        assert numbers(batch.finished) == numbers(batch.groups) == [0, 1]
        assert set(world.begun) == {0, 1}


async def test_one_that_raises_ends_what_waits() -> None:
    world = World()
    world.hold = lambda number, member: True

    async def broken(task: Task, group: str, trajectory_id: str) -> Trajectory:
        raise BrowserError("the browser is gone")

    async with world.pool() as pool:
        training = asyncio.create_task(pool.next_batch())
        with pytest.raises(BrowserError, match="the browser is gone"):
            await pool.evaluate(broken, world.tasks[:1])
        with pytest.raises(BrowserError, match="the browser is gone"):
            await training
