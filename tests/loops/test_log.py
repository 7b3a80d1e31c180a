"""Figures of a run reach the log line, the store and TensorBoard."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from webdojo.loops.log import RunLog
from webdojo.store.run import RunStore


def test_figures_reach_the_line_the_store_and_tensorboard(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "webdojo")
    with RunStore.create(tmp_path / "run", "name: x", {}) as store:
        with RunLog(store) as log:
            log.write("rl", 1, {"reward": 0.25, "groups": 12})
            log.write("rl", 2, {"reward": 0.5})
            log.write("sft", 1, {"loss": 3.0}, line=False)
        assert caplog.messages == ["rl 1  reward=0.25  groups=12", "rl 2  reward=0.5"]
        assert store.metrics("rl") == [{"step": 1, "reward": 0.25, "groups": 12}, {"step": 2, "reward": 0.5}]

    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    assert [(point.step, point.value) for point in events.Scalars("rl/reward")] == [(1, 0.25), (2, 0.5)]
    assert [(point.step, point.value) for point in events.Scalars("sft/loss")] == [(1, 3.0)]
