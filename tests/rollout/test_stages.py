"""Stages of the curriculum: how far episodes may go, and which difficulties are drawn."""

from __future__ import annotations

from tests.rollout.records import task
from webdojo.recipe import Recipe, load_recipe
from webdojo.rollout.curriculum import Curriculum, stage_of
from webdojo.types import Task


def quickstart(*stages: str) -> Recipe:
    return load_recipe("quickstart", [f"train.stages=[{', '.join(stages)}]"])


def at(recipe: Recipe, tasks: list[Task], iteration: int) -> Curriculum:
    return Curriculum(tasks, recipe.train.stages, recipe.rollout, recipe.tasks.sampler, lambda: iteration)


TASKS = [task(f"t{n}").model_copy(update={"difficulty": 1 if n % 3 == 0 else 2}) for n in range(30)]
"""As those of the quickstart: difficulties 1 and 2 in the ratio 1 : 2."""
EASY, HARD = TASKS[0], TASKS[1]


def test_stages_change_the_horizon_and_what_is_drawn() -> None:
    recipe = quickstart("{iterations: 2, max_steps: 15, difficulty_sampling: {2: 0}}", "{iterations: 1, max_steps: 30}")
    assert [at(recipe, TASKS, iteration).horizon(1) for iteration in (1, 2, 3, 4)] == [15, 15, 30, 30]
    assert [at(recipe, TASKS, 1).chance(each) for each in (EASY, HARD)] == [1, 0]
    assert [at(recipe, TASKS, 3).chance(each) for each in (EASY, HARD)] == [1, 1]
    even = quickstart("{iterations: 1, max_steps: 9, difficulty_sampling: {1: 1, 2: 1}}")
    assert [at(even, TASKS, 1).chance(each) for each in (EASY, HARD)] == [1, 0.5]


def test_the_quickstarts_tasks_have_that_ratio() -> None:
    recipe = quickstart("{iterations: 1, max_steps: 9, difficulty_sampling: {1: 1, 2: 1}}")
    tasks = list(recipe.env.tasks("train", 300, 0))
    chances = {each.difficulty: at(recipe, tasks, 1).chance(each) for each in tasks}
    assert chances == {1: 1, 2: 0.5}


def test_without_stages_the_horizon_is_that_of_rollouts() -> None:
    recipe = load_recipe("quickstart")
    assert stage_of(recipe.train.stages, 1) is None
    assert at(recipe, TASKS, 1).horizon(1) == 8
    assert at(recipe, TASKS, 1).chance(HARD) == 1
