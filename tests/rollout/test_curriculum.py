"""What makes tasks come less often: the stage of the curriculum, and groups that taught nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.rollout.records import task, trajectory
from webdojo.rollout.config import RolloutConfig, StageConfig
from webdojo.rollout.curriculum import Curriculum, TaskStream
from webdojo.rollout.groups import Group
from webdojo.types import Task

TASKS = [task(f"t{n}").model_copy(update={"difficulty": 1 + n % 2}) for n in range(40)]


def curriculum(stages: Sequence[StageConfig] = (), settled_chance: float = 1.0, iteration: int = 1) -> Curriculum:
    return Curriculum(TASKS, stages, RolloutConfig(), settled_chance, lambda: iteration)


def drawn(stream: TaskStream, count: int = 2000) -> list[Task]:
    return [stream.at(stream.draw()) for _ in range(count)]


def test_a_stage_draws_its_ratio_of_difficulties_in_the_same_order() -> None:
    stages = [StageConfig(iterations=1, max_steps=9, difficulty_sampling={1: 3, 2: 1})]
    staged = curriculum(stages)
    mixed = TaskStream(TASKS, seed=0, chance=staged.chance)
    counts = Counter(each.difficulty for each in drawn(mixed))
    assert 2.5 < counts[1] / counts[2] < 3.5
    first = TaskStream(TASKS, seed=0, chance=staged.chance)
    first.draw()
    later = TaskStream(TASKS, seed=0, position=first.position, chance=staged.chance)
    assert [first.draw() for _ in range(50)] == [later.draw() for _ in range(50)]


def test_tasks_that_taught_nothing_come_less_often_until_they_teach_again() -> None:
    found = curriculum(settled_chance=0.2)

    def ended(number: int, *rewards: float) -> Group:
        of = TASKS[number]
        return Group(of.id, of, [trajectory(of, reward, 0, f"{of.id}-{n}") for n, reward in enumerate(rewards)])

    for group in (ended(0, 0, 0), ended(1, 1, 1), ended(2, 0, 1), ended(3, 1, 1), ended(3, 0, 1)):
        found.note(group.task.id, group.rewards)
    counts = Counter(each.id for each in drawn(TaskStream(TASKS, seed=0, chance=found.chance)))
    usual = (counts["t2"] + counts["t3"]) / 2
    assert counts["t0"] + counts["t1"] < usual
    assert min(counts["t0"], counts["t1"]) > 0
    assert curriculum().chance(TASKS[0]) == 1


def test_horizons_follow_the_stages_and_else_the_rollout() -> None:
    stages = [StageConfig(iterations=2, max_steps=4), StageConfig(iterations=1, max_steps=9)]
    for iteration, steps in ((1, 4), (2, 4), (3, 9), (10, 9)):
        assert curriculum(stages, iteration=iteration).horizon(1) == steps
    assert curriculum().horizon(1) == RolloutConfig().max_steps
