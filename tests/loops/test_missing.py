"""A run that has lost trajectories or screenshots says so when it goes on; a run that has lost none says nothing."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.loops.test_failures import RECIPE, attempt, check, run
from webdojo.loops import pipeline
from webdojo.loops.missing import warn_of_missing
from webdojo.loops.resume import latest, stored_groups, trained_key
from webdojo.loops.run_folder import RL
from webdojo.loops.start import train
from webdojo.store.run import RunStore

__all__ = ["run"]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[Path], list[str]]:
    def of(run: Path) -> list[str]:
        caplog.clear()
        with RunStore.open(run) as store, caplog.at_level(logging.WARNING):
            warn_of_missing(store)
        return caplog.messages

    return of


def delete_trajectories(run: Path, where: str) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as database, database:
        database.execute(f"DELETE FROM trajectories WHERE {where}")


@pytest.mark.parametrize("keeps", [0.5, 0.0])
def test_a_log_that_is_cut_takes_no_trajectory_of_a_finished_iteration_along(
    run: Path, tmp_path: Path, told: Callable[[Path], list[str]], keeps: float
) -> None:
    damaged = tmp_path / "damaged"
    attempt(run, 40, lambda: shutil.copytree(run, damaged))
    log = damaged / "run.sqlite-wal"
    data = log.read_bytes()
    log.write_bytes(data[: int(keeps * len(data))])
    (damaged / "run.sqlite-shm").unlink()
    with RunStore.open(damaged) as store:
        checkpoint = latest(store)
        assert checkpoint is not None and sum(checkpoint.meta["stored"].values()) > 0
    assert told(damaged) == []
    attempt(damaged)
    check(damaged)


def test_trajectories_that_somebody_deleted_are_told(run: Path, told: Callable[[Path], list[str]]) -> None:
    for _ in range(3):  # episodes that a resume runs again are no loss
        with pytest.raises(ZeroDivisionError):
            attempt(run, 11, lambda: 1 / 0)
        assert told(run) == []
    (run / "images").rename(run / "gone")
    with pytest.raises(ZeroDivisionError):  # what it discards and runs again is no loss either
        attempt(run, 1, lambda: 1 / 0)
    assert not any("lost" in line for line in told(run))
    shutil.rmtree(run / "images")
    (run / "gone").rename(run / "images")
    attempt(run)
    assert told(run) == []
    with RunStore.open(run, readonly=True) as store:
        number = len(store.rows(RL, 4))
        trained = store.get(trained_key(4))
    delete_trajectories(run, "phase = 'rl' AND iteration = 4")
    (line,) = told(run)
    assert f"{run} has lost trajectories that its checkpoint rl-0006 counted: " in line
    assert f"of {number} of iteration 4. The run goes on without them" in line
    assert "put back a copy of run.sqlite, and resume again" in line
    delete_trajectories(run, f"group_id = '{trained[0]}'")
    with RunStore.open(run, readonly=True) as store:
        assert [group.id for group in stored_groups(store, RL, trained) if group.id == trained[0]] == []


def test_screenshots_that_somebody_deleted_are_told(run: Path, told: Callable[[Path], list[str]]) -> None:
    attempt(run)
    with RunStore.open(run, readonly=True) as store:
        stored = store.trajectories(RL)
        lost = store.images.path(stored[0].turns[0].observation.screenshot)
        number = sum(lost.stem in trajectory.model_dump_json() for trajectory in stored)
    lost.unlink()
    (line,) = told(run)
    assert line.startswith(f"{number} of {len(stored)} trajectories in {run} lack screenshots")
    shutil.rmtree(run / "images")
    (line,) = told(run)
    assert line.startswith(f"{len(stored)} of {len(stored)} trajectories in {run} lack screenshots")
    assert "put the files back" in line


def test_a_resume_tells_it_once(run: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    attempt(run)
    shutil.rmtree(run / "images")
    delete_trajectories(run, "phase = 'rl' AND iteration = 4")

    async def nothing(*_: object) -> dict[str, object]:
        return {}

    monkeypatch.setattr(pipeline.Pipeline, "all", nothing)
    train(RECIPE, run, resume=True)
    warned = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert ["iteration 4" in line for line in warned] == [True, False]
