"""Figures of a run reach the store, TensorBoard and a short line for people."""

from __future__ import annotations

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from webdojo.loops.log import RunLog, iteration_line
from webdojo.store.run import RunStore


def test_figures_reach_the_store_and_tensorboard(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", "name: x", {}) as store:
        with RunLog(store) as log:
            log.write("rl", 1, {"reward": 0.25, "groups": 12})
            log.write("rl", 2, {"reward": 0.5})
            log.write("sft", 1, {"loss": 3.0})
        assert store.metrics("rl") == [{"step": 1, "reward": 0.25, "groups": 12}, {"step": 2, "reward": 0.5}]

    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    assert [(point.step, point.value) for point in events.Scalars("rl/reward")] == [(1, 0.25), (2, 0.5)]
    assert [(point.step, point.value) for point in events.Scalars("sft/loss")] == [(1, 3.0)]


def test_an_iteration_is_one_short_line_with_the_time_left_of_the_run() -> None:
    slow_start = [{"step": step, "seconds_total": 900.0, "invalid": 0, "episodes": 8} for step in range(1, 6)]
    steady = [{"step": step, "seconds_total": 60.0, "invalid": 0, "episodes": 240} for step in range(6, 10)]
    last = {"step": 10, "reward": 0.2537, "success": 0.275, "episodes": 232, "invalid": 2, "seconds_total": 60.0}
    line = iteration_line([*slow_start, *steady, last | {"grad_norm": 1.5}], 18, 120.0)
    assert line == "iteration 10/18  reward 0.254  success 27.5%  232 episodes (2 invalid)  1m 00s  10m 00s left"


def test_an_iteration_without_a_valid_episode_has_its_line() -> None:
    assert iteration_line([{"step": 1, "episodes": 4, "invalid": 4, "seconds_total": 9.0}], 1, 0.0) == (
        "iteration 1/1  4 episodes (4 invalid)  9s  0s left"
    )
