"""The model of clusters: stations share their capacity, and nothing that is predicted is read by what predicts it."""

from __future__ import annotations

import asyncio
from types import ModuleType
from typing import Any

import pytest

from tests.benchmarks.conftest import Script


@pytest.fixture(scope="module")
def sim(script: Script) -> ModuleType:
    return script("scale_sim")


def on_the_clock(sim: ModuleType, go: Any) -> Any:
    with asyncio.Runner(loop_factory=sim.paced.JumpingLoop) as runner:
        return runner.run(go())


@pytest.mark.parametrize(
    ("capacity", "jobs", "ends"),
    [
        (1, [(0, 2.0)], [2.0]),
        (1, [(0, 2.0), (0, 2.0)], [4.0, 4.0]),
        (1, [(0, 2.0), (1, 2.0)], [3.0, 4.0]),
        (2, [(0, 1.0), (0, 3.0), (0, 3.0)], [1.5, 3.5, 3.5]),
        (8, [(0, 1.0), (0, 3.0)], [1.0, 3.0]),
        (float("inf"), [(0, 2.0), (1, 2.0)], [2.0, 3.0]),
    ],
)
def test_those_who_work_at_once_share(
    sim: ModuleType, capacity: float, jobs: list[tuple[float, float]], ends: list[float]
) -> None:
    async def go() -> tuple[list[float], float]:
        station = sim.Station(capacity)

        async def job(begins: float, seconds: float) -> float:
            await asyncio.sleep(begins)
            await station.work(seconds)
            return asyncio.get_running_loop().time()

        found = await asyncio.gather(*(job(*each) for each in jobs))
        return list(found), station.used

    found, used = on_the_clock(sim, go)
    assert found == pytest.approx(ends)
    assert used == pytest.approx(sum(seconds for _, seconds in jobs))


class Unread(dict[str, float]):
    """Figures that nobody may look at."""

    def _refuse(self, *given: object) -> Any:
        raise AssertionError("a figure that is predicted was read")

    __getitem__ = __iter__ = __contains__ = __len__ = get = items = values = keys = _refuse  # type: ignore[assignment]


def test_the_model_meets_the_point_that_it_is_calibrated_on_and_reads_no_other(
    sim: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sim, "SIMULATED", 300)
    monkeypatch.setattr(sim, "PREDICTED", Unread(sim.PREDICTED))
    here = sim.calibrated([0], sim.Assumed())
    assert sim.minutes(here, [0]) == pytest.approx(sim.CALIBRATED["minutes"], rel=0.05)
    assert sim.predicted(here, [0])["webgym_sync"] > 3 * sim.CALIBRATED["minutes"]
    with pytest.raises(AssertionError, match="was read"):
        dict(sim.PREDICTED.items())


def test_engines_bound_a_cluster_that_has_cores_enough(sim: ModuleType) -> None:
    small = sim.Cluster(cores=64, gpus=6, core_s=7.0)
    found = [sim.rolled(sim.replace(small, cores=cores), 0, 600) for cores in (64, 1000, 2000)]
    assert found[1].seconds == pytest.approx(found[2].seconds, rel=0.05)
    assert found[0].cores_used > 2 * found[1].cores_used > 3 * found[2].cores_used
    assert sim.rolled(sim.replace(small, cores=2000, gpus=24), 0, 600).seconds < found[2].seconds / 1.5


def test_the_learner_bounds_a_cluster_whose_gpus_almost_all_serve(sim: ModuleType) -> None:
    here = sim.Cluster(cores=64, gpus=24, core_s=7.0)
    half, most = (sim.sized(sim.replace(here, assumed=sim.Assumed(serving=share)), 32, 256, 0) for share in (0.5, 0.98))
    assert half["bound"] == "engines" and half["learner_used"] < 1
    assert most["bound"] == "learner" and most["learner_used"] == 1
    assert most["trajectories_an_hour"] == round(32 * 0.02 * 3600 / sim.measured_learner_s() / sim.LARGER_MODEL)
    assert 3 < sim.measured_learner_s() < 12, "seconds of an H200 for a trajectory of 15 turns"
