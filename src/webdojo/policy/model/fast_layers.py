"""Layers of `transformers` models that give the same results in less time.

Each function changes how a layer of a loaded model computes; its weights and their names stay. They reach into
classes of `transformers` (5.23 when this was written): a layer of another make is left as it is, so that a new
version makes a model slower but never wrong, and `tests/policy/model/test_fast_layers.py` fails.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from webdojo.policy.model.tree_attention import Piece

_LAYER_PARTS = {"input_layernorm", "self_attn", "post_attention_layernorm", "mlp"}


def multiply_patches(model: PreTrainedModel) -> None:
    """Make the vision tower's patch embedding a matrix product, in place.

    The models embed patches by a 3-D convolution whose kernel equals its stride, so every patch meets the kernel once.
    On a CPU the same sum as a matrix product is about five times faster, forward and backward.
    """
    inner: Any = model.model
    embedding: Any = inner.visual.patch_embed
    projection = embedding.proj
    if isinstance(projection, nn.Conv3d) and projection.kernel_size == projection.stride and projection.groups == 1:
        embedding.forward = MethodType(_embed_patches, embedding)


def _embed_patches(embedding: Any, patches: Tensor) -> Tensor:
    """[patches, channels * frames * side * side] to [patches, width]."""
    projection = embedding.proj
    weight = projection.weight.flatten(1)
    return F.linear(patches.to(weight.dtype), weight, projection.bias)


class _Narrow:
    """A mixin for a decoder layer that can compute its MLP only where a response token is predicted.

    Attention needs the layer's keys and values of every token. What comes after attention, an MLP that is most of a
    layer, is read by the LM head alone, and so only at the tokens before response tokens: a sixth of an agent's turn.
    In packed rows the other tokens' queries are left out, too.
    """

    def forward(
        self: Any,
        hidden_states: Tensor,
        *args: Any,
        predictors: Tensor | None = None,
        tree_of_predictors: list[Piece] | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Hidden states [1, T, hidden] at the T `predictors`, int64 indices into [B · L]; at all tokens without.

        `tree_of_predictors` takes the place of the other layers' `tree`, where attention goes by it.
        """
        if predictors is None:
            everywhere: Tensor = super().forward(hidden_states, *args, **kwargs)  # type: ignore[misc]
            return everywhere
        if tree_of_predictors is not None:
            kwargs["tree"] = tree_of_predictors
        attended, _ = self.self_attn(hidden_states=self.input_layernorm(hidden_states), **kwargs)
        hidden: Tensor = (hidden_states + attended).flatten(0, 1)[predictors][None]
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


def narrow(layer: nn.Module) -> None:
    """Let a decoder layer take `predictors`, if it has the usual parts."""
    kind = type(layer)
    if {name for name, _ in layer.named_children()} == _LAYER_PARTS and not is_narrow(layer):
        layer.__class__ = type(f"Narrow{kind.__name__}", (_Narrow, kind), {})


def is_narrow(layer: nn.Module) -> bool:
    """Whether the layer takes `predictors`."""
    return isinstance(layer, _Narrow)
