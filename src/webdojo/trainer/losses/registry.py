"""The policy losses by the name that a recipe gives them."""

from __future__ import annotations

from webdojo.plugins import Registry, instance_of
from webdojo.trainer.losses.likelihood import BC, CISPO
from webdojo.trainer.losses.loss import Loss
from webdojo.trainer.losses.ppo import CLIP, DECOUPLED, GSPO, RAFT

LOSSES: Registry[Loss] = Registry(
    "webdojo.losses",
    "loss",
    *instance_of(Loss),
    {"clip": CLIP, "decoupled": DECOUPLED, "gspo": GSPO, "cispo": CISPO, "raft": RAFT, "bc": BC},
)
"""What `train.policy_loss` of a recipe may be."""
