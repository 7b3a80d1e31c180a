"""Keys of a recipe that have no effect beside others."""

from __future__ import annotations

from webdojo.recipe import Recipe
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.losses import LOSSES


def without_effect(recipe: Recipe) -> list[str]:
    """A line for each key that a recipe sets and that does nothing."""
    train, lines = recipe.train, list[str]()
    if not train.iterations:
        return lines
    plain = TrainConfig.model_fields["advantage"].default
    if LOSSES.get(train.policy_loss).positives_only and train.advantage != plain:
        lines.append(
            f"train.advantage {train.advantage!r} has no effect: the loss {train.policy_loss!r} learns from positives "
            "only, whose advantage is 1"
        )
    stages = [stage.longest for stage in train.stages]
    if stages and recipe.rollout.longest not in stages:
        lines.append(
            f"rollout.max_steps {recipe.rollout.max_steps} has no effect on online training: its episodes go by "
            f"train.stages, up to {' and then '.join(map(str, stages))} turns"
        )
    return lines
