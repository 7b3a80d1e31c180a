"""The quickstart benchmark: its control learns what the run may learn, and what was stopped goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import ModuleType

import pytest
from safetensors.torch import load_file

from tests.benchmarks.conftest import Script
from tests.loops.conftest import SmallRecipe, model_dir, small_recipe
from webdojo.loops.log import RunLog
from webdojo.loops.start import train
from webdojo.recipe import dump_recipe
from webdojo.store.info import run_info
from webdojo.store.run import RunStore

__all__ = ["model_dir", "small_recipe"]


@pytest.fixture
def quickstart(script: Script) -> ModuleType:
    return script("quickstart")


async def test_the_control_trains_on_from_the_warm_start_and_goes_on_where_it_was_stopped(
    tmp_path: Path, small_recipe: SmallRecipe, quickstart: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quickstart, "CHUNK", 2)
    recipe = small_recipe("model.freeze_vision=true", "train.iterations=0", "rollout.sampling.max_tokens=400")
    recipe.rollout.max_steps = 12
    await asyncio.to_thread(train, recipe, tmp_path / "run", False)
    with RunStore.open(tmp_path / "run") as store, RunLog(store) as log:
        found = await quickstart.control(recipe, store, log, 0.1)
        assert found["n"] == recipe.evaluate.tasks
        assert found["demos"] >= recipe.sft.demos + 2
        before, after = (
            load_file(store.checkpoints.get(name).path / "model.safetensors") for name in ("sft", "control")
        )
        changed = {name for name in before if not before[name].equal(after[name])}
        assert changed, "the control learned nothing"
        assert not any("visual" in name for name in changed), "the control trained what the run keeps frozen"

        # Stopped before its weights were kept: its demonstrations are in the store, and it starts afresh.
        store.checkpoints.remove("control")
        again = await quickstart.control(recipe, store, log, 0.1)
        assert again["demos"] == recipe.sft.demos + len(store.rows("control_demo"))
        # Stopped after that: nothing is trained again.
        assert await quickstart.control(recipe, store, log, 0.1) == again


def test_a_run_that_was_stopped_is_resumed(tmp_path: Path, small_recipe: SmallRecipe, quickstart: ModuleType) -> None:
    recipe = small_recipe("train.iterations=0", "sft.demos=0")
    RunStore.create(tmp_path / "seed-0", dump_recipe(recipe), run_info(0)).close()
    used = quickstart.train(tmp_path / "seed-0", 0, [])
    assert (tmp_path / "seed-0" / "result.json").exists()
    assert used["seconds_train"] > 0
    assert used["peak_rss_gb"] > used["peak_pss_gb"] > 0.1
    assert quickstart.train(tmp_path / "seed-0", 0, []) == used, "a finished run was not left alone"
