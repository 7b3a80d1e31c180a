"""Group logic alone: episodes are coroutines that end when and how the test says."""

import asyncio

import pytest

from tests.rollout.records import task, trajectory
from webdojo.errors import TaskError
from webdojo.rollout.curriculum import TaskStream
from webdojo.rollout.groups import run_each
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


async def test_each_task_has_one_episode_and_they_come_back_in_order():
    run = Episodes(lasts=lambda name: len(name) + 7 * int(name[1]) % 5)
    tasks = [task(f"t{n}") for n in range(9)]
    found = await run_each(run, tasks, concurrency=6)
    assert [t.task for t in found] == tasks
    assert run.most == 6
    assert len({t.id for t in found}) == len({t.group for t in found}) == 9


async def test_a_slow_episode_holds_up_no_other():
    run = Episodes(lasts=lambda name: 10_000 if name == "t0/0" else 1)
    await run_each(run, [task(f"t{n}") for n in range(4)], concurrency=2)
    assert run.ended == ["t1/0", "t2/0", "t3/0", "t0/0"]


async def test_leaving_early_cancels_what_runs():
    run = Episodes(lasts=lambda name: 10_000)
    running = asyncio.create_task(run_each(run, [task("t0"), task("t1")], concurrency=4))
    await asyncio.sleep(0.01)
    assert run.now == 2
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert run.now == 0
    assert run.ended == []


async def test_an_exception_cancels_the_rest_and_propagates():
    run = Episodes(lasts=lambda name: 10_000)

    async def broken(task: Task, group: str, trajectory_id: str) -> Trajectory:
        if task.id == "t2":
            raise OSError("disk full")
        return await run(task, group, trajectory_id)

    with pytest.raises(OSError, match="disk full"):
        await run_each(broken, [task(f"t{n}") for n in range(4)], concurrency=4)
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
