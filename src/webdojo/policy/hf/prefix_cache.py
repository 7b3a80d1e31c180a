"""Prefix caching: keys and values of what an engine has read and written, for prompts that begin alike.

Turns of an episode share their opening and, as long as no screenshot is dropped, all that came
before; episodes of a group share their first prompt; all episodes share the system prompt. Prompts
are compared segment by segment, images by their hash; what several have in common is kept once.
The cache is bounded by bytes and evicts what was least recently used. Whoever changes the model's
weights calls `clear`.
"""

from __future__ import annotations

import hashlib
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

    last: CachedSegment
    """This segment and those before it hold these tokens, and maybe more."""
    length: int

    def write(self, kv: torch.Tensor) -> None:
        """Copy keys and values to the start of a sequence [layers, 2, heads, tokens, head dim]."""
        segment: CachedSegment | None = self.last
        while segment is not None:
            end = min(segment.end, self.length)
            kv[..., segment.start : end, :] = segment.kv[..., : end - segment.start, :]
            segment = segment.before


class PrefixCache:
    """Finds the longest prefix of a prompt whose keys and values are known.

    Args:
        max_bytes: limit for the keys and values that are kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._segments: OrderedDict[str, CachedSegment] = OrderedDict()
        """Segments by the digest of the boundary where they end. A segment stands after all that build on it, so that
        those are evicted first."""
        self._bytes = 0

    def longest(self, prompt: Sequence[Boundary]) -> KnownPrefix | None:
        """The longest known prefix of a prompt that leaves at least its last token to read."""
        for index in range(len(prompt) - 1, -1, -1):
            if (segment := self._segments.get(prompt[index][0])) is not None:
                self._touch(prompt[: index + 1])
                return KnownPrefix(segment, min(segment.end, prompt[-1][1] - 1))
        return None

    def keep(self, prompt: Sequence[Boundary], kv: torch.Tensor) -> None:
        """Remember what was computed for a prompt.

        Args:
            kv: [layers, 2, heads, tokens, head dim], copied where it is new; it may lack the last tokens.
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
        """Forget everything."""
        self._segments.clear()
        self._bytes = 0

    def _touch(self, prompt: Sequence[Boundary]) -> None:
        for digest, _ in reversed(prompt):
            if digest in self._segments:
                self._segments.move_to_end(digest)


def _digest(before: str, part: bytes) -> str:
    return hashlib.sha256(before.encode() + b"|" + part).hexdigest()
