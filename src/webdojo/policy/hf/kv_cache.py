"""Keys and values of the sequences that an engine decodes together, and of beginnings that prompts have in common.

`KVCache`: sequence i holds its tokens at positions 0..length-1 of index i, left-aligned, whatever the other sequences
do. Running sequences always have the indices 0..n-1: when one leaves, the last one moves into its place, so that
attention reads plain views. Invariant: positions at or past a sequence's length are never attended to.

`PrefixCache`: turns of an episode share their opening and, as long as no screenshot is dropped, all that came before;
episodes of a group share their first prompt; all episodes share the system prompt. Prompts are compared segment by
segment, images by their hash; what several have in common is kept once. The cache is bounded by bytes and evicts what
was least recently used. Whoever changes the model's weights calls `clear`.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from webdojo.types import ImageSegment, Prompt

Boundary = tuple[str, int]
"""Where a segment ends: a digest of everything up to there, and the tokens up to there."""


def boundaries(prompt: Prompt) -> list[Boundary]:
    """Where each segment of a prompt ends."""
    found: list[Boundary] = []
    digest, length = "", 0
    for segment in prompt.segments:
        if isinstance(segment, ImageSegment):
            digest = _digest(digest, f"{segment.image.sha}:{segment.tokens}".encode())
            length += segment.tokens
            found.append((digest, length))
        else:
            found.append(after((digest, length), segment.ids))
            digest, length = found[-1]
    return found


def after(boundary: Boundary, ids: Sequence[int]) -> Boundary:
    """Where a text segment of `ids` ends that begins at `boundary`."""
    digest, length = boundary
    return _digest(digest, array("q", ids).tobytes()), length + len(ids)


@dataclass(frozen=True, eq=False)
class CachedSegment:
    """Keys and values of the tokens `start..end` of every prompt that is the same up to there."""

    kv: torch.Tensor
    """[layers, 2, heads, end - start, head dim]: keys, then values."""
    start: int
    end: int
    before: CachedSegment | None
    """The segment that ends at `start`."""


@dataclass(frozen=True)
class KnownPrefix:
    """The first `length` tokens of a prompt, whose keys and values are cached."""

    last: CachedSegment | None
    """This segment and those before it hold these tokens, and maybe more; None where nothing is known."""
    length: int

    def write(self, kv: torch.Tensor) -> None:
        """Copy keys and values to the start of a sequence [layers, 2, heads, tokens, head dim]."""
        segment = self.last
        while segment is not None:
            end = min(segment.end, self.length)
            kv[..., segment.start : end, :] = segment.kv[..., : end - segment.start, :]
            segment = segment.before


class PrefixCache:
    """Finds the longest prefix of a prompt whose keys and values are known; it keeps at most `max_bytes` of them."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._segments: OrderedDict[str, CachedSegment] = OrderedDict()
        """Segments by the digest of the boundary where they end. A segment stands after all that build on it, so that
        those are evicted first."""
        self._bytes = 0

    def longest(self, prompt: Sequence[Boundary]) -> KnownPrefix:
        """The longest known prefix of a prompt that leaves at least its last token to read."""
        for index in range(len(prompt) - 1, -1, -1):
            if (segment := self._segments.get(prompt[index][0])) is not None:
                self._touch(prompt[: index + 1])
                return KnownPrefix(segment, min(segment.end, prompt[-1][1] - 1))
        return KnownPrefix(None, 0)

    def keep(self, prompt: Sequence[Boundary], kv: torch.Tensor) -> None:
        """Remember what was computed for a prompt: `kv` [layers, 2, heads, tokens, head dim], copied where it is new.

        It may lack the last tokens.
        """
        before: CachedSegment | None = None
        for digest, length in prompt:
            segment = self._segments.get(digest)
            if segment is None:
                start, end = 0 if before is None else before.end, min(length, kv.shape[3])
                if end <= start:
                    continue
                segment = CachedSegment(kv[..., start:end, :].clone(), start, end, before)
                self._segments[digest] = segment
                self._bytes += segment.kv.nbytes
            before = segment
        self._touch(prompt)
        while self._bytes > self._max_bytes:
            _, oldest = self._segments.popitem(last=False)
            self._bytes -= oldest.kv.nbytes

    def clear(self) -> None:
        self._segments.clear()
        self._bytes = 0

    def _touch(self, prompt: Sequence[Boundary]) -> None:
        for digest, _ in reversed(prompt):
            if digest in self._segments:
                self._segments.move_to_end(digest)


def _digest(before: str, part: bytes) -> str:
    return hashlib.sha256(before.encode() + b"|" + part).hexdigest()


LENGTH_STEP = 128
"""The cache's length is a multiple of so many tokens and grows by half at least, because growing copies everything. On
a GPU attention reaches as far, past the longest sequence, because cuDNN plans anew for every length that it sees: a
millisecond a layer."""


class KVCache:
    """Keys and values of all text layers of running sequences; `heads` are those of keys and values."""

    is_compileable = False
    """Read by `transformers` when it decides about masks."""

    def __init__(self, layers: int, heads: int, head_dim: int, dtype: torch.dtype, device: torch.device) -> None:
        self.kv = torch.zeros(layers, 2, 0, heads, 0, head_dim, dtype=dtype, device=device)
        """[layers, 2, sequences, heads, length, head dim]: keys, then values."""
        self._reach_step = LENGTH_STEP if device.type == "cuda" else 1
        self.lengths: list[int] = []
        """Number of tokens of each running sequence."""
        self._reach = 0
        """The most tokens that the next forward pass attends to."""
        self._current = slice(0)
        """The sequences that the next forward pass is about."""
        self._write_at: tuple[torch.Tensor, slice, torch.Tensor] | None = None
        """Where the new tokens [sequences, new tokens] go; None where they are all that their sequences will hold."""

    def admit(self, lengths: list[int], prefixes: Sequence[KnownPrefix]) -> torch.Tensor | None:
        """Make room for new sequences; the next forward pass writes what their prefixes lack, padded on the right.

        The attention mask is as `step` gives it; None where no sequence has a known prefix: each new token then attends
        to those before it.
        """
        start = len(self.lengths)
        known = [prefix.length for prefix in prefixes]
        new = max(length - begin for length, begin in zip(lengths, known, strict=True))
        self.lengths += lengths
        self._current = slice(start, len(self.lengths))
        self._reserve(max(known) + new)
        if not any(known):
            self._write_at = None
            return None
        for index, prefix in enumerate(prefixes, start):
            prefix.write(self.kv[:, :, index])
        device = self.kv.device
        return self._write(torch.tensor(known, device=device)[:, None] + torch.arange(new, device=device))

    def step(self) -> torch.Tensor:
        """Every running sequence gets one more token, which the next forward pass writes.

        The mask [sequences, 1, new tokens, reach] is added to scores: 0 where a new token attends, itself included,
        else -inf.
        """
        write_at = torch.tensor(self.lengths, device=self.kv.device)[:, None]
        self.lengths = [length + 1 for length in self.lengths]
        self._current = slice(len(self.lengths))
        self._reserve(max(self.lengths))
        return self._write(write_at)

    def sequence(self, index: int) -> torch.Tensor:
        """A view of what a sequence holds, [layers, 2, heads, tokens, head dim]."""
        return self.kv[:, :, index, :, : self.lengths[index]]

    def drop(self, index: int) -> None:
        """Remove a sequence; the last running one takes its index."""
        last = len(self.lengths) - 1
        if index != last:
            length = self.lengths[last]
            self.kv[:, :, index, :, :length] = self.kv[:, :, last, :, :length]
            self.lengths[index] = length
        self.lengths.pop()

    def free(self) -> None:
        """Give the memory back; no sequence may be running."""
        assert not self.lengths, f"{len(self.lengths)} sequences are running"
        self.kv = self.kv[:, :, :0, :, :0].clone()

    def update(
        self, key: torch.Tensor, value: torch.Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store new keys and values [sequences, heads, new tokens, head dim] of a layer and return what it attends to;
        `transformers` calls this."""
        keys, values = self.kv[layer_idx, :, self._current]
        if self._write_at is None:
            keys[:, :, : key.shape[2]] = key
            values[:, :, : value.shape[2]] = value
            return key, value
        keys[self._write_at], values[self._write_at] = key.transpose(1, 2), value.transpose(1, 2)
        return keys[:, :, : self._reach], values[:, :, : self._reach]

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """A prompt starts at position 0 (decode steps bring their own mask)."""
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """A prompt attends to itself alone."""
        return query_length, 0

    def _write(self, write_at: torch.Tensor) -> torch.Tensor:
        self._write_at = (torch.arange(len(write_at), device=write_at.device)[:, None], slice(None), write_at)
        self._reach = math.ceil((int(write_at.max()) + 1) / self._reach_step) * self._reach_step
        hidden = torch.arange(self._reach, device=write_at.device) > write_at[..., None]
        return torch.zeros_like(hidden, dtype=self.kv.dtype).masked_fill_(hidden, float("-inf"))[:, None]

    def _reserve(self, tokens: int) -> None:
        """Grow to hold the running sequences at this length; what they hold is kept."""
        layers, two, places, heads, length, dim = self.kv.shape
        running = len(self.lengths)
        if running > places or tokens > length:
            more_places = 1 << (running - 1).bit_length() if running > places else places
            longer = math.ceil(max(tokens, length * 3 // 2) / LENGTH_STEP) * LENGTH_STEP if tokens > length else length
            grown = self.kv.new_zeros(layers, two, more_places, heads, longer, dim)
            grown[:, :, :places, :, :length] = self.kv
            self.kv = grown
