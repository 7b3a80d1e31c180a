"""Episodes, turns and tokens of a recipe, and roughly the hours that they take."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from transformers import PreTrainedModel

from webdojo.errors import Missing, TaskError
from webdojo.policy.config import screenshot_tokens
from webdojo.policy.model.layouts import layout_of
from webdojo.recipe import Recipe
from webdojo.rollout.config import HorizonSection
from webdojo.rollout.curriculum import stage_of

AT_LEAST = "rollouts, at least"
"""The phase of training episodes where dynamic sampling may roll out more."""


class Phase(NamedTuple):
    """The cost of one phase of a run: upper bounds, but for training episodes, of which dynamic sampling rolls out more
    when some groups have no spread of rewards."""

    name: str
    episodes: int
    turns: int
    """The most turns; every episode may end earlier."""
    sampled_tokens: int
    """The most tokens that the policy samples."""
    visual_tokens: int
    """The most screenshot tokens that the policy reads."""


def visual_token_px(path: str, model: PreTrainedModel | None) -> int:
    """Side of the square that one visual token of a model stands for: its patches, merged 2 by 2. Where only the path
    is known, that of its family: 28 in Qwen2.5-VL, 32 in Qwen3-VL."""
    if model is None or not layout_of(model).images:
        return 28 if "qwen2.5-vl" in path.lower() else 32
    vision: Any = model.config.vision_config
    return int(vision.patch_size * vision.spatial_merge_size)


def estimate(recipe: Recipe, model: PreTrainedModel | None = None) -> list[Phase]:
    """The phases of a training run, in order: demonstrations, exploration of cycles, RL rollouts, evaluations. Of the
    model only the shapes are read."""
    seen = seen_tokens(recipe, model) * recipe.harness.images
    rollout, train, evaluate = recipe.rollout, recipe.train, recipe.evaluate

    levels = difficulties(recipe)

    def longest(section: HorizonSection) -> int:
        return section.longest if levels is None else max(map(section.horizon, levels))

    def phase(name: str, episodes: int, turns: int, max_tokens: int) -> Phase:
        return Phase(name, episodes, turns, turns * max_tokens, turns * seen)

    demos, batch = recipe.sft.demonstrated, train.groups_per_iteration * rollout.group_size
    during = max(train.iterations - 1, 0) // evaluate.every if evaluate.every else 0
    cycles = recipe.cycles
    explored = cycles.rounds * cycles.tasks * cycles.max_attempts
    models = 1 + bool(recipe.sft.demos or recipe.sft.data) + cycles.rounds + (train.iterations > 0)
    measured = (models + during) * heldout_tasks(recipe) * evaluate.runs
    horizons = [longest(stage_of(train.stages, i) or rollout) for i in range(1, train.iterations + 1)]
    name = AT_LEAST if train.dynamic_sampling else "rollouts"
    return [
        # The oracle acts in demonstrations, so the policy samples nothing there.
        phase("demonstrations", demos, demos * longest(rollout), 0),
        *(
            [phase("exploration", explored, explored * longest(rollout), rollout.sampling.max_tokens)]
            if explored
            else []
        ),
        phase(name, batch * train.iterations, batch * sum(horizons), rollout.sampling.max_tokens),
        phase("evaluation", measured, measured * longest(evaluate), evaluate.sampling.max_tokens),
    ]


def heldout_tasks(recipe: Recipe) -> int:
    """How many tasks an evaluation has: `evaluate.tasks`, or all that there are; the first, too, where nobody has
    brought them yet."""
    if recipe.env.endless and not (recipe.tasks.path or recipe.tasks.eval_path):
        return recipe.evaluate.tasks
    try:
        return len(recipe.draw("eval", recipe.evaluate.tasks))
    except (Missing, TaskError):
        return recipe.evaluate.tasks


def difficulties(recipe: Recipe) -> Collection[int] | None:
    """Difficulties of the environment's training tasks; None where a file has them, or nobody has brought them yet."""
    if recipe.tasks.path:
        return None
    try:
        return recipe.env.difficulty_levels()
    except Missing:
        return None


def cost_table(recipe: Recipe, model: PreTrainedModel | None = None) -> str:
    head = ("phase", "episodes", "turns", "sampled tokens", "visual tokens")
    phases = [phase for phase in estimate(recipe, model) if phase.episodes]
    total = Phase("total", *map(sum, zip(*(phase[1:] for phase in phases), strict=True)))
    rows = [head, *((phase.name, *(f"{n:,}" for n in phase[1:])) for phase in (*phases, total))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]) for name, *cells in rows)


def seen_tokens(recipe: Recipe, model: PreTrainedModel | None) -> int:
    """Visual tokens of one screenshot."""
    return screenshot_tokens(recipe.browser.viewport_px, visual_token_px(recipe.model.path, model))
