"""Group logic alone: episodes are coroutines that end when and how the test says."""

import asyncio
from contextlib import aclosing

import pytest

from tests.rollout.records import task, trajectory
from webdojo.errors import TaskError
from webdojo.rollout.groups import TaskStream, finished_groups
from webdojo.types import Task, Trajectory


class Episodes:
    """Counts what runs at once; an episode lasts as many turns of the event loop as `lasts` says."""

    def __init__(self, lasts=lambda name: 1) -> None:
        self.lasts = lasts
        self.now = self.most = 0
        self.started: list[str] = []
        self.ended: list[str] = []

    async def __call__(self, task: Task, group: str, trajectory_id: str) -> Trajectory:
        name = f"{task.id}/{trajectory_id.rpartition('-')[2]}"
        self.started.append(name)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            for _ in range(self.lasts(name)):
                await asyncio.sleep(0)
            self.ended.append(name)
        finally:
            self.now -= 1
        return trajectory(task, 1, 0, trajectory_id, group)


async def test_every_task_comes_back_once_as_a_whole_group():
    run = Episodes(lasts=lambda name: len(name) + int(name[-1]) * 3)
    tasks = [task(f"t{n}") for n in range(9)]
    groups = [g async for g in finished_groups(run, iter(tasks), group_size=4, concurrency=6)]
    assert sorted(g.task.id for g in groups) == sorted(t.id for t in tasks)
    for g in groups:
        assert [t.id for t in g.trajectories] == [f"{g.id}-{n}" for n in range(4)]
        assert {t.group for t in g.trajectories} == {g.id}
    assert run.most == 6
    assert len({t.id for g in groups for t in g.trajectories}) == 36


async def test_a_slow_episode_holds_up_nothing_but_its_own_group():
    run = Episodes(lasts=lambda name: 10_000 if name == "t0/0" else 1)
    stream = finished_groups(run, iter([task(f"t{n}") for n in range(4)]), group_size=2, concurrency=2)
    first = [group.task.id async for group in stream]
    assert first == ["t1", "t2", "t3", "t0"]
    assert run.ended[-1] == "t0/0"


async def test_leaving_early_cancels_what_runs():
    run = Episodes(lasts=lambda name: 1 if name.startswith("t0") else 10_000)
    stream = finished_groups(run, iter([task("t0"), task("t1")]), group_size=2, concurrency=4)
    async with aclosing(stream):
        async for g in stream:
            assert g.task.id == "t0"
            assert run.now == 2
            break
    assert run.now == 0
    assert sorted(run.ended) == ["t0/0", "t0/1"]


async def test_an_exception_cancels_the_rest_and_propagates():
    run = Episodes(lasts=lambda name: 10_000)

    async def broken(task: Task, group: str, trajectory_id: str) -> Trajectory:
        if trajectory_id.endswith("-2"):
            raise OSError("disk full")
        return await run(task, group, trajectory_id)

    with pytest.raises(OSError, match="disk full"):
        _ = [g async for g in finished_groups(broken, iter([task("t")]), group_size=4, concurrency=4)]
    assert run.now == 0
    assert run.ended == []


def drawn(stream: TaskStream, count: int) -> list[Task]:
    return [stream.at(stream.draw()) for _ in range(count)]


def test_the_task_order_is_seeded_and_can_be_resumed():
    tasks = [task(f"t{n}") for n in range(10)]
    first = [t.id for t in drawn(TaskStream(tasks, seed=3), 25)]
    assert sorted(first[:10]) == sorted(first[10:20]) == [t.id for t in tasks]
    assert first[:10] != first[10:20]
    assert first == [t.id for t in drawn(TaskStream(tasks, seed=3), 25)]
    assert first != [t.id for t in drawn(TaskStream(tasks, seed=4), 25)]
    assert first[17:] == [t.id for t in drawn(TaskStream(tasks, seed=3, position=17), 8)]
    assert [TaskStream(tasks, seed=3).at(n).id for n in (24, 0, 11)] == [first[24], first[0], first[11]]


def test_tasks_of_blocked_sites_are_passed_over():
    tasks = [task(f"t{n}").model_copy(update={"website": f"{'ab'[n % 2]}.example"}) for n in range(10)]
    blocked: set[str] = set()
    stream = TaskStream(tasks, seed=3, blocked=lambda: blocked)
    every = [t.id for t in drawn(TaskStream(tasks, seed=3), 20)]
    ahead = [t.id for t in drawn(stream, 3)]
    blocked.add("a.example")
    rest = drawn(stream, 7)
    assert {t.website for t in rest} == {"b.example"}
    of_b = {t.id for t in tasks if t.website == "b.example"}
    assert [t.id for t in rest] == [id for id in every[len(ahead) :] if id in of_b][:7]
    blocked.add("b.example")
    with pytest.raises(TaskError, match="all 10 tasks are on the blocklist"):
        stream.draw()


def test_what_an_earlier_stream_handed_out_comes_again_whatever_its_chance_is_now():
    tasks = [task(f"t{n}") for n in range(10)]
    stream = TaskStream(tasks, seed=3, position=2, blocked=lambda: {"site.localhost"}, begun={3, 6})
    assert [stream.draw(), stream.draw(), stream.position] == [3, 6, 7]
    stream = TaskStream(tasks, seed=3, chance=lambda each: 0.0 if stream.at(3) is each else 1.0, begun={3})
    assert [stream.draw() for _ in range(5)] == [0, 1, 2, 3, 4]
