"""The decode step: the text model's forward pass for one new token a sequence, in few operations.

A step over a few sequences costs what its operations cost to start, so this does the same sums as the
model's own layers in a third of them: projections of one input are one product, norms are one
operation, queries and keys turn together. Weights are the model's: the joined ones take the place of
their parts, which become views of them, so whoever loads weights in place loads these. An MLP of
experts is left as it is. Invariant: equal to `forward.text_hidden` up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from transformers import PreTrainedModel

from webdojo.policy.hf.kv_cache import KVCache
from webdojo.policy.model.forward import text_layers, text_model
from webdojo.policy.model.layouts import layout_of


class Decoder:
    """Decode steps of one model, which it owns from now on."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._axes = 3 if layout_of(model).images else 1
        embed: Any = model.get_input_embeddings()
        self._embedding: torch.Tensor = embed.weight
        self._rotary = text_model(model).rotary_emb
        self._norm = _norm(text_model(model).norm)
        self._layers = [_Layer(layer, index) for index, layer in enumerate(text_layers(model))]

    def cache(self) -> KVCache:
        """An empty cache for this model's keys and values."""
        first, weight = self._layers[0], self._embedding
        return KVCache(len(self._layers), first.key_heads, first.head_dim, weight.dtype, weight.device)

    def __call__(self, ids: torch.Tensor, positions: torch.Tensor, cache: KVCache) -> torch.Tensor:
        """Last hidden states [n, hidden] of one new text token, `ids` [n], for each of the n running sequences.

        Their positions [n] are the same on all axes. `cache` gets the tokens' keys and values.
        """
        mask = cache.step()
        hidden = F.embedding(ids, self._embedding)
        axes = positions[:, None] if self._axes == 1 else positions[None, :, None].expand(3, -1, -1)
        cos, sin = self._rotary(hidden, axes)
        if cos.ndim == 4:  # one for each axis, in older releases of transformers; here the same for all
            cos, sin = cos[0], sin[0]
        for layer in self._layers:
            hidden = layer(hidden, cos, sin, mask, cache)
        return self._norm(hidden)


class _Layer:
    """One text layer. What a step needs is taken out of the modules once, because looking it up costs as much."""

    def __init__(self, layer: Any, index: int) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        self._index = index
        self.head_dim: int = attention.head_dim
        self._query_heads: int = attention.q_proj.out_features // self.head_dim
        self.key_heads: int = attention.k_proj.out_features // self.head_dim
        self._scale: float = attention.scaling
        self._qkv = _join(attention.q_proj, attention.k_proj, attention.v_proj)
        self._output = attention.o_proj.weight, attention.o_proj.bias
        self._mlp = _Experts(mlp) if "experts" in dict(mlp.named_children()) else _MLP(mlp)
        self._before_attention = _norm(layer.input_layernorm)
        self._before_mlp = _norm(layer.post_attention_layernorm)
        self._head_norms = [_norm(part) for name, part in attention.named_children() if name in ("q_norm", "k_norm")]

    def __call__(
        self, hidden: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor, cache: KVCache
    ) -> torch.Tensor:
        count, queried, turned = len(hidden), self._query_heads, self._query_heads + self.key_heads
        qkv = F.linear(self._before_attention(hidden), *self._qkv).view(count, -1, self.head_dim)
        queries_keys = qkv[:, :turned]
        if self._head_norms:
            of_queries, of_keys = self._head_norms
            queries_keys = torch.cat([of_queries(qkv[:, :queried]), of_keys(qkv[:, queried:turned])], dim=1)
        queries_keys = _turn(queries_keys, cos, sin)
        keys, values = cache.update(queries_keys[:, queried:, None], qkv[:, turned:, None], self._index)
        queries = queries_keys[:, :queried].reshape(count, self.key_heads, -1, self.head_dim)
        seen = F.scaled_dot_product_attention(queries, keys, values, mask, scale=self._scale)
        hidden = hidden + F.linear(seen.reshape(count, -1), *self._output)
        return hidden + self._mlp(self._before_mlp(hidden))


class _MLP:
    """A gated MLP whose two input projections are one product."""

    def __init__(self, mlp: Any) -> None:
        self._gate_up = _join(mlp.gate_proj, mlp.up_proj)
        self._down = mlp.down_proj.weight, mlp.down_proj.bias
        self._activate = mlp.act_fn

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        gate, up = F.linear(hidden, *self._gate_up).chunk(2, dim=-1)
        return F.linear(self._activate(gate) * up, *self._down)


class _Experts:
    """A mixture of experts, as the model computes it."""

    def __init__(self, mlp: Any) -> None:
        self._mlp = mlp

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        mixed: torch.Tensor = self._mlp(hidden[None])[0]
        return mixed


def _norm(module: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    weight: torch.Tensor = module.weight
    return lambda x: torch.rms_norm(x, weight.shape, weight, module.variance_epsilon)


def _turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of [n, heads, head dim] by cos and sin [n, 1, head dim]; both halves turn alike."""
    half = x.shape[-1] // 2
    out = x * cos
    out[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-1)
    out[..., half:].addcmul_(x[..., :half], sin[..., half:])
    return out


def _join(*parts: nn.Linear) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Weight and bias of linear layers with one input as one; theirs become views of it."""
    weight = torch.cat([part.weight.data for part in parts])
    bias = None if parts[0].bias is None else torch.cat([part.bias.data for part in parts])
    start = 0
    for part in parts:
        end = start + part.out_features
        part.weight.data = weight[start:end]
        if bias is not None:
            part.bias.data = bias[start:end]
        start = end
    return weight, bias
