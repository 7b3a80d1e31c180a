"""The last text layer, computed to its end only where a response token is predicted.

Attention needs its keys and values of every token; what comes after attention, an MLP that is most of a layer, is
read by the LM head alone, and so only at the tokens before response tokens: of an agent's turn a sixth. In packed
rows the others' queries ask nothing either.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from webdojo.policy.tree_attention import Piece

_PARTS = {"input_layernorm", "self_attn", "post_attention_layernorm", "mlp"}


class _Narrow:
    """A mixin for a decoder layer of these parts: attention, then an MLP, each added to what came in."""

    input_layernorm: nn.Module
    self_attn: nn.Module
    post_attention_layernorm: nn.Module
    mlp: nn.Module

    def forward(
        self,
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
    if {name for name, _ in layer.named_children()} == _PARTS and not is_narrow(layer):
        layer.__class__ = type(f"Narrow{kind.__name__}", (_Narrow, kind), {})


def is_narrow(layer: nn.Module) -> bool:
    """Whether it takes `predictors`."""
    return isinstance(layer, _Narrow)
