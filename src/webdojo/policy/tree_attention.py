"""Attention over a packed row that computes only what the tree has.

A dense mask costs the square of a row; in a tree most pairs of tokens are on different branches. A row is
made of pieces, runs of tokens on one path: within its piece a token sees what is before it, and beyond that
every token of the piece sees the same keys, a few whole runs of the row. So no mask is needed: a piece attends
to itself causally and to each run fully, by the flash kernel that `scaled_dot_product_attention` uses on a CPU,
and the parts are joined by their log-sum-exps. Backwards, the kernel with the joined output and log-sum-exp
gives each part's share of the gradient. Memory is linear in the row.

The attention goes by `TREE` in `transformers`; a model that is told to use it takes the plan of a row as
the keyword `tree`, and without one does what `sdpa` does. For the CPU; on a GPU FlexAttention does the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

TREE = "webdojo_tree"

_attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_attend_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


@dataclass(frozen=True)
class Piece:
    """Neighbouring tokens of a row, each of which continues the path of the one before it."""

    tokens: slice
    above: tuple[slice, ...]
    """The earlier tokens of the row that all of them see."""


def plan(ends: Tensor) -> list[Piece]:
    """The pieces of a row from its `ends` [L]: `q` sees `j` where `j <= q < ends[j]`."""
    length = len(ends)
    forks = torch.nonzero(ends[:-1] <= torch.arange(1, length)).squeeze(-1) + 1
    bounds = [0, *forks.tolist(), length]
    return [
        Piece(slice(*bound), _runs(torch.nonzero(ends[: bound[0]] > bound[0]).squeeze(-1)))
        for bound in pairwise(bounds)
    ]


def _runs(indices: Tensor) -> tuple[slice, ...]:
    """Ascending indices as the runs of neighbours that they form."""
    if not len(indices):
        return ()
    cuts = torch.nonzero(indices.diff() != 1).squeeze(-1) + 1
    bounds = [0, *cuts.tolist(), len(indices)]
    return tuple(slice(int(indices[a]), int(indices[b - 1]) + 1) for a, b in pairwise(bounds))


def tree_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    tree: list[Piece] | None = None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """`transformers`' attention function: query [1, heads, L, d], key and value [1, kv heads, L, d]."""
    if tree is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    said: Tensor = _TreeAttention.apply(query, key, value, tree, scaling)
    return said, None


class _TreeAttention(torch.autograd.Function):
    """To [1, L, heads, d]. Heads that share keys are `group` heads of a kv head; in full attention they are no
    more than further queries, so there they are folded into them: [1, kv heads, n * group, d]."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, tree: list[Piece], scaling: float | None
    ) -> Tensor:
        said = torch.empty_like(query.transpose(1, 2), memory_format=torch.contiguous_format)
        normal = query.new_empty(query.shape[1:3], dtype=torch.promote_types(query.dtype, torch.float32))
        kv_heads = key.shape[1]
        asked, answers, normals = (_by_kv_head(t, kv_heads) for t in (query[0], said[0].transpose(0, 1), normal))
        group = asked.shape[1]
        for piece in tree:
            at = piece.tokens
            own = asked[:, :, at]
            keys, values = (_repeated(t[0, :, at], group) for t in (key, value))
            out, weight = _attend(own, keys, values, 0.0, True, scale=scaling)
            folded = _fold(own) if piece.above else own
            for run in piece.above:
                more, other = _attend(folded, key[:, :, run], value[:, :, run], 0.0, False, scale=scaling)
                more, other = _unfold(more, group), _unfold(other, group)
                share = torch.sigmoid(weight - other).to(out.dtype)
                out, weight = torch.lerp(more, out, share[..., None]), torch.logaddexp(weight, other)
            answers[:, :, at], normals[:, :, at] = out, weight
        ctx.save_for_backward(query, key, value, said, normal)
        ctx.tree, ctx.scaling = tree, scaling
        return said

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, said, normal = ctx.saved_tensors
        kv_heads = key.shape[1]
        grad_query = torch.empty_like(said)
        grad_key, grad_value = (t.new_zeros(t.transpose(1, 2).shape).transpose(1, 2) for t in (key, value))
        asked, answers, normals, wanted, found = (
            _by_kv_head(t, kv_heads)
            for t in (
                query[0],
                said[0].transpose(0, 1),
                normal,
                grads[0][0].transpose(0, 1),
                grad_query[0].transpose(0, 1),
            )
        )
        group = asked.shape[1]
        for piece in ctx.tree:
            at = piece.tokens
            own = [t[:, :, at] for t in (wanted, asked, answers, normals)]
            keys, values = (_repeated(t[0, :, at], group) for t in (key, value))
            of_query, of_key, of_value = _backward(own, keys, values, True, ctx.scaling)
            grad_key[0, :, at] += of_key.sum(1)
            grad_value[0, :, at] += of_value.sum(1)
            folded = [_fold(t) for t in own] if piece.above else own
            for run in piece.above:
                more, of_key, of_value = _backward(folded, key[:, :, run], value[:, :, run], False, ctx.scaling)
                of_query = of_query + _unfold(more, group)
                grad_key[:, :, run] += of_key
                grad_value[:, :, run] += of_value
            found[:, :, at] = of_query
        return grad_query.transpose(1, 2), grad_key, grad_value, None, None


def _backward(own: list[Tensor], keys: Tensor, values: Tensor, causal: bool, scaling: float | None) -> Any:
    wanted, asked, answers, normals = own
    return _attend_backward(wanted, asked, keys, values, answers, normals, 0.0, causal, scale=scaling)


def _by_kv_head(tensor: Tensor, kv_heads: int) -> Tensor:
    """[heads, L, ...] to [kv heads, group, L, ...]"""
    return tensor.unflatten(0, (kv_heads, -1))


def _repeated(tensor: Tensor, group: int) -> Tensor:
    """[kv heads, n, d] to [kv heads, group, n, d], without a copy."""
    return tensor[:, None].expand(-1, group, -1, -1)


def _fold(tensor: Tensor) -> Tensor:
    """[kv heads, group, n, ...] to [1, kv heads, n * group, ...]"""
    return tensor.transpose(1, 2).flatten(1, 2)[None]


def _unfold(tensor: Tensor, group: int) -> Tensor:
    """[1, kv heads, n * group, ...] to [kv heads, group, n, ...]"""
    return tensor[0].unflatten(1, (-1, group)).transpose(1, 2)


AttentionInterface.register(TREE, tree_attention)
