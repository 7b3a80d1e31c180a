"""The advantages by the name that a recipe gives them."""

from __future__ import annotations

from webdojo.plugins import Registry, instance_of
from webdojo.trainer.advantages import baselines
from webdojo.trainer.advantages.advantage import Advantage

ADVANTAGES: Registry[Advantage] = Registry(
    "webdojo.advantages",
    "advantage",
    *instance_of(Advantage),
    {
        "grpo": baselines.GRPO,
        "dr_grpo": baselines.DR_GRPO,
        "rloo": baselines.RLOO,
        "reinforce": baselines.REINFORCE,
        "reinforce_baseline": baselines.REINFORCE_BASELINE,
        "reinforce_plus_plus": baselines.REINFORCE_PLUS_PLUS,
        "reinforce_plus_plus_baseline": baselines.REINFORCE_PLUS_PLUS_BASELINE,
    },
)
"""What `train.advantage` of a recipe may be."""
