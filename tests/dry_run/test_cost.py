"""The cost estimate of `--dry-run`."""

from __future__ import annotations

from webdojo.dry_run import cost_table, estimate
from webdojo.policy.config import screenshot_tokens
from webdojo.recipe import load_recipe


def test_a_screenshot_costs_one_token_for_each_32_px_square():
    assert screenshot_tokens((320, 320)) == 100
    assert screenshot_tokens((1280, 1000)) == 40 * 32


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


def test_the_table_ends_with_the_totals():
    none = ["sft.demos=0", "train.iterations=0"]
    recipe = load_recipe("quickstart", [*none, "evaluate.tasks=1000", "evaluate.max_steps=8"])
    last = cost_table(recipe).splitlines()[-1]
    assert last.split()[:3] == ["total", "3,000", "24,000"]
