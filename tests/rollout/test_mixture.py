"""What makes tasks come less often: the stage of the curriculum, and groups that taught nothing."""

from __future__ import annotations

from collections import Counter

from webdojo.rollout.mixture import Mixture

from tests.rollout.records import task, trajectory
from webdojo.recipe import load_recipe
from webdojo.rollout.groups import Group, TaskStream
from webdojo.types import Task

TASKS = [task(f"t{n}").model_copy(update={"difficulty": 1 + n % 2}) for n in range(40)]


def drawn(stream: TaskStream, count: int = 2000) -> list[Task]:
    return [stream.at(stream.draw()) for _ in range(count)]


def test_a_stage_draws_its_ratio_of_difficulties_in_the_same_order() -> None:
    stage = "{iterations: 1, max_steps: 9, difficulty_sampling: {1: 3, 2: 1}}"
    recipe = load_recipe("quickstart", [f"train.stages=[{stage}]", "tasks.difficulty_sampling={}"])
    mixed = TaskStream(TASKS, seed=0, chance=Mixture(recipe, lambda: 1))
    counts = Counter(each.difficulty for each in drawn(mixed))
    assert 2.5 < counts[1] / counts[2] < 3.5
    first = TaskStream(TASKS, seed=0, chance=Mixture(recipe, lambda: 1))
    first.draw()
    later = TaskStream(TASKS, seed=0, position=first.position, chance=Mixture(recipe, lambda: 1))
    assert [first.draw() for _ in range(50)] == [later.draw() for _ in range(50)]


def test_tasks_that_taught_nothing_come_less_often_until_they_teach_again() -> None:
    recipe = load_recipe("quickstart", ["tasks.settled_chance=0.2"])
    mixture = Mixture(recipe, lambda: 1)

    def ended(number: int, *rewards: float) -> Group:
        of = TASKS[number]
        return Group(of.id, of, [trajectory(of, reward, 0, f"{of.id}-{n}") for n, reward in enumerate(rewards)])

    for group in (ended(0, 0, 0), ended(1, 1, 1), ended(2, 0, 1), ended(3, 1, 1), ended(3, 0, 1)):
        mixture.note(group)
    counts = Counter(each.id for each in drawn(TaskStream(TASKS, seed=0, chance=mixture)))
    usual = (counts["t2"] + counts["t3"]) / 2
    assert counts["t0"] + counts["t1"] < usual
    assert min(counts["t0"], counts["t1"]) > 0
    assert Mixture(load_recipe("quickstart"), lambda: 1)(TASKS[0]) == 1
