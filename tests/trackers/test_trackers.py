"""The trackers against their own packages, without a network (`make test-trackers`)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.view import demo_run
from webdojo.loops.log import RunLog
from webdojo.loops.tracking.trackers import Trackers
from webdojo.recipe import load_recipe
from webdojo.store.run import RunStore
from webdojo.view.report import write_report


def report(name: str, run: Path, caplog: pytest.LogCaptureFixture) -> str:
    """Report a run with the tracker of that name, in two attempts; returns the run's id there."""
    recipe = load_recipe("quickstart", [f"tracking.report_to={name}", "tracking.project=mine", "seed=3"])
    with demo_run.create(run) as store, Trackers(recipe, store, write_report) as feeds, RunLog(store, feeds) as log:
        demo_run.fill(store, iterations=2)
        log.write("rl", 3, {"reward": 0.75, "staleness_mean": 0.0})
        log.show("eval_rl", 2, store.trajectories("eval_rl"))
    with RunStore.open(run) as store, Trackers(recipe, store) as feeds, RunLog(store, feeds) as log:
        id = store.get(f"tracker {name}")["id"]
        log.write("rl", 4, {"reward": 0.875})
    with RunStore.open(run, readonly=True) as store:
        assert store.get(f"tracker {name}")["id"] == id, "it went on as another run"
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    return str(id)


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """W&B as in a new process; it reads the environment once."""
    wandb = pytest.importorskip("wandb")
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    yield
    wandb.teardown()


@pytest.mark.usefixtures("wandb")
def test_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    id = report("wandb", tmp_path / "run", caplog)
    first, second = sorted((tmp_path / "run" / "wandb").glob(f"offline-run-*-{id}"))
    logged = (first / f"run-{id}.wandb").read_bytes()
    for name in (b"sft/loss", b"rl/reward", b"rl/step", b"result/success_rl_ci95_low", b"freeze_trainable_layers"):
        assert name in logged, name
    assert b"sft/loss" not in (second / f"run-{id}.wandb").read_bytes(), "it was sent twice"
    assert len([*(first / "files" / "media" / "images").rglob("*.png")]) == 4
    assert (first / "files" / "report.html").read_bytes() == (tmp_path / "run" / "report.html").read_bytes()


@pytest.mark.usefixtures("wandb")
def test_wandb_without_a_key_is_told_and_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    recipe = load_recipe("quickstart", ["tracking.report_to=wandb"])
    with demo_run.create(tmp_path / "run") as store, Trackers(recipe, store):
        pass
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert "tracker wandb: it could not start (UsageError: No API key configured" in warning


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    id = report("mlflow", tmp_path / "run", caplog)
    client: Any = mlflow.MlflowClient()
    there = client.get_run(id)
    assert client.get_experiment(there.info.experiment_id).name == "mine"
    assert (there.info.run_name, there.info.status) == ("run", "FINISHED")
    assert there.data.params["seed"] == "3" and there.data.params["train.policy_loss"] == "clip"
    rewards = [(point.step, point.value) for point in client.get_metric_history(id, "rl/reward")]
    assert [step for step, _ in rewards] == [1, 2, 3, 4] and rewards[2:] == [(3, 0.75), (4, 0.875)]
    assert "result/success_rl_ci95_low" in there.data.metrics
    names = {file.path for file in client.list_artifacts(id)}
    assert names >= {"recipe.json", "report.html", "result.json"}
    shown = [file.path for file in client.list_artifacts(id, "samples/eval_rl/0002")]
    assert shown == [f"samples/eval_rl/0002/{name}" for name in ("1.png", "2.png", "3.png", "4.png", "captions.txt")]


def test_trackio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))  # before its import, which reads it
    pytest.importorskip("trackio")
    from trackio.sqlite_storage import SQLiteStorage

    id = report("trackio", tmp_path / "run", caplog)
    assert SQLiteStorage.get_runs("mine") == [id]
    logs = SQLiteStorage.get_logs("mine", id)
    rewards = [(row["step"], row["rl/reward"]) for row in logs if "rl/reward" in row]
    assert [step for step, _ in rewards] == [1, 2, 3, 4] and rewards[2:] == [(3, 0.75), (4, 0.875)]
    (shown,) = [row for row in logs if "eval_rl/sample_1" in row]
    assert " | success, reward 1 | " in shown["eval_rl/sample_1"]["caption"]
    assert (tmp_path / "trackio" / "media" / shown["eval_rl/sample_4"]["file_path"]).is_file()
    assert len([*(tmp_path / "trackio" / "artifacts").rglob("*")]) > 2
