"""A whole run in seconds: a random small model, few tasks, short episodes.

The random model does nothing sensible, but some of its answers end with the stop token (a format
error, reward -1) and some do not (out of tokens, reward 0), so its groups can train.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.policy.conftest import family_dirs, model_dir
from webdojo.recipe import Recipe, load_recipe

__all__ = ["family_dirs", "model_dir", "small_recipe"]

SmallRecipe = Callable[..., Recipe]

SMALL = [
    *("sft.demos=2", "sft.epochs=1", "evaluate.tasks=2", "evaluate.max_steps=1", "evaluate.sampling.max_tokens=4"),
    *("train.iterations=1", "train.groups_per_iteration=1", "train.max_groups_per_iteration=30", "train.lr=1e-6"),
    *("rollout.group_size=3", "rollout.concurrency=6", "rollout.max_steps=2", "rollout.max_context_tokens=8192"),
    *("rollout.sampling.max_tokens=100", "harness.max_format_errors=1", "env.difficulties=[1]"),
    *("rollout.max_staleness=1", "train.threads=1"),
]


@pytest.fixture(scope="session")
def small_recipe(model_dir: Path) -> SmallRecipe:
    """Makes the recipe, with overrides."""
    return lambda *overrides: load_recipe("quickstart", [*SMALL, f"model.path={model_dir}", *overrides])
