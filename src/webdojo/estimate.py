"""What a recipe will cost, by arithmetic on the recipe alone; `--dry-run` prints it.

Everything here is an upper bound except the number of training episodes, which is a lower bound:
dynamic sampling rolls out more groups when some of them teach nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from webdojo.config import HorizonSection, Recipe

VISUAL_TOKEN_PX = 32
"""Side of the square that one visual token stands for: patches of 16 px, merged 2 by 2 (Qwen3-VL)."""


@dataclass(frozen=True)
class Phase:
    """Cost of one phase of a run."""

    name: str
    episodes: int
    turns: int
    """At most: every episode may end earlier."""
    sampled_tokens: int
    """At most: tokens that the policy writes."""
    visual_tokens: int
    """At most: screenshot tokens that the policy reads."""


def screenshot_tokens(viewport_px: tuple[int, int]) -> int:
    """Visual tokens of one screenshot of that size."""
    width, height = viewport_px
    return math.ceil(width / VISUAL_TOKEN_PX) * math.ceil(height / VISUAL_TOKEN_PX)


def estimate(recipe: Recipe) -> list[Phase]:
    """The phases of a training run, in order: demonstrations, RL rollouts, three evaluations."""
    seen = screenshot_tokens(recipe.browser.viewport_px) * recipe.harness.images
    rollout, train, evaluate = recipe.rollout, recipe.train, recipe.evaluate

    def phase(name: str, episodes: int, section: HorizonSection, max_tokens: int) -> Phase:
        turns = episodes * max(section.horizon(difficulty) for difficulty in recipe.tasks.difficulties)
        return Phase(name, episodes, turns, turns * max_tokens, turns * seen)

    groups = train.iterations * train.groups_per_iteration
    return [
        # The oracle acts in demonstrations, so the policy samples nothing there.
        phase("demonstrations", recipe.sft.demos, rollout, 0),
        phase("rollouts", groups * rollout.group_size, rollout, rollout.sampling.max_tokens),
        phase("evaluation", 3 * evaluate.tasks, evaluate, evaluate.sampling.max_tokens),
    ]


def describe(recipe: Recipe) -> str:
    """The estimate as an aligned text table."""
    head = ("phase", "episodes", "turns", "sampled tokens", "visual tokens")
    counts: list[tuple[int, ...]] = [(p.episodes, p.turns, p.sampled_tokens, p.visual_tokens) for p in estimate(recipe)]
    names = [*(p.name for p in estimate(recipe)), "total"]
    counts.append(tuple(map(sum, zip(*counts, strict=True))))
    rows = [head, *((name, *(f"{n:,}" for n in row)) for name, row in zip(names, counts, strict=True))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]) for name, *cells in rows)
