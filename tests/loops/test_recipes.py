"""Every paper's recipe on the embedded web, scaled down: the tiny model is warm-started in its format, then trained.

The tiny model does nothing sensible in most of these formats, so half of its episodes get a reward all the same: what
samples, weighs and learns is then the recipe's own.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from webdojo.loops.start import train
from webdojo.recipe import load_recipe, recipe_names
from webdojo.reward.gate import Scorer
from webdojo.store.run import RunStore
from webdojo.types import Reward, Trajectory

EMBEDDED = [name for name in recipe_names() if name.endswith("-dojo")]
TRAINING = {name for name in recipe_names() if load_recipe(name).train.iterations} - {"quickstart", *EMBEDDED}
VARIANTS = {name for name in TRAINING if f"{name}-dojo" not in EMBEDDED}
PAPERS = [*EMBEDDED, *sorted(VARIANTS)]

TINY = [
    *("model.path=tiny", "model.freeze_vision=true", "model.freeze_trainable_layers=1", "model.threads=1"),
    *("browser.viewport_px=[320, 320]", "harness.max_format_errors=1", "rollout.concurrency=6", "rollout.max_steps=3"),
    *("rollout.max_steps_by_difficulty={}", "train.stages=[]", "rollout.max_context_tokens=8192"),
    *("rollout.sampling.temperature=3.0", "rollout.sampling.top_k=0", "rollout.sampling.max_tokens=240"),
    *("train.iterations=3", "train.groups_per_iteration=2", "train.max_groups_per_iteration=20"),
    *("evaluate.tasks=2", "evaluate.max_steps=1", "evaluate.max_steps_by_difficulty={}"),
    "evaluate.sampling={max_tokens: 8}",
]
SMALL_WEB = [
    *("env.kinds=[shop]", "env.difficulties=[1]", "env.layout=compact"),
    *("sft.demos=2", "sft.epochs=2", "sft.batch_size=4", "sft.lr=1e-4"),
]
OWN = {
    "webagent_r1": ["harness.page_tokens=512"],
    "openwebvoyager": [
        "harness.tree_tokens=256",
        "rollout.group_size=3",
        "cycles={rounds: 2, tasks: 2, max_attempts: 2}",
    ],
    "openwebrl": ["rollout.group_size=3"],
    "openwebrl_bc": ["rollout.group_size=3"],
    "openwebrl-80gb": ["rollout.group_size=3", "engine={name: hf}", "model.device=cpu"],
    "openwebrl-24gb": [
        *("rollout.group_size=3", "engine={name: hf}", "model.device=cpu", "model.freeze_trainable_layers=0"),
        *("model.lora.r=4", "train.lr=1e-4"),
    ],
}


@pytest.fixture(autouse=True)
def lucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other episode of a group, and the second of two tasks, succeeds, whatever it did."""
    score = Scorer.score

    async def scored(self: Scorer, trajectory: Trajectory) -> None:
        await score(self, trajectory)
        assert trajectory.reward is not None
        task, member = trajectory.id.split("-")[-2:]
        if trajectory.reward.valid and task.isdigit() and (int(task) + int(member)) % 2:
            trajectory.reward = Reward(value=1, success=True, reason="lucky")

    monkeypatch.setattr(Scorer, "score", scored)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_papers_recipe_warm_starts_and_trains_the_tiny_model(paper: str, tmp_path: Path) -> None:
    to_it = [] if paper in EMBEDDED else ["env=dojo", "reward=rules"]
    recipe = load_recipe(paper, [*to_it, *TINY, *SMALL_WEB, *OWN.get(paper.removesuffix("-dojo"), [])])
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
        learned = [figures for figures in store.metrics("rl") if figures["optimizer_steps"]]
        assert len(learned) >= 2, "hardly an iteration had anything to learn from"
        assert all(math.isfinite(figures["loss"]) and figures["grad_norm"] > 0 for figures in learned)


def test_a_text_model_trains_as_a_text_only_agent(tmp_path: Path, family_dirs: dict[str, Path]) -> None:
    long = ["rollout.sampling.temperature=1.0", "rollout.sampling.max_tokens=400"]  # its tokens are few letters long
    overrides = [*TINY, *SMALL_WEB, f"model.path={family_dirs['qwen3']}", "harness.page_tokens=256", *long]
    train(load_recipe("webagent_r1-dojo", overrides), tmp_path / "run", resume=False)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert len(store.metrics("rl")) == 3
        assert all(figures["grad_norm"] > 0 for figures in store.metrics("rl"))
