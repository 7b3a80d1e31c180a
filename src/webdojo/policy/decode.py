"""The decode step: the text model's forward pass for one new token a row, in few operations.

A step over a few rows costs what its operations cost to start, so this does the same sums as the
model's own layers in a third of them: projections of one input are one product, norms are one
operation, queries and keys turn together. Weights are the model's: the joined ones take the place of
their parts, which become views of them, so whoever loads weights in place loads these. Invariant:
equal to `forward.text_hidden` up to rounding.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from transformers import PreTrainedModel

from webdojo.policy.forward import text_layers, text_model
from webdojo.policy.layouts import layout_of
from webdojo.policy.slots import SlotCache


class Decoder:
    """Decode steps of one model, which it owns from now on.

    Args:
        model: of a registered layout, on its device.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._axes = 3 if layout_of(model).images else 1
        self._embed: Any = model.get_input_embeddings()
        self._rotary = text_model(model).rotary_emb
        self._norm = text_model(model).norm
        self._layers = [_Layer(layer, index) for index, layer in enumerate(text_layers(model))]

    def cache(self) -> SlotCache:
        """An empty cache for this model's keys and values."""
        first, weight = self._layers[0], self._embed.weight
        return SlotCache(len(self._layers), first.key_heads, first.head_dim, weight.dtype, weight.device)

    def __call__(self, ids: torch.Tensor, positions: torch.Tensor, cache: SlotCache) -> torch.Tensor:
        """Last hidden states [rows, hidden] of one new text token for every running row.

        Args:
            ids: int64 [rows]
            positions: int64 [rows]: of text, so the same on all axes.
            cache: gets the tokens' keys and values.
        """
        mask = cache.step()
        hidden: torch.Tensor = self._embed(ids)
        axes = positions[:, None] if self._axes == 1 else positions[None, :, None].expand(3, -1, -1)
        cos, sin = self._rotary(hidden, axes)
        for layer in self._layers:
            hidden = layer(hidden, cos, sin, mask, cache)
        return _rms_norm(hidden, self._norm)


class _Layer:
    """One text layer."""

    def __init__(self, layer: Any, index: int) -> None:
        self._index = index
        self._attention, self._mlp = layer.self_attn, layer.mlp
        self._before_attention, self._before_mlp = layer.input_layernorm, layer.post_attention_layernorm
        self._norms = dict(self._attention.named_children())
        self.head_dim: int = self._attention.head_dim
        self.query_heads = self._attention.q_proj.out_features // self.head_dim
        self.key_heads = self._attention.k_proj.out_features // self.head_dim
        self._qkv = _join(self._attention.q_proj, self._attention.k_proj, self._attention.v_proj)
        self._gate_up = _join(self._mlp.gate_proj, self._mlp.up_proj)

    def __call__(
        self, hidden: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor, cache: SlotCache
    ) -> torch.Tensor:
        rows, turned = len(hidden), self.query_heads + self.key_heads
        qkv = F.linear(_rms_norm(hidden, self._before_attention), *self._qkv).view(rows, -1, self.head_dim)
        queries_keys = qkv[:, :turned]
        if "q_norm" in self._norms:
            queries = _rms_norm(qkv[:, : self.query_heads], self._norms["q_norm"])
            keys = _rms_norm(qkv[:, self.query_heads : turned], self._norms["k_norm"])
            queries_keys = torch.cat([queries, keys], dim=1)
        queries_keys = _turn(queries_keys, cos, sin)
        keys, values = cache.write(self._index, queries_keys[:, self.query_heads :], qkv[:, turned:])
        queries = queries_keys[:, : self.query_heads].reshape(rows, self.key_heads, -1, self.head_dim)
        seen = F.scaled_dot_product_attention(queries, keys, values, mask, scale=self._attention.scaling)
        output = self._attention.o_proj
        hidden = hidden + F.linear(seen.reshape(rows, -1), output.weight, output.bias)
        gate, up = F.linear(_rms_norm(hidden, self._before_mlp), *self._gate_up).chunk(2, dim=-1)
        down = self._mlp.down_proj
        return hidden + F.linear(self._mlp.act_fn(gate) * up, down.weight, down.bias)


def _rms_norm(x: torch.Tensor, norm: Any) -> torch.Tensor:
    return F.rms_norm(x, norm.weight.shape, norm.weight, norm.variance_epsilon)


def _turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of [rows, heads, head dim] by cos and sin [rows, 1, head dim]; both halves turn alike."""
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
