"""The patch embedding as the matrix product that it is.

The models embed patches by a 3-D convolution whose kernel equals its stride: every patch meets the
kernel once. On a CPU the same sum as a matrix product is about five times faster, forward and
backward. Weights, classes and results stay what they are.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel


def multiply_patches(model: PreTrainedModel) -> None:
    """Make the vision tower's patch embedding a matrix product, in place."""
    inner: Any = model.model
    embedding: nn.Module = inner.visual.patch_embed
    embedding.forward = MethodType(_forward, embedding)  # type: ignore[method-assign]


def _forward(embedding: Any, patches: torch.Tensor) -> torch.Tensor:
    """[patches, channels * frames * side * side] to [patches, width]."""
    projection = embedding.proj
    weight = projection.weight.flatten(1)
    return F.linear(patches.to(weight.dtype), weight, projection.bias)
