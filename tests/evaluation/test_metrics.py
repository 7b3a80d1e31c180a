import pytest

from tests.store.fabricate import trajectory
from webdojo.evaluation import bootstrap95, success, wilson95
from webdojo.store.images import MemoryImages
from webdojo.types import Termination


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


def test_the_order_in_which_episodes_end_changes_no_figure():
    images = MemoryImages()
    episodes = [trajectory(f"t{n}", images, success=n % 3 == 0, site=n % 7) for n in range(30)]
    assert success(episodes) == success(episodes[::-1])
