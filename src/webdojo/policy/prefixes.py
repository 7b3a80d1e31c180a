"""Keys and values of what an engine has read and written, for prompts that begin like it.

Turns of an episode share their opening and, as long as no screenshot is dropped, all that came
before; episodes of a group share their first prompt; all episodes share the system prompt. Prompts
are compared segment by segment, images by their hash; what several have in common is kept once.
Bounded by bytes, least recently used first out. Whoever changes the model's weights calls `clear`.
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
class Stretch:
    """Keys and values of the tokens `start..end` of every prompt that is the same up to there."""

    kv: torch.Tensor
    """[layers, 2, heads, end - start, head dim]: keys, then values."""
    start: int
    end: int
    before: Stretch | None
    """The one that ends at `start`."""

    @property
    def bytes(self) -> int:
        return self.kv.numel() * self.kv.element_size()


@dataclass(frozen=True)
class Beginning:
    """The first `length` tokens of a prompt, which are known."""

    last: Stretch
    """It and those before it hold these tokens, and maybe more."""
    length: int

    def write(self, row: torch.Tensor) -> None:
        """Copy keys and values into a row [layers, 2, heads, tokens, head dim]."""
        stretch: Stretch | None = self.last
        while stretch is not None:
            end = min(stretch.end, self.length)
            row[..., stretch.start : end, :] = stretch.kv[..., : end - stretch.start, :]
            stretch = stretch.before


class PrefixCache:
    """Finds the longest known beginning of a prompt.

    Args:
        max_bytes: of the keys and values that are kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._stretches: OrderedDict[str, Stretch] = OrderedDict()
        """By the digest of the boundary where they end, each after all that stand on it: those go first."""
        self._bytes = 0

    def longest(self, prompt: Sequence[Boundary]) -> Beginning | None:
        """The longest known beginning of a prompt that leaves at least its last token to read."""
        for index in range(len(prompt) - 1, -1, -1):
            if (stretch := self._stretches.get(prompt[index][0])) is not None:
                self._touch(prompt[: index + 1])
                return Beginning(stretch, min(stretch.end, prompt[-1][1] - 1))
        return None

    def keep(self, prompt: Sequence[Boundary], row: torch.Tensor) -> None:
        """Remember what was computed for a prompt.

        Args:
            row: [layers, 2, heads, tokens, head dim], copied where it is new; it may lack the last tokens.
        """
        before: Stretch | None = None
        for digest, length in prompt:
            stretch = self._stretches.get(digest)
            if stretch is None:
                start, end = 0 if before is None else before.end, min(length, row.shape[3])
                if end <= start:
                    continue
                stretch = Stretch(row[..., start:end, :].clone(), start, end, before)
                self._stretches[digest] = stretch
                self._bytes += stretch.bytes
            before = stretch
        self._touch(prompt)
        while self._bytes > self._max_bytes:
            _, oldest = self._stretches.popitem(last=False)
            self._bytes -= oldest.bytes

    def clear(self) -> None:
        """Forget everything."""
        self._stretches.clear()
        self._bytes = 0

    def _touch(self, prompt: Sequence[Boundary]) -> None:
        for digest, _ in reversed(prompt):
            if digest in self._stretches:
                self._stretches.move_to_end(digest)


def _digest(before: str, part: bytes) -> str:
    return hashlib.sha256(before.encode() + b"|" + part).hexdigest()
