"""Every paper's recipe, scaled down by overrides: the tiny model is warm-started in its format, then trained."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from webdojo.loops.pipeline import train
from webdojo.recipe import load_recipe, recipe_names
from webdojo.store.run import RunStore

PAPERS = [name for name in recipe_names() if name != "quickstart"]

# At such a temperature some responses end in time, which are format errors, and some do not, so groups can train.
TINY = [
    *("model.path=tiny", "model.freeze_vision=true", "model.freeze_trainable_layers=1", "model.threads=1"),
    *("browser.viewport_px=[320, 320]", "env.kinds=[shop]", "env.difficulties=[1]", "env.layout=compact"),
    *("harness.max_format_errors=1", "rollout.group_size=3", "rollout.concurrency=6", "rollout.max_steps=3"),
    *("rollout.max_steps_by_difficulty={}", "train.stages=[]", "rollout.max_context_tokens=8192"),
    "rollout.sampling={temperature: 3.0, max_tokens: 240}",
    *("sft.demos=2", "sft.epochs=2", "sft.batch_size=4", "sft.lr=1e-4"),
    *("reward.format_reward=true", "train.dynamic_sampling=true", "train.entropy_coef=0.01"),  # nothing succeeds here
    *("train.iterations=3", "train.groups_per_iteration=1", "train.max_groups_per_iteration=20", "train.ppo_epochs=1"),
    *("evaluate.tasks=2", "evaluate.max_steps=1", "evaluate.max_steps_by_difficulty={}"),
    "evaluate.sampling={max_tokens: 8}",
]
OWN = {
    "webagent_r1": ["harness.page_tokens=512"],
    "openwebvoyager": ["harness.tree_tokens=256", "train.dynamic_sampling=false"],
    # These learn from successes alone, and none would ever be effective.
    "asyncwebrl_raft": ["train.dynamic_sampling=false"],
    "openwebrl_bc": ["train.dynamic_sampling=false"],
    "webgym": ["train.dynamic_sampling=false", "rollout.group_size=1"],
}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_papers_recipe_warm_starts_and_trains_the_tiny_model(paper: str, tmp_path: Path) -> None:
    recipe = load_recipe(paper, [*TINY, *OWN.get(paper, [])])
    result = train(recipe, tmp_path / "run", resume=False)
    assert {"success_base", "success_sft", "success_rl"} <= set(result)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        demos = [demo for demo in store.trajectories("demo") if demo.reward is not None and demo.reward.value == 1]
        assert demos, [(row.termination, row.steps) for row in store.rows("demo")]
        for demo in demos:
            for index, turn in enumerate(demo.turns):
                assert turn.parsed.error is None
                assert len(turn.prompt.images) == min(index + 1, recipe.harness.images)
        scored = any(row.valid and row.iteration > 1 for row in store.rows("rl"))
        assert ("best" in result) == scored
        if scored:
            assert "rl-000" in result["best"]["model"]
        losses = [figures["loss"] for figures in store.metrics("sft")]
        assert len(losses) > 1 and losses[-1] < losses[0]
        assert [figures["version"] for figures in store.metrics("rl")] == [1, 2, 3]
        assert all(math.isfinite(figures["loss"]) and figures["grad_norm"] > 0 for figures in store.metrics("rl"))


def test_a_text_model_trains_as_a_text_only_agent(tmp_path: Path, family_dirs: dict[str, Path]) -> None:
    sampling = "rollout.sampling={temperature: 1.0, max_tokens: 400}"  # its tokens are few letters long
    overrides = [*TINY, f"model.path={family_dirs['qwen3']}", "harness.page_tokens=256", sampling]
    train(load_recipe("webagent_r1", overrides), tmp_path / "run", resume=False)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert len(store.metrics("rl")) == 3
        assert all(figures["grad_norm"] > 0 for figures in store.metrics("rl"))
