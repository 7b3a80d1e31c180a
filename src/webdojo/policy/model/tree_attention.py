"""Attention over a packed row that computes only what the tree has: `q` sees `j` where `j <= q < ends[j]`.

A dense mask costs the square of a row; in a tree most pairs of tokens are on different branches. On a GPU FlexAttention
passes over them by a mask of blocks. On a CPU a row is made of pieces, runs of tokens on one path: within its piece a
token sees what is before it, and beyond that every token of the piece sees the same keys, a few whole runs of the row.
So no mask is needed: a piece attends to itself causally and to these runs fully, by the flash kernel that
`scaled_dot_product_attention` uses on a CPU, and both parts are joined by their log-sum-exps. Backwards, the kernel
with the joined output and log-sum-exp gives each part's share of the gradient. Memory is linear in the row. Where only
some tokens' answers are read, as in the last layer, the others are pieces that ask nothing.

The attention of pieces goes by `TREE` in `transformers`, that of blocks by `FLEX`. A model that is told to use one of
them takes the plan of a row as the keyword `tree`, or its block mask as the mask, and without does what `sdpa` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, flex_attention
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

TREE = "webdojo_tree"
FLEX = "webdojo_flex"
BLOCK = 128
"""Tokens a side of the squares that FlexAttention computes or leaves out; its own choice."""
KERNEL_OPTIONS = {"FORCE_USE_FLEX_ATTENTION": True}
"""Queries of less than a block would go to a kernel for decoding, which takes no mask of such blocks."""
RECOMPILE_LIMIT = 64
"""Kinds of calls that FlexAttention is compiled for (with gradients and without, one length and any, each model):
past torch's own limit it would compute every pair of tokens."""

_attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_attend_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def row_mask(attention: str, ends: Tensor, predictors: Tensor | None) -> dict[str, Any]:
    """What tells a text model of that kind of attention what the tokens of a row see, by its `ends` [L], and a narrow
    last layer that only its `predictors` ask."""
    if attention == TREE:
        # A mask of four dimensions is left as it is; the tree stands for it.
        mask = {"tree": plan(ends), "attention_mask": torch.ones(1, 1, 1, 1, dtype=torch.bool, device=ends.device)}
        return mask if predictors is None else mask | {"tree_of_predictors": plan(ends, predictors)}
    if attention == FLEX:
        return {"attention_mask": block_mask(ends)}
    at = torch.arange(len(ends), device=ends.device)
    return {"attention_mask": ((at[None, :] <= at[:, None]) & (at[:, None] < ends[None, :]))[None, None]}


def block_mask(ends: Tensor) -> BlockMask:
    """The mask of a row from its `ends` [L], as FlexAttention wants it, on their device.

    `create_block_mask` looks at every pair: at the 156,000 tokens of a group that is 24 GB for a mask that one vector
    says. Of that vector the largest and the smallest entry of a block tell whether any and whether all of another
    block's tokens see it.
    """
    length = len(ends)
    blocks = -(-length // BLOCK)
    by_block = F.pad(ends, (0, blocks * BLOCK - length)).view(blocks, BLOCK)
    number = torch.arange(blocks, device=ends.device)
    begins = (number * BLOCK)[:, None]
    earlier = number[None] < number[:, None]
    seen = earlier & (by_block.amax(1)[None] > begins) | (number[None] == number[:, None])
    whole = earlier & (by_block.amin(1)[None] >= begins + BLOCK)

    def sees(batch: Tensor, head: Tensor, q: Tensor, j: Tensor) -> Tensor:
        return (j <= q) & (q < ends[j])

    return BlockMask.from_kv_blocks(
        *_listed(seen & ~whole), *_listed(whole), BLOCK_SIZE=BLOCK, mask_mod=sees, seq_lengths=(length, length)
    )


def _listed(chosen: Tensor) -> tuple[Tensor, Tensor]:
    """bool [query blocks, key blocks] as counts int32 [1, 1, query blocks] and indices int32 [1, 1, query blocks,
    key blocks], the chosen ones first."""
    counts = chosen.sum(1, dtype=torch.int32)
    indices = chosen.to(torch.int8).argsort(dim=1, descending=True, stable=True).to(torch.int32)
    return counts[None, None], indices[None, None]


@dataclass(frozen=True)
class Piece:
    """Neighbouring tokens of a row, each of which continues the path of the one before it."""

    tokens: slice
    above: tuple[slice, ...]
    """The earlier tokens of the row that all of them see."""
    asks: bool = True
    """Whether the answers at its tokens are read; they are zero where not."""


def plan(ends: Tensor, asking: Tensor | None = None) -> list[Piece]:
    """The pieces of a row from its `ends` [L]: `q` sees `j` where `j <= q < ends[j]`.

    `asking`, int64 indices into the row: the tokens whose answers are read; without it, all are.
    """
    last = ends.numpy()
    asks = np.full(len(last), asking is None)
    if asking is not None:
        asks[asking.numpy()] = True
    cuts = np.flatnonzero((last[:-1] <= np.arange(1, len(last))) | (asks[1:] != asks[:-1])) + 1
    bounds = pairwise([0, *cuts.tolist(), len(last)])
    return [
        Piece(slice(a, b), _runs(np.flatnonzero(last[:a] > a)) if asks[a] else (), bool(asks[a])) for a, b in bounds
    ]


def _runs(indices: np.ndarray) -> tuple[slice, ...]:
    """Ascending indices as the runs of neighbours that they form."""
    if not len(indices):
        return ()
    bounds = [0, *(np.flatnonzero(np.diff(indices) != 1) + 1).tolist(), len(indices)]
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
    """The attention function that `transformers` calls: query [1, heads, L, d], key and value [1, kv heads, L, d]."""
    if tree is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    said: Tensor = _TreeAttention.apply(query, key, value, tree, scaling)
    return said, None


class _TreeAttention(torch.autograd.Function):
    """Attention to [1, L, heads, d].

    `group` query heads share the keys of a kv head. In full attention they are no more than further queries, so tensors
    of queries are folded to [kv heads, L * group, ...], the heads of a token together; in causal attention they stay
    heads.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, tree: list[Piece], scaling: float | None
    ) -> Tensor:
        kv_heads, group = key.shape[1], query.shape[1] // key.shape[1]
        asked = _fold(query[0].transpose(0, 1), kv_heads)
        said, more = torch.zeros_like(asked), torch.zeros_like(asked)
        normal = asked.new_zeros(asked.shape[:2], dtype=torch.promote_types(query.dtype, torch.float32))
        other = torch.full_like(normal, -math.inf)
        by_head = [_by_head(t, group) for t in (asked, said, normal)] + [_repeated(t, group) for t in (key, value)]
        for piece, own, out, weight, keys, values in zip(tree, *(_parts(t, 2, tree) for t in by_head), strict=True):
            if piece.asks:
                found = _attend(own, keys, values, 0.0, True, scale=scaling)
                out.copy_(found[0])
                weight.copy_(found[1])
        folded = [_parts(t[None], 2, tree, group) for t in (asked, more, other)]
        for piece, own, out, weight in zip(tree, *folded, strict=True):
            if piece.above:
                keys, values = (_gathered(t, piece.above) for t in (key, value))
                found = _attend(own, keys, values, 0.0, False, scale=scaling)
                out.copy_(found[0])
                weight.copy_(found[1])
        share = torch.sigmoid(normal - other).to(said.dtype)
        said = _unfold(torch.lerp(more, said, share[..., None]), group)[None]
        ctx.save_for_backward(query, key, value, said, torch.logaddexp(normal, other))
        ctx.tree, ctx.scaling = tree, scaling
        return said

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, said, normal = ctx.saved_tensors
        tree: list[Piece] = ctx.tree
        kv_heads, group = key.shape[1], query.shape[1] // key.shape[1]
        asked = [*(_fold(t, kv_heads) for t in (grads[0][0], query[0].transpose(0, 1), said[0])), normal]
        of_query, of_more = torch.zeros_like(asked[1]), torch.zeros_like(asked[1])
        grad_key, grad_value = (t.new_zeros(t.transpose(1, 2).shape).transpose(1, 2) for t in (key, value))
        by_head = [_by_head(t, group) for t in (*asked, of_query)] + [_repeated(t, group) for t in (key, value)]
        parts = [_parts(t, 2, tree) for t in by_head] + [_parts(t[0], 1, tree) for t in (grad_key, grad_value)]
        for piece, *own, out, keys, values, of_keys, of_values in zip(tree, *parts, strict=True):
            if piece.asks:
                found = _backward(own, keys, values, True, ctx.scaling)
                out.copy_(found[0])
                torch.sum(found[1], 1, out=of_keys)
                torch.sum(found[2], 1, out=of_values)
        folded = [_parts(t[None], 2, tree, group) for t in (*asked, of_more)]
        for piece, *own, out in zip(tree, *folded, strict=True):
            if piece.above:
                keys, values = (_gathered(t, piece.above) for t in (key, value))
                found = _backward(own, keys, values, False, ctx.scaling)
                out.copy_(found[0])
                _scatter(grad_key, piece.above, found[1])
                _scatter(grad_value, piece.above, found[2])
        return _unfold(of_query.add_(of_more), group)[None].transpose(1, 2), grad_key, grad_value, None, None


def _backward(own: list[Tensor], keys: Tensor, values: Tensor, causal: bool, scaling: float | None) -> Any:
    wanted, asked, answers, normals = own
    return _attend_backward(wanted, asked, keys, values, answers, normals, 0.0, causal, scale=scaling)


def _fold(tensor: Tensor, kv_heads: int) -> Tensor:
    """[L, heads, d] to [kv heads, L * group, d]"""
    return tensor.unflatten(1, (kv_heads, -1)).transpose(0, 1).flatten(1, 2)


def _unfold(tensor: Tensor, group: int) -> Tensor:
    """[kv heads, L * group, d] to [L, heads, d]"""
    return tensor.unflatten(1, (-1, group)).transpose(0, 1).flatten(1, 2)


def _by_head(tensor: Tensor, group: int) -> Tensor:
    """[kv heads, L * group, ...] to [kv heads, group, L, ...], without a copy."""
    return tensor.unflatten(1, (-1, group)).transpose(1, 2)


def _repeated(tensor: Tensor, group: int) -> Tensor:
    """[1, kv heads, L, d] to [kv heads, group, L, d], without a copy."""
    return tensor[0, :, None].expand(-1, group, -1, -1)


def _parts(tensor: Tensor, dim: int, tree: list[Piece], each: int = 1) -> tuple[Tensor, ...]:
    """The pieces' parts of a tensor that has `each` entries a token along `dim`, without copies."""
    return tensor.split([(piece.tokens.stop - piece.tokens.start) * each for piece in tree], dim)


def _gathered(tensor: Tensor, runs: Sequence[slice]) -> Tensor:
    """The tokens of all runs: [1, kv heads, L, d] to [1, kv heads, n, d]."""
    return tensor[:, :, runs[0]] if len(runs) == 1 else torch.cat([tensor[:, :, run] for run in runs], 2)


def _scatter(total: Tensor, runs: Sequence[slice], tensor: Tensor) -> None:
    """Add what `_gathered` would have gathered to where it came from."""
    for run, part in zip(runs, tensor.split([run.stop - run.start for run in runs], 2), strict=True):
        total[:, :, run].add_(part)


def block_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: BlockMask | Tensor | None,
    *,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """As `tree_attention`, by the block mask of a row, which is the attention mask; without one, as `sdpa`."""
    if not isinstance(attention_mask, BlockMask):
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    said = _compiled()(
        query, key, value, block_mask=attention_mask, scale=scaling, enable_gqa=True, kernel_options=KERNEL_OPTIONS
    )
    return said.transpose(1, 2).contiguous(), None


@cache
def _compiled() -> Any:
    config: Any = torch._dynamo.config
    config.recompile_limit = max(config.recompile_limit, RECOMPILE_LIMIT)
    return torch.compile(flex_attention)


AttentionInterface.register(TREE, tree_attention)
AttentionInterface.register(FLEX, block_attention)
