"""The everlasting pool over fabricated episodes: what begins, waits, trains, is dropped, and survives a kill."""

import asyncio
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest

from tests.rollout.records import reward_of, task, trajectory
from webdojo.errors import EngineError, TrainError
from webdojo.loops.metrics import batch_metrics
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.curriculum import TaskStream
from webdojo.rollout.groups import Group
from webdojo.rollout.pool import Batch, PoolState, RolloutPool
from webdojo.rollout.scheduler import Scheduler
from webdojo.types import EngineHealth, FinishReason, Prompt, Response, Sampling, Task, Termination, Trajectory

Outcome = Callable[[int, int], float | Termination]
"""(number of the group, number of the member) -> reward or infra failure."""


def of_member(task: int, member: int) -> float:
    """Every group can train."""
    return float(member == 0)


class StubEngine:
    """An engine whose queue has a length, and which answers when it is released."""

    def __init__(self) -> None:
        self.waiting = 0
        self.released = asyncio.Event()

    def health(self) -> EngineHealth:
        return EngineHealth(alive=True, waiting=self.waiting)

    async def update_weights(self, source: object, version: int) -> None: ...

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        await self.released.wait()
        return Response(ids=[1], logprobs=[0.0], versions=[0], finish_reason=FinishReason.STOP)


def plain_scheduler(slots: int) -> Scheduler:
    """So many slots, and no resource that could be short."""
    config = RolloutConfig(concurrency=slots, max_waiting_requests=0, min_free_memory_mb=0)
    return Scheduler(config, StubEngine(), lambda: slots)


class World:
    """Episodes whose results are known, sampled at `version`; they last a few turns of the event loop, or, those of
    groups that are `held`, until they are released."""

    def __init__(self, outcome: Outcome = of_member) -> None:
        self.outcome = outcome
        self.version = 0
        self.begun: list[int] = []
        self.held: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self.hold: Callable[[int, int], bool] = lambda number, member: False
        self.stored: dict[str, list[Trajectory]] = defaultdict(list)
        self.cancelled: list[str] = []
        self.tasks = [task(f"t{n}") for n in range(500)]

    async def run(self, task: Task, group: str, trajectory_id: str) -> Trajectory:
        number, member = (int(part) for part in trajectory_id.split("-")[-2:])
        self.begun.append(number)
        version = self.version
        try:
            await asyncio.sleep(0)
            if self.hold(number, member):
                await self.held[number].wait()
        except asyncio.CancelledError:
            self.cancelled.append(trajectory_id)
            raise
        found = trajectory(task, self.outcome(number, member), version, trajectory_id, group)
        self.stored[group].append(found)
        return found

    def pool(
        self,
        groups: int = 2,
        staleness: int = 1,
        *,
        concurrency: int = 1000,
        scheduler: Scheduler | None = None,
        max_groups: int = 0,
        updates: int = 100,
        position: int = 0,
        state: PoolState | None = None,
    ) -> RolloutPool:
        return RolloutPool(
            self.run,
            TaskStream(self.tasks, seed=0, position=position),
            scheduler or plain_scheduler(concurrency),
            group_size=3,
            groups=groups,
            max_groups=max_groups or 8 * groups,
            max_staleness=staleness,
            updates=updates,
            version=self.version,
            earlier=state or PoolState(),
            stored=lambda group: list(self.stored[group.id]),
        )

    def advance(self, pool: RolloutPool) -> None:
        self.version += 1
        pool.advance(self.version)


def numbers(groups: Iterable[Group]) -> list[int]:
    return [group.number for group in groups]


async def settle() -> None:
    """Let everything happen that needs nothing from the test."""
    for _ in range(200):
        await asyncio.sleep(0)


@pytest.mark.parametrize("staleness", [0, 1, 2])
async def test_the_gate_bounds_what_begins_while_the_learner_works(staleness: int) -> None:
    world = World()
    world.hold = lambda number, member: True
    async with world.pool(groups=3, staleness=staleness) as pool:
        for updates in (1, 2):
            for number in range(3 * (updates - 1), 3 * updates):
                world.held[number].set()
            await pool.next_batch()
            await settle()  # the learner steps
            assert set(world.begun) == set(range(3 * (updates + staleness)))
            world.advance(pool)
            await settle()
            assert set(world.begun) == set(range(3 * (updates + 1 + staleness)))


async def test_no_group_begins_while_a_whole_update_waits() -> None:
    world = World()
    async with world.pool(groups=2, staleness=3, concurrency=3) as pool:  # the gate alone would let 8 begin
        await pool.next_batch()
        await settle()  # the learner steps
        assert numbers(pool.waiting)[:2] == [2, 3]
        assert set(world.begun) == {0, 1, 2, 3, 4}, "the last in slots that freed before the others had ended"
        await pool.next_batch()
        await settle()
        assert {5, 6} <= set(world.begun), "the slots fill when the update has them, not when it ends"


async def test_slots_never_drain_and_members_of_other_groups_take_them() -> None:
    world = World()
    world.hold = lambda number, member: number == 0 and member == 0
    async with world.pool(groups=2, concurrency=2) as pool:
        first = await pool.next_batch()
        assert numbers(first.groups) == [1, 2]  # one slot is enough for them
        world.advance(pool)
        await settle()
        world.held[0].set()
        await settle()
        second = await pool.next_batch()
        assert numbers(second.groups)[0] == 0, "the group with the oldest tokens trains first"
        assert second.groups[0].versions == [0]
        assert [t.id[-1] for t in second.groups[0].trajectories] == ["0", "1", "2"]


async def test_ineffective_groups_make_room_until_there_are_enough() -> None:
    world = World(lambda number, member: 1.0 if number % 2 or member == 0 else 0.0)
    async with world.pool(groups=4, staleness=0, concurrency=12) as pool:
        batch = await pool.next_batch()
    assert all(number % 2 == 0 for number in numbers(batch.groups))
    assert set(batch.dropped) == {"all rewards 1"}
    assert len(batch.finished) == 4 + batch.dropped.total()


async def test_surplus_waits_and_trains_before_what_is_newer() -> None:
    world = World()
    async with world.pool(groups=2, staleness=2) as pool:
        seen: list[int] = []
        for _ in range(6):
            batch = await pool.next_batch()
            assert max(world.version - group.versions[0] for group in batch.groups) <= 2
            seen += numbers(batch.groups)
            await settle()
            world.advance(pool)
    assert seen == list(range(12)), "a group was lost, trained twice or overtaken"


async def test_what_is_too_old_is_dropped_before_it_costs_more() -> None:
    world = World()
    world.hold = lambda number, member: number in (0, 1) and member == 0
    async with world.pool(groups=2, staleness=1) as pool:
        dropped: Counter[str] = Counter()
        for _ in range(2):
            dropped += (await pool.next_batch()).dropped
            world.advance(pool)
        await settle()
        assert not dropped
        assert len(world.cancelled) == 2, "the slow episodes run on, and no update can have them"
        batch = await pool.next_batch()
        assert batch.dropped == {"too stale": 2}
        assert not {0, 1} & set(numbers(batch.groups))
        assert not {0, 1} & {*pool.state().waiting, *pool.state().running}


async def test_waiting_groups_past_the_bound_are_dropped_and_make_room() -> None:
    world = World()
    async with world.pool(groups=2, staleness=1) as pool:
        await pool.next_batch()
        await settle()
        waiting = numbers(pool.waiting)
        assert waiting == [2, 3]
        world.version = 2  # another trainer took an update's worth
        pool.advance(2)
        batch = await pool.next_batch()
        assert batch.dropped == {"too stale": 2}
        assert not set(waiting) & set(numbers(batch.groups))


async def test_no_group_begins_that_no_update_is_left_for() -> None:
    world = World()
    async with world.pool(groups=2, staleness=3, updates=3) as pool:
        for _ in range(3):
            await pool.next_batch()
            await settle()
            world.advance(pool)
        await settle()
        assert set(world.begun) == set(range(6))
        assert pool.state()[:2] == ([], [])


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (lambda n, m: 0.0, r"only 0 of 4 groups can train after 32 groups: all rewards 0 in 32 of 32 groups; .*easier"),
        (lambda n, m: 1.0, r"all rewards 1 in 32 of 32 groups; the policy always succeeds"),
        (lambda n, m: -1.0, r"all rewards -1 in 32 of 32 groups; .*format"),
        (lambda n, m: Termination.START_ERROR, r"fewer than 2 valid members \(start_error\) in 32 of 32 .*stored traj"),
        (lambda n, m: float(n < 3 and m == 0), r"only 3 of 4 groups can train .*: all rewards 0 in 29 of 32"),
    ],
)
async def test_too_few_effective_groups_is_an_error_that_names_the_cause(outcome: Outcome, message: str) -> None:
    world = World(outcome)
    async with world.pool(groups=4, concurrency=3) as pool:
        with pytest.raises(TrainError, match=message):
            await pool.next_batch()


async def test_an_episode_that_raises_ends_the_wait_for_a_batch_and_what_runs_is_cancelled() -> None:
    world = World()
    world.hold = lambda number, member: True
    run = world.run

    async def broken(task: Task, group: str, trajectory_id: str) -> Trajectory:
        if trajectory_id.endswith("-1-2"):
            raise EngineError("the engine is gone")
        return await run(task, group, trajectory_id)

    world.run = broken  # type: ignore[method-assign]
    with pytest.raises(EngineError, match="the engine is gone"):
        async with world.pool() as pool:
            await pool.next_batch()
    assert len(world.cancelled) == 11  # of 4 groups


async def test_an_episode_that_raises_ends_the_next_wait_though_groups_wait() -> None:
    world = World()
    world.hold = lambda number, member: number == 5
    run = world.run

    async def broken(task: Task, group: str, trajectory_id: str) -> Trajectory:
        found = await run(task, group, trajectory_id)
        if found.id.endswith("-5-2"):
            raise EngineError("the engine is gone")
        return found

    world.run = broken  # type: ignore[method-assign]
    async with world.pool(groups=2, staleness=2) as pool:
        await pool.next_batch()
        world.held[5].set()
        await settle()
        world.advance(pool)
        assert len(pool.waiting) >= 2
        with pytest.raises(EngineError, match="the engine is gone"):
            await pool.next_batch()


async def test_busy_slots_are_counted_by_the_second() -> None:
    world = World()
    world.hold = lambda number, member: True
    scheduler = plain_scheduler(2)
    async with world.pool(groups=1, scheduler=scheduler):
        await asyncio.sleep(0.2)
        before = scheduler.usage()
        await asyncio.sleep(0.2)
        assert scheduler.usage().since(before).busy >= 0.4


async def test_groups_that_ended_while_the_learner_stepped_are_reported_after_a_kill_too() -> None:
    world = World(lambda number, member: float(number % 3 > 0 and member == 0))
    world.hold = lambda number, member: number == 4
    async with world.pool(groups=2, staleness=2) as pool:
        await pool.next_batch()
        await settle()
        kept, position = json.loads(json.dumps(pool.state()._asdict())), pool.tasks.position
        world.advance(pool)
        whole = await pool.next_batch()
    async with world.pool(groups=2, staleness=2, position=position, state=PoolState(**kept)) as pool:
        resumed = await pool.next_batch()
    assert whole.dropped.total() > 0
    assert set(numbers(whole.finished)) & set(numbers(whole.groups))
    assert numbers(resumed.groups) == numbers(whole.groups)
    assert numbers(resumed.finished) == numbers(whole.finished)
    assert resumed.dropped == whole.dropped
    assert batch_metrics(resumed) == batch_metrics(whole)


async def test_a_group_that_waited_and_ran_again_to_equal_rewards_does_not_train() -> None:
    world = World()
    world.hold = lambda number, member: number == 2
    async with world.pool(groups=3) as pool:
        await settle()
        kept, position = pool.state(), pool.tasks.position
    assert kept.waiting[:2] == [0, 1]
    (group,) = (name for name in world.stored if name.endswith("-0"))
    for found in world.stored[group]:
        found.reward = reward_of(1.0)
    world.hold = lambda number, member: False
    async with world.pool(groups=3, position=position, state=kept) as pool:
        batch = await pool.next_batch()
    assert 0 not in numbers(batch.groups)
    assert batch.dropped["all rewards 1"] == 1


class Saved(NamedTuple):
    """What a checkpoint remembers."""

    version: int
    position: int
    state: PoolState
    trained: int


@pytest.mark.parametrize("seed", range(10))
async def test_whenever_it_is_killed_no_group_trains_twice_and_none_is_lost(seed: int) -> None:
    """Episodes of random length; the pool dies at random moments and goes on from its last checkpoint."""
    draw = random.Random(seed)
    world = World(lambda number, member: float(number % 5 == 0 or member == 0))
    run = world.run

    async def slow(task: Task, group: str, trajectory_id: str) -> Trajectory:
        for _ in range(draw.randrange(30)):
            await asyncio.sleep(0)
        return await run(task, group, trajectory_id)

    world.run = slow  # type: ignore[method-assign]
    trained: list[int] = []
    dropped: Counter[str] = Counter()
    saved = Saved(0, 0, PoolState(), 0)

    async def attempt() -> None:
        nonlocal saved
        del trained[saved.trained :]
        world.version = saved.version
        pool = world.pool(groups=3, staleness=2, concurrency=10, updates=12, position=saved.position, state=saved.state)
        async with pool:
            while world.version < 12:
                batch: Batch = await pool.next_batch()
                for _ in range(draw.randrange(20)):
                    await asyncio.sleep(0)
                trained.extend(numbers(batch.groups))
                dropped.update(batch.dropped)
                saved = Saved(world.version + 1, pool.tasks.position, pool.state(), len(trained))
                world.advance(pool)

    for _ in range(5):
        attempting = asyncio.create_task(attempt())
        for _ in range(draw.randrange(120)):
            await asyncio.sleep(0)
        attempting.cancel()
        await asyncio.gather(attempting, return_exceptions=True)
    await attempt()
    assert len(trained) == len(set(trained)) == 36
    effective = {number for number in world.begun if number % 5}
    assert len(effective - set(trained)) <= dropped["too stale"], "a group that can train was lost"
    names = [t.id for members in world.stored.values() for t in members]
    assert len(names) == len(set(names)), "a stored episode ran again"


async def test_a_group_that_waited_and_is_too_old_for_a_later_pool_does_not_train() -> None:
    world = World()
    async with world.pool(groups=3) as pool:
        await settle()
        kept, position = pool.state(), pool.tasks.position
    assert kept.waiting[:3] == [0, 1, 2]
    world.version = 2
    async with world.pool(groups=3, staleness=1, position=position, state=kept._replace(running=[])) as pool:
        batch = await pool.next_batch()
    assert not set(kept.waiting) & set(numbers(batch.groups))
    assert batch.dropped["too stale"] == len(kept.waiting)
