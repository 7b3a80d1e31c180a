from itertools import combinations
from typing import Any

import pytest

from tests.store.fabricate import trajectory
from webdojo.evaluation.metrics import bootstrap95, pass_at, success, wilson95
from webdojo.store.images import MemoryImages
from webdojo.types import Task, Termination, Trajectory


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    # Reference values of statsmodels' proportion_confint(method="wilson").
    [(0, 10, 0.0, 0.27753), (10, 10, 0.72247, 1.0), (5, 10, 0.23659, 0.76341), (130, 200, 0.58161, 0.71267)],
)
def test_wilson(k, n, low, high):
    assert wilson95(k, n) == pytest.approx((low, high), abs=1e-4)


def test_wilson_of_nothing_knows_nothing():
    assert wilson95(0, 0) == (0.0, 1.0)


def test_invalid_episodes_fail_the_all_task_rate_and_leave_the_valid_one():
    images = MemoryImages()
    trajectories = [
        trajectory("a", images, difficulty=1),
        trajectory("b", images, difficulty=1, success=False),
        trajectory("c", images, difficulty=3, kind="wiki"),
        trajectory("d", images, difficulty=3, success=False, valid=False, termination=Termination.TIMEOUT),
    ]
    rate = success(trajectories)
    assert (rate.n, rate.successes, rate.rate) == (4, 2, 0.5)
    assert rate.valid_n == 3
    assert rate.valid_rate == pytest.approx(2 / 3)
    assert rate.ci95 == pytest.approx(wilson95(2, 4))
    assert {d: (r.n, r.rate) for d, r in rate.by_difficulty.items()} == {1: (2, 0.5), 3: (2, 0.5)}
    assert {k: (r.n, r.successes) for k, r in rate.by_kind.items()} == {"shop": (3, 1), "wiki": (1, 1)}
    assert rate.terminations == {"completed": 2, "max_steps": 1, "timeout": 1}
    assert (rate.steps, rate.response_tokens) == (3.0, 36.0)
    dumped = rate.model_dump(mode="json")
    assert dumped["by_difficulty"]["3"]["rate"] == 0.5


def test_unscored_trajectories_are_refused():
    unscored = trajectory("a", MemoryImages()).model_copy(update={"reward": None})
    with pytest.raises(ValueError, match="'a' has no reward"):
        success([unscored])


def test_nothing_measured_is_zero_with_the_widest_interval():
    rate = success([])
    assert (rate.n, rate.rate, rate.ci95, rate.ci95_by_website) == (0, 0.0, (0.0, 1.0), (0.0, 1.0))


def test_interval_by_website_is_wider_when_sites_succeed_or_fail_as_a_whole():
    together = [[True] * 10, [False] * 10] * 5
    mixed = [[True, False] * 5] * 10
    low, high = bootstrap95(together)
    assert high - low > 0.4
    assert bootstrap95(mixed) == (0.5, 0.5)
    assert bootstrap95(together) == (low, high)


def runs_of(task: str, outcomes: str, **fields: Any) -> list[Trajectory]:
    """Episodes of a task, the k-th of which ended as the k-th character says: `+`, `-`, or `!` for invalid."""
    images = MemoryImages()
    return [
        trajectory(
            f"{task}-{number}",
            images,
            success=each == "+",
            valid=each != "!",
            seed=f"0/{task}/{number}",
            answer=None if each == "!" else "42",
        ).model_copy(update={"task": Task(id=task, instruction="Do it", start_url="http://a/", website="a", **fields)})
        for number, each in enumerate(outcomes, 1)
    ]


@pytest.mark.parametrize(
    ("k", "n", "c", "expected"),
    # Chen et al. (2021), equation 1: 1 - C(n - c, k) / C(n, k).
    [(1, 5, 2, 0.4), (2, 5, 2, 0.7), (3, 5, 2, 0.9), (4, 5, 2, 1.0), (5, 5, 0, 0.0), (3, 3, 1, 1.0)],
)
def test_pass_at_k_is_the_unbiased_estimator(k, n, c, expected):
    assert pass_at(k, n, c) == pytest.approx(expected)


def test_pass_at_k_is_what_k_episodes_drawn_from_all_do_on_average():
    outcomes = [True, False, False, True, False, False]
    for k in (1, 2, 3, 6):
        draws = [any(drawn) for drawn in combinations(outcomes, k)]
        assert pass_at(k, 6, 2) == pytest.approx(sum(draws) / len(draws))


def test_several_runs_give_pass_at_k_success_at_k_and_the_spread_of_the_rate():
    rate = success([*runs_of("a", "+--"), *runs_of("b", "-+-"), *runs_of("c", "---"), *runs_of("d", "!+-")])
    assert (rate.n, rate.tasks, rate.runs, rate.rate) == (12, 4, 3, 0.25)
    assert rate.valid_n == 11
    assert rate.valid_rate == pytest.approx(3 / 11)
    assert rate.rates == [0.25, 0.5, 0.0]
    assert rate.rates_std == pytest.approx(0.25)
    assert {k: each.value for k, each in rate.pass_at_k.items()} == pytest.approx({1: 1 / 4, 2: 1 / 2, 3: 3 / 4})
    assert {k: each.rate for k, each in rate.success_at_k.items()} == {1: 0.25, 2: 0.75, 3: 0.75}
    assert (rate.finish_rate.n, rate.finish_rate.rate) == (4, 0.75)


def test_runs_are_told_apart_by_seed_and_not_by_which_ended_first():
    eleven = runs_of("a", "+" + 10 * "-")
    assert success(eleven[::-1]).rates == [1.0, *[0.0] * 10]


def test_the_interval_of_several_runs_is_over_tasks():
    """20 tasks whose four episodes end alike are 20 trials, not 80; a share of their noise goes where they do not."""
    alike = success([each for n in range(20) for each in runs_of(f"t{n}", "++++" if n % 2 else "----")])
    assert alike.ci95 == pytest.approx(wilson95(10, 20))
    mixed = success([each for n in range(40) for each in runs_of(f"t{n}", ("++--", "+-+-", "-+++", "---+")[n % 4])])
    once = wilson95(20, 40)
    assert once[0] < mixed.ci95[0] < 0.5 < mixed.ci95[1] < once[1]
    same = success([each for n in range(40) for each in runs_of(f"t{n}", "+-+-")])
    assert same.ci95 == pytest.approx(once), "no difference between tasks is no certainty"


def test_the_interval_of_one_run_is_wilsons_in_every_part():
    rate = success([each for n in range(30) for each in runs_of(f"t{n}", "+" if n < 10 else "-", difficulty=1 + n % 2)])
    assert rate.ci95 == wilson95(10, 30)
    assert rate.by_difficulty[1].ci95 == wilson95(5, 15)
    assert rate.by_website["a"].ci95 == rate.ci95 == rate.pass_at_k[1].ci95


def test_levels_of_a_benchmark_and_causes_of_invalid_episodes_are_counted():
    easy, hard = runs_of("a", "+", metadata={"level": "easy"}), runs_of("b", "!!", metadata={"level": "hard"})
    assert hard[0].reward and hard[1].reward
    hard[0].reward.cause = "blocked"
    hard[1].reward.cause = ""
    rate = success([*easy, *hard, *runs_of("c", "-")])
    assert {level: (each.n, each.rate) for level, each in rate.by_level.items()} == {"easy": (1, 1.0), "hard": (2, 0.0)}
    assert rate.invalid == {"blocked": 1, "max_steps": 1}


def test_the_order_in_which_episodes_end_changes_no_figure():
    images = MemoryImages()
    episodes = [trajectory(f"t{n}", images, success=n % 3 == 0, site=n % 7) for n in range(30)]
    assert success(episodes) == success(episodes[::-1])
