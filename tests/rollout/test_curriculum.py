"""What makes tasks come less often: the stage of the curriculum, and the sampler."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.rollout.records import task, trajectory
from webdojo.envs.registry import TasksConfig
from webdojo.loops.resume import ResumeState, outcomes_key, task_order
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.rollout.config import RolloutConfig, StageConfig
from webdojo.rollout.curriculum import Curriculum, TaskStream, outcomes
from webdojo.rollout.groups import Group
from webdojo.store.run import RunStore
from webdojo.tasks.samplers.difficulty_guided import DifficultyGuided
from webdojo.tasks.samplers.difficulty_ratio import DifficultyRatio
from webdojo.tasks.samplers.learning_progress import LearningProgress
from webdojo.tasks.samplers.mixed_outcomes import MixedOutcomes
from webdojo.tasks.samplers.sampler import Sampler
from webdojo.tasks.samplers.site_cap import SiteCap
from webdojo.tasks.samplers.success_window import SuccessWindow
from webdojo.tasks.samplers.uniform import Uniform
from webdojo.types import Task

UNIFORM = Uniform()
TASKS = [
    task(f"t{n}").model_copy(update={"difficulty": 1 + n % 2, "website": "small" if n % 4 == 3 else "large"})
    for n in range(40)
]


def curriculum(sampler: Sampler = UNIFORM, stages: Sequence[StageConfig] = (), iteration: int = 1) -> Curriculum:
    return Curriculum(TASKS, stages, RolloutConfig(), sampler, lambda: iteration)


def drawn(stream: TaskStream, count: int = 2000) -> list[Task]:
    return [stream.at(stream.draw()) for _ in range(count)]


def test_a_stage_draws_its_ratio_of_difficulties_in_the_same_order() -> None:
    stages = [StageConfig(iterations=1, max_steps=9, difficulty_sampling={1: 3, 2: 1})]
    staged = curriculum(stages=stages)
    mixed = TaskStream(TASKS, seed=0, chance=staged.chance)
    counts = Counter(each.difficulty for each in drawn(mixed))
    assert 2.5 < counts[1] / counts[2] < 3.5
    first = TaskStream(TASKS, seed=0, chance=staged.chance)
    first.draw()
    later = TaskStream(TASKS, seed=0, position=first.position, chance=staged.chance)
    assert [first.draw() for _ in range(50)] == [later.draw() for _ in range(50)]


def note(found: Curriculum, *groups: tuple[int, Sequence[float]]) -> None:
    """Groups that ended before the same update, each by the number of its task."""
    found.note((TASKS[number].id, rewards) for number, rewards in groups)


def shares(found: Curriculum, keys: Sequence[str], count: int = 4000) -> dict[str, float]:
    """How often tasks of each key are drawn, of all draws."""
    counts = Counter(keys[TASKS.index(each)] for each in drawn(TaskStream(TASKS, seed=0, chance=found.chance), count))
    return {key: counts[key] / count for key in set(keys)}


def test_what_is_drawn_is_what_the_sampler_promises() -> None:
    levels = [str(each.difficulty) for each in TASKS]
    sites = [each.website for each in TASKS]

    assert shares(curriculum(), levels) == {"1": 0.5, "2": 0.5}
    ratio = shares(curriculum(DifficultyRatio(ratio={1: 3})), levels)
    assert ratio["1"] == pytest.approx(0.75, abs=0.03)
    capped = shares(curriculum(SiteCap(most=4)), sites)  # of sites with 30 and 10 tasks
    assert capped["large"] == pytest.approx(0.5, abs=0.03)

    guided = curriculum(DifficultyGuided(prior=0, times=3))
    note(guided, (3, [0, 0]), (4, [1, 0]))
    assert shares(guided, sites)["small"] == pytest.approx(0.5, abs=0.03)  # 10 tasks three times as often as 30

    window = curriculum(SuccessWindow(prior=0, floor=0.25))
    note(window, (0, [1, 1]), (1, [1, 0]))
    assert shares(window, levels)["1"] == pytest.approx(0.2, abs=0.03)

    mixed = curriculum(MixedOutcomes(prior=2))
    note(mixed, (0, [1, 1]), (2, [0, 0]), (1, [1, 0]), (3, [0, 1]))
    assert shares(mixed, levels)["1"] == pytest.approx(0.25, abs=0.03)

    progress = curriculum(LearningProgress(prior=0, window=2, floor=0.1))
    for reward in (0, 1):
        note(progress, (0, [reward, 0]), (1, [0, 0]))
    assert shares(progress, levels)["1"] == pytest.approx(0.5 / 0.6, abs=0.03)


def test_tasks_by_themselves_come_less_often_until_they_teach_again() -> None:
    found = curriculum(SuccessWindow(by=["task"], window=1, prior=0, floor=0.2))
    note(found, (0, [0, 0]), (1, [1, 1]), (2, [0, 1]), (3, [1, 1]))
    assert [found.chance(each) for each in TASKS[:5]] == [0.2, 0.2, 1, 0.2, 1]
    note(found, (3, [0, 1]), (4, []))
    assert [found.chance(each) for each in TASKS[:5]] == [0.2, 0.2, 1, 1, 1]


def test_a_stage_and_a_sampler_both_count() -> None:
    stages = [StageConfig(iterations=1, max_steps=9, difficulty_sampling={1: 3, 2: 1})]
    both = curriculum(SiteCap(most=15), stages)
    assert [both.chance(each) for each in TASKS[:4]] == pytest.approx([0.5, 0.5 / 3, 0.5, 1 / 3])


def test_groups_of_an_update_count_in_the_order_of_the_tasks() -> None:
    def ended(number: int, reward: float) -> Group:
        of = TASKS[number]
        return Group(of.id, of, [trajectory(of, reward, 0, f"{of.id}-{n}") for n in range(2)], number)

    groups = [ended(2, 0), ended(0, 1), ended(4, 0.5)]
    assert outcomes(groups) == outcomes(groups[::-1]) == [("t0", [1, 1]), ("t2", [0, 0]), ("t4", [0.5, 0.5])]


@pytest.mark.parametrize(
    "sampler", [SuccessWindow(by=["task"], prior=0), MixedOutcomes(window=3), LearningProgress(window=4)]
)
def test_a_run_that_goes_on_draws_what_it_would_have_drawn(sampler: Sampler, tmp_path: Path) -> None:
    recipe = load_recipe("quickstart").model_copy(update={"tasks": TasksConfig(sampler=sampler)})
    draw = random.Random(0)
    with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store:
        found, stream = task_order(ResumeState(store), TASKS, recipe, lambda: (), lambda: 1)
        plain = [stream.at(number).id for number in range(200)]
        for iteration in range(1, 9):
            ended = [(stream.at(stream.draw()).id, [float(draw.random() < 0.7) for _ in range(2)]) for _ in range(10)]
            store.set(outcomes_key(iteration), ended)
            found.note(ended)
            state = ResumeState(store, iteration=iteration, position=stream.position)
            again, later = task_order(state, TASKS, recipe, lambda: (), lambda: 1)
            assert [again.chance(each) for each in TASKS] == [found.chance(each) for each in TASKS]
        went_on = [later.draw() for _ in range(50)]
        assert went_on == [stream.draw() for _ in range(50)]
        assert [stream.at(number).id for number in range(200)] == plain, "the order itself has changed"
        assert stream.position > 8 * 10 + 50, "nothing was passed over"


def test_outcomes_of_tasks_that_are_gone_are_left_out() -> None:
    found = curriculum(SuccessWindow(prior=0))
    found.note([("gone", [0, 0]), ("t0", [])])
    assert {found.chance(each) for each in TASKS} == {1}


def test_horizons_follow_the_stages_and_else_the_rollout() -> None:
    stages = [StageConfig(iterations=2, max_steps=4), StageConfig(iterations=1, max_steps=9)]
    for iteration, steps in ((1, 4), (2, 4), (3, 9), (10, 9)):
        assert curriculum(stages=stages, iteration=iteration).horizon(1) == steps
    assert curriculum().horizon(1) == RolloutConfig().max_steps
