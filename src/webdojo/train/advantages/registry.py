"""The advantages by the name that a recipe gives them."""

from __future__ import annotations

from webdojo.plugins import Registry, instance_of
from webdojo.train.advantages import group, reinforce
from webdojo.train.advantages.advantage import Advantage

ADVANTAGES: Registry[Advantage] = Registry(
    "webdojo.advantages",
    "advantage",
    *instance_of(Advantage),
    {
        "grpo": group.GRPO,
        "dr_grpo": group.DR_GRPO,
        "rloo": group.RLOO,
        "reinforce": reinforce.REINFORCE,
        "reinforce_baseline": reinforce.REINFORCE_BASELINE,
        "reinforce_plus_plus": reinforce.REINFORCE_PLUS_PLUS,
        "reinforce_plus_plus_baseline": reinforce.REINFORCE_PLUS_PLUS_BASELINE,
    },
)
"""What `train.advantage` of a recipe may be."""
