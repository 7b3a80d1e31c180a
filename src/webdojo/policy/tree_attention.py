"""Attention over a packed row that computes only what the tree has.

A dense mask costs the square of a row; in a tree most pairs of tokens are on different branches. Here
blocks of neighbouring queries meet only the keys that one of them sees, so the cost is that of the paths.
The attention goes by `TREE` in `transformers`; a model that is told to use it takes the plan of a row as
the keyword `tree`, and without one does what `sdpa` does. For the CPU; on a GPU FlexAttention does the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward

TREE = "webdojo_tree"
BLOCK = 256
"""Queries that are computed together: fewer would see fewer keys in vain, more would be faster each."""
MAX_KEPT_BYTES = 2**26
"""Of keys and values that the blocks of a layer gather and keep for the backward pass; more are gathered again."""


@dataclass(frozen=True)
class Block:
    """Some neighbouring queries, and the keys that one of them or more sees."""

    begin: int
    end: int
    keys: torch.Tensor
    """int64 [K]"""
    mask: torch.Tensor
    """bool [end - begin, K]: True where the query sees the key."""


def plan(ends: torch.Tensor) -> list[Block]:
    """The blocks of a row from its `ends` [L]: `q` sees `j` where `j <= q < ends[j]`."""
    blocks = []
    at = torch.arange(len(ends), device=ends.device)
    for begin in range(0, len(ends), BLOCK):
        end = min(begin + BLOCK, len(ends))
        keys = torch.nonzero(ends[:end] > begin).squeeze(-1)
        queries = at[begin:end, None]
        blocks.append(Block(begin, end, keys, (keys <= queries) & (queries < ends[keys])))
    return blocks


def tree_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    tree: list[Block] | None = None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """`transformers`' attention function: query [1, heads, L, d], key and value [1, kv heads, L, d]."""
    if tree is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    groups: Any = getattr(module, "num_key_value_groups", 1)

    def attend(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, keys: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        seen, said = (repeat_kv(tensor[:, :, keys], groups) for tensor in (key, value))
        return F.scaled_dot_product_attention(query, seen, said, attn_mask=mask, scale=scaling)

    _, heads, _, width = query.shape
    kept_bytes = 2 * sum(len(block.keys) for block in tree) * heads * width * query.element_size()
    again = torch.is_grad_enabled() and query.requires_grad and kept_bytes > MAX_KEPT_BYTES
    parts = []
    for block in tree:
        inputs = (query[:, :, block.begin : block.end], key, value, block.keys, block.mask)
        parts.append(checkpoint(attend, *inputs, use_reentrant=False) if again else attend(*inputs))
    return torch.cat(parts, dim=2).transpose(1, 2).contiguous(), None


AttentionInterface.register(TREE, tree_attention)
