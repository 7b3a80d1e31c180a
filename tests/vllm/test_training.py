"""A short run of online training whose episodes are sampled by vLLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.conftest import SMALL
from tests.vllm.conftest import needs_vllm
from webdojo.loops.start import train
from webdojo.recipe import load_recipe
from webdojo.store.run import RunStore

pytestmark = needs_vllm

ITERATIONS = 2


def test_online_training_runs_through_vllm(url: str, tmp_path: Path, figures: dict[str, float]) -> None:
    recipe = load_recipe(
        "quickstart",
        [
            *SMALL,
            f"train.iterations={ITERATIONS}",
            "train.lr=1e-4",
            "engine.name=vllm",
            f"engine.urls=[{url}]",
            "rollout.max_context_tokens=4000",
            "rollout.max_staleness=0",
        ],
    )
    result = train(recipe, tmp_path / "run", resume=False)
    assert result["success_rl"]["n"] == 2
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        rows = store.metrics("rl")
        assert [row["version"] for row in rows] == [1, 2]
        sampled = {
            iteration: {v for row in store.rows("rl", iteration) for v in store.trajectory(row.id).versions}
            for iteration in (1, 2)
        }
    assert sampled[1] == {0}
    assert 1 in sampled[2], "the second iteration never saw the first one's weights"
    figures["training_iterations"] = len(rows)
    figures["training_engine_gap_max"] = max(row["engine_gap_max"] for row in rows)
    assert figures["training_engine_gap_max"] == pytest.approx(0, abs=1e-3)
