"""What an update has to compute, counted from its shapes: two operations a multiply-add, backward twice the forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel

from webdojo.policy.model.collate import Batch
from webdojo.policy.model.fast_layers import is_narrow


@dataclass(frozen=True)
class Work:
    """What goes through a model."""

    tokens: int
    """Of the text model, padding too."""
    pairs: int
    """Of a token and one that it sees."""
    predicted: int
    """Tokens that go through the LM head."""
    patches: tuple[int, ...]
    """Of each image that goes through the vision tower."""

    def __add__(self, other: Work) -> Work:
        return Work(
            self.tokens + other.tokens,
            self.pairs + other.pairs,
            self.predicted + other.predicted,
            self.patches + other.patches,
        )


NOTHING = Work(0, 0, 0, ())


def work_of(batch: Batch) -> Work:
    """The work of a batch or packed row."""
    rows, length = batch.input_ids.shape
    own = rows * length * (length + 1) // 2
    pairs = own if batch.ends is None else int((batch.ends - torch.arange(length)).sum())
    patches = () if batch.image_grid_thw is None else tuple(batch.image_grid_thw.prod(1).tolist())
    return Work(batch.input_ids.numel(), pairs, len(batch.targets), patches)


def flops(model: PreTrainedModel, work: Work) -> dict[str, float]:
    """Operations of a forward and backward pass by part: `linear` (of the text layers), `attention`, `head`, `vision`.

    The model may be on the meta device.
    """
    inner: Any = model.model
    text, vision = inner.language_model, inner.visual
    config, seen = text.config, vision.config
    by_token = 2 * _weights(text.layers)
    by_pair = 4 * config.num_attention_heads * config.head_dim * config.num_hidden_layers
    by_predicted = 2 * config.hidden_size * config.vocab_size
    skipped = 2 * _weights(text.layers[-1].mlp) * (work.tokens - work.predicted) if is_narrow(text.layers[-1]) else 0
    merged = seen.spatial_merge_size**2
    by_patch = 2 * (_weights(vision.blocks) + _weights(vision.patch_embed))
    by_patch += 2 * (_weights(vision.merger) + _weights(vision.deepstack_merger_list)) / merged
    by_patch_pair = 4 * seen.hidden_size * seen.depth
    forward = {
        "linear": by_token * work.tokens - skipped,
        "attention": by_pair * work.pairs,
        "head": by_predicted * work.predicted,
        "vision": sum(by_patch * n + by_patch_pair * n * n for n in work.patches),
    }
    return {part: 3.0 * count for part, count in forward.items()}


def _weights(module: torch.nn.Module) -> int:
    """Of matrices: what every token is multiplied with."""
    return sum(p.numel() for p in module.parameters() if p.ndim >= 2)
