"""The cost estimate of `--dry-run`."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
import torch
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

from webdojo.dry_run.cost import cost_table, estimate, visual_token_px
from webdojo.policy.config import screenshot_tokens
from webdojo.policy.model.loading import skeleton
from webdojo.recipe import load_recipe, recipe_names

DERIVED = {
    *(name for name in recipe_names() if name.endswith("-dojo")),
    *(name for name in recipe_names() if not (load_recipe(name).train.iterations or load_recipe(name).cycles.rounds)),
    "openwebrl_bc",
    "openwebrl-80gb",
    "openwebrl-24gb",
    "asyncwebrl_raft",
}
"""Recipes that count what their base counts, or train nothing."""


def test_a_screenshot_costs_one_token_for_each_square():
    assert screenshot_tokens((320, 320), 32) == 100
    assert screenshot_tokens((1280, 1000), 32) == 40 * 32
    assert screenshot_tokens((1024, 768), 28) == 37 * 28


def test_a_models_squares_are_those_of_its_config_or_its_family():
    assert visual_token_px("tiny", skeleton("tiny")) == 32
    assert visual_token_px("Qwen/Qwen2.5-VL-7B-Instruct", None) == 28
    assert visual_token_px("Qwen/Qwen3-VL-8B-Instruct", None) == 32
    config = Qwen2_5_VLConfig(vision_config={"patch_size": 14, "spatial_merge_size": 2})
    with torch.device("meta"):
        assert visual_token_px("/models/mine", Qwen2_5_VLForConditionalGeneration(config)) == 28
    seen = {name: estimate(load_recipe(name))[1] for name in ("openwebvoyager", "webgym")}
    assert seen["openwebvoyager"].visual_tokens / seen["openwebvoyager"].turns == 3 * 37 * 28
    assert seen["webgym"].visual_tokens / seen["webgym"].turns == 32 * 32


def test_phases_follow_from_the_recipe():
    overrides = ["sft.demos=5", "train.iterations=2", "train.groups_per_iteration=3", "rollout.group_size=4"]
    overrides += ["rollout.max_steps=6", "rollout.sampling.max_tokens=10", "evaluate.tasks=7", "evaluate.max_steps=2"]
    demos, rollouts, evaluation = estimate(load_recipe("quickstart", overrides))
    assert (demos.episodes, demos.turns, demos.sampled_tokens) == (5, 30, 0)
    assert (rollouts.episodes, rollouts.turns, rollouts.sampled_tokens) == (24, 144, 1440)
    assert rollouts.visual_tokens == 144 * 100
    assert (evaluation.episodes, evaluation.turns) == (21, 42)
    during = estimate(load_recipe("quickstart", [*overrides, "train.iterations=9", "evaluate.every=2"]))[2]
    assert during.episodes == 21 + 4 * 7, "versions 2, 4, 6 and 8; the last one is counted already"


def test_turns_are_bounded_by_the_longest_horizon_of_the_tasks_that_are_drawn():
    overrides = ["sft.demos=5", "rollout.max_steps=30", "rollout.max_steps_by_difficulty={1: 10, 3: 20}"]
    assert estimate(load_recipe("quickstart", [*overrides, "env.difficulties=[1, 2]"]))[0].turns == 5 * 20
    assert estimate(load_recipe("quickstart", [*overrides, "env.difficulties=[1, 4]"]))[0].turns == 5 * 30


@pytest.mark.parametrize("name", sorted(set(recipe_names()) - {"quickstart"} - DERIVED))
def test_the_head_of_a_recipe_says_how_many_trajectories_a_dry_run_counts(name):
    head = files("webdojo.recipes").joinpath(f"{name}.yaml").read_text()
    said = re.search(r"# The \d+ \w+ (?:roll out|train on|explore at most) ([\d,]+) trajectories", head)
    assert said is not None
    assert int(said[1].replace(",", "")) == estimate(load_recipe(name))[1].episodes


def test_the_table_ends_with_the_totals():
    none = ["sft.demos=0", "train.iterations=0"]
    recipe = load_recipe("quickstart", [*none, "evaluate.tasks=1000", "evaluate.max_steps=8"])
    last = cost_table(recipe).splitlines()[-1]
    assert last.split()[:3] == ["total", "1,000", "8,000"], "one model, measured once"


TWO_TASKS = """
from webdojo import Environment, Task, Visit
class Two(Environment):
    def tasks(self, split, n, seed):
        made = (Task(id=str(i), instruction="Do", start_url="http://a.test/", website="a.test") for i in range(2))
        return list(made)[:n]
    async def visit(self, task, seed=""):
        return Visit(task, task.start_url)
"""


def test_an_evaluation_has_no_more_tasks_than_there_are(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(TWO_TASKS)
    own = ["sft.demos=0", "train.iterations=0", "evaluate.runs=3", f"env={tmp_path / 'two.py'}:Two"]
    assert estimate(load_recipe("quickstart", own))[-1].episodes == 6
    assert estimate(load_recipe("quickstart", [*own, "evaluate.tasks=1"]))[-1].episodes == 3
    assert estimate(load_recipe("webvoyager"))[-1].episodes == 643, "nobody has brought them yet"
