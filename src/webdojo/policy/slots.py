"""The KV cache of an engine's running rows.

Row r holds its tokens at positions 0..length-1 of its slot, left-aligned, whatever the other rows
do. Running rows are always slots 0..n-1: when one leaves, the last moves into its place, so that
attention reads plain views. Invariant: positions at or past a row's length are never attended to.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from webdojo.policy.prefixes import Beginning

LENGTH_STEP = 128
"""Slot lengths are multiples of so many tokens, and grow by half at least: growing copies everything."""


class SlotCache:
    """Keys and values of all text layers.

    Args:
        layers, heads, head_dim: of the text model; heads are those of keys and values.
    """

    is_compileable = False
    """Read by `transformers` when it decides about masks."""

    def __init__(self, layers: int, heads: int, head_dim: int, dtype: torch.dtype, device: torch.device) -> None:
        self.kv = torch.zeros(layers, 2, 0, heads, 0, head_dim, dtype=dtype, device=device)
        """[layers, 2, slots, heads, length, head dim]: keys, then values."""
        self.lengths: list[int] = []
        """Tokens of each running row."""
        self._reach = 0
        """Tokens that the next forward pass attends to at most."""
        self._rows = slice(0)
        """The slots that the next forward pass is about."""
        self._write_at: torch.Tensor | None = None
        """[rows, new tokens]: where those go; None where they are all that their rows will hold."""
        self._every = torch.arange(0, device=device)
        """0..rows-1"""

    def admit(self, lengths: list[int], beginnings: Sequence[Beginning | None]) -> torch.Tensor | None:
        """Make room for new rows; the next forward pass writes what their beginnings lack, padded on the right.

        Returns:
            The attention mask of `step`; None where no row has a beginning: each new token then attends to
            those before it.
        """
        start = len(self.lengths)
        known = [0 if beginning is None else beginning.length for beginning in beginnings]
        new = max(length - begin for length, begin in zip(lengths, known, strict=True))
        self.lengths += lengths
        self._rows = slice(start, len(self.lengths))
        self._reserve(max(known) + new)
        if not any(known):
            self._write_at = None
            return None
        for row, beginning in enumerate(beginnings, start):
            if beginning is not None:
                beginning.write(self.kv[:, :, row])
        device = self.kv.device
        return self._write(torch.tensor(known, device=device)[:, None] + torch.arange(new, device=device))

    def step(self) -> torch.Tensor:
        """Every running row gets one more token, which the next forward pass writes.

        Returns:
            Mask [rows, 1, new tokens, reach] to add to the scores: 0 where a new token attends, itself included,
            else -inf.
        """
        write_at = torch.tensor(self.lengths, device=self.kv.device)[:, None]
        self.lengths = [length + 1 for length in self.lengths]
        self._rows = slice(len(self.lengths))
        self._reserve(max(self.lengths))
        return self._write(write_at)

    def row(self, row: int) -> torch.Tensor:
        """A view of a row, [layers, 2, heads, tokens, head dim]."""
        return self.kv[:, :, row, :, : self.lengths[row]]

    def drop(self, row: int) -> None:
        """Row leaves; the last running row takes its number."""
        last = len(self.lengths) - 1
        if row != last:
            length = self.lengths[last]
            self.kv[:, :, row, :, :length] = self.kv[:, :, last, :, :length]
            self.lengths[row] = length
        self.lengths.pop()

    def truncate(self, rows: int) -> None:
        """Keep the first `rows` running rows."""
        del self.lengths[rows:]

    def free(self) -> None:
        """Give the memory back; no row may be running."""
        assert not self.lengths, f"{len(self.lengths)} rows are running"
        self.kv = self.kv[:, :, :0, :, :0].clone()

    def update(
        self, key: torch.Tensor, value: torch.Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Called by each attention layer with its new keys and values; returns what it attends to."""
        keys, values = self.kv[layer_idx, :, self._rows]
        if self._write_at is None:
            keys[:, :, : key.shape[2]] = key
            values[:, :, : value.shape[2]] = value
            return key, value
        at = (self._every[:, None], slice(None), self._write_at)
        keys[at], values[at] = key.transpose(1, 2), value.transpose(1, 2)
        return keys[:, :, : self._reach], values[:, :, : self._reach]

    def write(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As `update`, for one new token a row: [rows, heads, head dim] in, [rows, heads, reach, head dim] out."""
        keys, values = self.kv[layer, :, self._rows]
        assert self._write_at is not None, "no step under way"
        at = (self._every, slice(None), self._write_at[:, 0])
        keys[at], values[at] = key, value
        return keys[:, :, : self._reach], values[:, :, : self._reach]

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """A prompt starts at position 0 (decode steps bring their own mask)."""
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """A prompt attends to itself alone."""
        return query_length, 0

    def _write(self, write_at: torch.Tensor) -> torch.Tensor:
        self._write_at, self._every = write_at, torch.arange(len(write_at), device=write_at.device)
        self._reach = int(write_at.max()) + 1
        hidden = torch.arange(self._reach, device=write_at.device) > write_at[..., None]
        return torch.zeros_like(hidden, dtype=self.kv.dtype).masked_fill_(hidden, float("-inf"))[:, None]

    def _reserve(self, tokens: int) -> None:
        """Grow to hold the running rows at this length; what they hold is kept."""
        layers, two, slots, heads, length, dim = self.kv.shape
        rows = len(self.lengths)
        if rows > slots or tokens > length:
            more_slots = 1 << (rows - 1).bit_length() if rows > slots else slots
            longer = _rounded(max(tokens, length * 3 // 2)) if tokens > length else length
            grown = self.kv.new_zeros(layers, two, more_slots, heads, longer, dim)
            grown[:, :, :slots, :, :length] = self.kv
            self.kv = grown


def _rounded(tokens: int) -> int:
    return -(-tokens // LENGTH_STEP) * LENGTH_STEP
