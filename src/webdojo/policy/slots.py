"""The KV cache of an engine's running rows.

Row r holds its tokens at positions 0..length-1 of its slot, left-aligned, whatever the other rows
do. Running rows are always slots 0..n-1: when one leaves, the last moves into its place, so that
attention reads plain views. Invariant: positions at or past a row's length are never attended to.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

LENGTH_STEP = 128
"""Slot lengths grow in steps of this many tokens."""


@dataclass
class SlotCache:
    """Keys and values of all text layers, [slots, heads, length, head dim] each."""

    keys: list[torch.Tensor] = field(default_factory=list)
    values: list[torch.Tensor] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    """Tokens of each running row."""
    is_compileable: bool = False
    """Read by `transformers` when it decides about masks."""
    _start: int = 0
    _slots: torch.Tensor | None = None
    _write_at: torch.Tensor | None = None

    def admit(self, lengths: list[int]) -> None:
        """Make room for new rows; the next forward pass writes their prompts."""
        self._start = len(self.lengths)
        self._slots = None
        self.lengths += lengths
        self._reserve()

    def step(self, device: torch.device) -> torch.Tensor:
        """Every running row gets one more token, which the next forward pass writes.

        Returns:
            Bool mask [rows, 1, 1, longest]: what each row's new token attends to, itself included.
        """
        self._slots = torch.arange(len(self.lengths), device=device)
        self._write_at = torch.tensor(self.lengths, device=device)
        self.lengths = [length + 1 for length in self.lengths]
        self._reserve()
        reach = torch.arange(max(self.lengths), device=device)
        return (reach <= self._write_at[:, None])[:, None, None]

    def drop(self, row: int) -> None:
        """Row leaves; the last running row takes its number."""
        last = len(self.lengths) - 1
        if row != last:
            length = self.lengths[last]
            for cached in (*self.keys, *self.values):
                cached[row, :, :length] = cached[last, :, :length]
            self.lengths[row] = length
        self.lengths.pop()

    def truncate(self, rows: int) -> None:
        """Keep the first `rows` running rows."""
        del self.lengths[rows:]

    def free(self) -> None:
        """Give the memory back; no row may be running."""
        assert not self.lengths, f"{len(self.lengths)} rows are running"
        self.keys, self.values = [], []

    def update(
        self, key: torch.Tensor, value: torch.Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Called by each attention layer with its new keys and values; returns what it attends to."""
        if layer_idx == len(self.keys):
            shape = (self._slots_wanted(), key.shape[1], self._length_wanted(), key.shape[3])
            self.keys.append(key.new_zeros(shape))
            self.values.append(value.new_zeros(shape))
        keys, values = self.keys[layer_idx], self.values[layer_idx]
        if self._slots is None:
            rows = slice(self._start, self._start + key.shape[0])
            keys[rows, :, : key.shape[2]] = key
            values[rows, :, : value.shape[2]] = value
            return key, value
        keys[self._slots, :, self._write_at] = key[:, :, 0]
        values[self._slots, :, self._write_at] = value[:, :, 0]
        running, reach = len(self.lengths), max(self.lengths)
        return keys[:running, :, :reach], values[:running, :, :reach]

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """A prompt starts at position 0 (decode steps bring their own mask)."""
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """A prompt attends to itself alone."""
        return query_length, 0

    def _length_wanted(self) -> int:
        return -(-max(self.lengths) // LENGTH_STEP) * LENGTH_STEP

    def _slots_wanted(self) -> int:
        return 1 << (len(self.lengths) - 1).bit_length()

    def _reserve(self) -> None:
        """Grow every layer to hold the running rows; what they hold is kept."""
        for cached in (self.keys, self.values):
            for layer, old in enumerate(cached):
                slots, heads, length, dim = old.shape
                wanted = (max(slots, self._slots_wanted()), heads, max(length, self._length_wanted()), dim)
                if wanted != old.shape:
                    grown = old.new_zeros(wanted)
                    grown[:slots, :, :length] = old
                    cached[layer] = grown
