"""The mask of a packed row as FlexAttention wants it, without a pair of tokens looked at.

`create_block_mask` looks at every pair: at the 156,000 tokens of a group that is 24 GB for a mask that one
vector says. Of that vector the largest and the smallest entry of a block tell whether any and whether all of
another block's tokens see it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

BLOCK = 128
"""Tokens a side of the squares that are computed or left out; FlexAttention's own choice."""


def block_mask(ends: Tensor) -> BlockMask:
    """The mask of a row from its `ends` [L]: `q` sees `j` where `j <= q < ends[j]`. It is on the device of `ends`."""
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
