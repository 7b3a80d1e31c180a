"""Dynamic sampling over fabricated episodes: which groups train, wait, or are dropped."""

import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from tests.rollout.records import task, trajectory
from webdojo.errors import TrainError
from webdojo.rollout.collector import GroupCollector
from webdojo.types import Task, Termination, Trajectory

Outcome = Callable[[int, int], float | Termination]
"""(number of the task, number of the member) -> reward or infra failure."""


class World:
    """A policy whose results are known, sampled at `version`."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.version = 0
        self.begun: set[str] = set()

    async def run(self, task: Task, group: str, trajectory_id: str) -> Trajectory:
        self.begun.add(group)
        version = self.version
        await asyncio.sleep(0)
        member = int(trajectory_id.rpartition("-")[2])
        return trajectory(task, self.outcome(int(task.id), member), version, trajectory_id, group)

    def collector(self, groups: int = 4, staleness: int = 1, max_groups: int = 0, concurrency: int = 12):
        return GroupCollector(
            self.run,
            (task(str(n)) for n in count()),
            group_size=3,
            concurrency=concurrency,
            groups=groups,
            max_groups=max_groups,
            max_staleness=staleness,
        )


def every_other(task: int, member: int) -> float:
    """Even tasks teach something, odd tasks are always solved."""
    return 1.0 if task % 2 or member == 0 else 0.0


async def test_ineffective_groups_are_replaced_until_there_are_enough():
    world = World(every_other)
    collected = await world.collector().collect(version=0)
    assert len(collected.groups) == 4
    assert all(int(group.task.id) % 2 == 0 for group in collected.groups)
    assert set(collected.dropped) == {"all rewards 1"}
    assert {g.id for g in collected.finished} == world.begun  # whatever began has come back


async def test_surplus_trains_in_the_next_iteration_before_anything_new():
    world = World(lambda task, member: float(member))
    collector = world.collector(groups=2, concurrency=9)
    first = await collector.collect(version=0)
    waiting = [group.id for group in collector.surplus]
    assert waiting
    assert len(first.groups) == 2
    world.version = 1
    second = await collector.collect(version=1)
    assert [group.id for group in second.groups][: len(waiting)] == waiting
    assert not {g.id for g in first.groups} & {g.id for g in second.groups}
    trained = {g.id for g in first.groups} | {g.id for g in second.groups} | {g.id for g in collector.surplus}
    assert trained == world.begun


async def test_surplus_past_the_bound_is_dropped_and_counted():
    world = World(lambda task, member: float(member))
    collector = world.collector(groups=2, concurrency=9)
    await collector.collect(version=0)
    waiting = {group.id for group in collector.surplus}
    world.version = 2
    later = await collector.collect(version=2)
    assert later.dropped == {"too stale": len(waiting)}
    assert not waiting & {group.id for group in later.groups}


async def test_without_staleness_nothing_is_sampled_that_cannot_train():
    world = World(lambda task, member: float(member))
    collector = world.collector(groups=3, staleness=0, concurrency=100)
    collected = await collector.collect(version=0)
    assert collector.surplus == []
    assert world.begun == {group.id for group in collected.groups}


async def test_staleness_bounds_the_surplus():
    world = World(lambda task, member: float(member))
    collector = world.collector(groups=3, staleness=1, concurrency=1000)
    await collector.collect(version=0)
    assert len(world.begun) == 6
    assert len(collector.surplus) == 3


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (lambda t, m: 0.0, r"only 0 of 4 groups can train after 32 groups: all rewards 0 in 32 of 32 groups; .*easier"),
        (lambda t, m: 1.0, r"all rewards 1 in 32 of 32 groups; the policy always succeeds"),
        (lambda t, m: -1.0, r"all rewards -1 in 32 of 32 groups; .*format"),
        (lambda t, m: Termination.START_ERROR, r"fewer than 2 valid members \(start_error\) in 32 of 32 .*stored traj"),
        (
            lambda t, m: float(t < 3 and m == 0),
            r"only 3 of 4 groups can train .*: all rewards 0 in 29 of 32",
        ),
    ],
)
async def test_too_few_effective_groups_is_an_error_that_names_the_cause(outcome, message):
    world = World(outcome)
    collector = world.collector()
    with pytest.raises(TrainError, match=message):
        await collector.collect(version=0)
    assert len(world.begun) == 32


async def test_effective_groups_survive_the_error():
    world = World(lambda task, member: float(task < 3 and member == 0))
    collector = world.collector(max_groups=5)
    with pytest.raises(TrainError, match="after 5 groups"):
        await collector.collect(version=0)
    assert len(collector.surplus) == 3


async def test_finite_tasks_end_in_an_error_instead_of_a_hang():
    world = World(lambda task, member: 0.0)
    collector = GroupCollector(
        world.run, iter([task("0")]), group_size=2, concurrency=4, groups=2, max_groups=0, max_staleness=1
    )
    with pytest.raises(TrainError, match="only 0 of 2 groups can train after 1 groups"):
        await collector.collect(version=0)
