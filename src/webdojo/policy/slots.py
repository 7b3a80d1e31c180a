"""The KV cache of an engine's running rows.

Row r holds its tokens at positions 0..length-1 of its slot, left-aligned, whatever the other rows
do. Running rows are always slots 0..n-1: when one leaves, the last moves into its place, so that
attention reads plain views. Invariant: positions at or past a row's length are never attended to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from webdojo.policy.prefixes import Beginning

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
    _rows: slice = field(default_factory=lambda: slice(0))
    """The slots that the next forward pass is about."""
    _write_at: torch.Tensor | None = None
    """[rows, new tokens]: where those go; None where they are all that their rows will hold."""
    _reach: int = 0
    """Cached tokens that are attended to at most."""

    def admit(
        self, lengths: list[int], beginnings: Sequence[Beginning | None], device: torch.device
    ) -> torch.Tensor | None:
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
                for cached, kept in zip((*self.keys, *self.values), (*beginning.keys, *beginning.values), strict=True):
                    cached[row, :, : beginning.length] = kept[:, : beginning.length]
        return self._write(torch.tensor(known, device=device)[:, None] + torch.arange(new, device=device))

    def step(self, device: torch.device) -> torch.Tensor:
        """Every running row gets one more token, which the next forward pass writes.

        Returns:
            Bool mask [rows, 1, new tokens, longest]: what each row's new tokens attend to, themselves included.
        """
        write_at = torch.tensor(self.lengths, device=device)[:, None]
        self.lengths = [length + 1 for length in self.lengths]
        self._rows = slice(len(self.lengths))
        self._reserve(max(self.lengths))
        return self._write(write_at)

    def read(self, row: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Views of a row's keys and values, [heads, tokens, head dim] for each layer."""
        length = self.lengths[row]
        return [k[row, :, :length] for k in self.keys], [v[row, :, :length] for v in self.values]

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
            shape = (self._slots_wanted(), key.shape[1], _rounded(max(self.lengths)), key.shape[3])
            self.keys.append(key.new_zeros(shape))
            self.values.append(value.new_zeros(shape))
        keys, values = self.keys[layer_idx][self._rows], self.values[layer_idx][self._rows]
        if self._write_at is None:
            keys[:, :, : key.shape[2]] = key
            values[:, :, : value.shape[2]] = value
            return key, value
        row = torch.arange(len(keys), device=key.device)[:, None]
        keys[row, :, self._write_at] = key.transpose(1, 2)
        values[row, :, self._write_at] = value.transpose(1, 2)
        return keys[:, :, : self._reach], values[:, :, : self._reach]

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """A prompt starts at position 0 (decode steps bring their own mask)."""
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """A prompt attends to itself alone."""
        return query_length, 0

    def _write(self, write_at: torch.Tensor) -> torch.Tensor:
        self._write_at = write_at
        self._reach = int(write_at.max()) + 1
        return (torch.arange(self._reach, device=write_at.device) <= write_at[..., None])[:, None]

    def _slots_wanted(self) -> int:
        return 1 << (len(self.lengths) - 1).bit_length()

    def _reserve(self, tokens: int) -> None:
        """Grow every layer to hold the running rows at this length; what they hold is kept."""
        for cached in (self.keys, self.values):
            for layer, old in enumerate(cached):
                slots, heads, length, dim = old.shape
                wanted = (max(slots, self._slots_wanted()), heads, max(length, _rounded(tokens)), dim)
                if wanted != old.shape:
                    grown = old.new_zeros(wanted)
                    grown[:slots, :, :length] = old
                    cached[layer] = grown


def _rounded(tokens: int) -> int:
    return -(-tokens // LENGTH_STEP) * LENGTH_STEP
