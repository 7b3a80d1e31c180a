"""A run whose machine is lost goes on elsewhere, from its copy on object storage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.loops.conftest import SmallRecipe
from webdojo.cli import app
from webdojo.errors import StoreError
from webdojo.loops.run_folder import saved_recipe
from webdojo.loops.start import train
from webdojo.store.run import RunStore


def test_a_run_goes_on_on_another_machine(
    tmp_path: Path, small_recipe: SmallRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe, run = small_recipe(f"storage_path=file://{tmp_path}/bucket"), Path("runs/mine")
    train(recipe, run, resume=False)
    with RunStore.open(run, readonly=True) as store:
        before = {row.id for row in store.rows()}
    shutil.rmtree(run)
    with pytest.raises(StoreError, match="already holds a run"):
        train(recipe, run, resume=False)
    assert not run.exists()

    pulled = CliRunner().invoke(app, ["runs", "pull", f"file://{tmp_path}/bucket/mine"])
    assert pulled.exit_code == 0, pulled.output
    assert f"{run} (go on: webdojo train quickstart --run {run} --resume)" in pulled.output
    train(saved_recipe(run, recipe.name, ["train.iterations=2"]), run, resume=True)
    with RunStore.open(run, readonly=True) as store:
        assert [row["step"] for row in store.metrics("rl")] == [1, 2]
        assert before - {row.id for row in store.rows()} == set()
    CliRunner().invoke(app, ["runs", "pull", f"file://{tmp_path}/bucket/mine", "third"])
    with RunStore.open(Path("third"), readonly=True) as store:
        assert [row["step"] for row in store.metrics("rl")] == [1, 2]
