"""The cost of a recipe, computed from the recipe alone; `--dry-run` prints it.

All numbers are upper bounds except that of training episodes, which is a lower bound: dynamic
sampling rolls out more groups when some of them have no spread of rewards.
"""

from __future__ import annotations

from typing import NamedTuple

from webdojo.policy.config import screenshot_tokens
from webdojo.recipe import Recipe
from webdojo.rollout.config import HorizonSection
from webdojo.rollout.curriculum import stage_of


class Phase(NamedTuple):
    """The cost of one phase of a run."""

    name: str
    episodes: int
    turns: int
    """The most turns; every episode may end earlier."""
    sampled_tokens: int
    """The most tokens that the policy samples."""
    visual_tokens: int
    """The most screenshot tokens that the policy reads."""


def estimate(recipe: Recipe) -> list[Phase]:
    """The phases of a training run, in order: demonstrations, RL rollouts, evaluations."""
    seen = screenshot_tokens(recipe.browser.viewport_px) * recipe.harness.images
    rollout, train, evaluate = recipe.rollout, recipe.train, recipe.evaluate

    levels = recipe.env.difficulty_levels() if not recipe.tasks.path else None

    def longest(section: HorizonSection) -> int:
        return section.longest if levels is None else max(map(section.horizon, levels))

    def phase(name: str, episodes: int, turns: int, max_tokens: int) -> Phase:
        return Phase(name, episodes, turns, turns * max_tokens, turns * seen)

    demos, batch = recipe.sft.demos, train.groups_per_iteration * rollout.group_size
    during = max(train.iterations - 1, 0) // evaluate.every if evaluate.every else 0
    measured = (3 + during) * evaluate.tasks
    horizons = [longest(stage_of(train.stages, i) or rollout) for i in range(1, train.iterations + 1)]
    return [
        # The oracle acts in demonstrations, so the policy samples nothing there.
        phase("demonstrations", demos, demos * longest(rollout), 0),
        phase("rollouts", batch * train.iterations, batch * sum(horizons), rollout.sampling.max_tokens),
        phase("evaluation", measured, measured * longest(evaluate), evaluate.sampling.max_tokens),
    ]


def describe(recipe: Recipe) -> str:
    """The estimate as an aligned text table."""
    head = ("phase", "episodes", "turns", "sampled tokens", "visual tokens")
    phases = estimate(recipe)
    total = ("total", *(sum(column) for column in list(zip(*phases, strict=True))[1:]))
    rows = [head, *((name, *(f"{n:,}" for n in counts)) for name, *counts in (*phases, total))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]) for name, *cells in rows)
