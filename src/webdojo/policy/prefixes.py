"""Keys and values of prompts that an engine has read, for prompts that begin like them.

Turns of an episode share their opening, episodes of a group their first prompt, all episodes the
system prompt. Prompts are compared segment by segment, images by their hash. Bounded by bytes, least
recently used first out. Whoever changes the model's weights calls `clear`.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property

import torch

from webdojo.types import ImageSegment, Prompt

MAX_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Beginning:
    """The first `length` tokens of a prompt that was read; keys and values hold at least these."""

    keys: tuple[torch.Tensor, ...]
    """[heads, tokens, head dim] of each text layer."""
    values: tuple[torch.Tensor, ...]
    length: int

    @cached_property
    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in (*self.keys, *self.values))


def digests(prompt: Prompt) -> list[tuple[str, int]]:
    """For each segment, a digest of the prompt up to its end, and the tokens up to there."""
    found: list[tuple[str, int]] = []
    digest, length = hashlib.sha256(), 0
    for segment in prompt.segments:
        if isinstance(segment, ImageSegment):
            digest.update(f"{segment.image.sha}:{segment.tokens}|".encode())
            length += segment.tokens
        else:
            digest.update(f"{','.join(map(str, segment.ids))}|".encode())
            length += len(segment.ids)
        found.append((digest.hexdigest(), length))
    return found


class PrefixCache:
    """Keeps what was computed for whole prompts, and finds the longest beginning that another prompt shares."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._prompts: OrderedDict[str, tuple[Beginning, list[str]]] = OrderedDict()
        """By the digest of the whole prompt: what was computed, and the digests of its beginnings."""
        self._holder: dict[str, str] = {}
        """For the digest of a beginning, the most recently used prompt that has it."""
        self._bytes = 0

    def longest(self, prompt: list[tuple[str, int]]) -> Beginning | None:
        """The longest known beginning that leaves at least the last segment to read; `prompt` is of `digests`."""
        for digest, length in reversed(prompt[:-1]):
            if (holder := self._holder.get(digest)) is not None:
                self._touch(holder)
                kept, _ = self._prompts[holder]
                return Beginning(kept.keys, kept.values, length)
        return None

    def keep(self, prompt: list[tuple[str, int]], keys: list[torch.Tensor], values: list[torch.Tensor]) -> None:
        """Remember a prompt that was read; `keys` and `values` are [heads, tokens, head dim] and are copied."""
        whole, length = prompt[-1]
        if whole not in self._prompts:
            kept = Beginning(tuple(k.clone() for k in keys), tuple(v.clone() for v in values), length)
            self._prompts[whole] = kept, [digest for digest, _ in prompt]
            self._bytes += kept.bytes
        self._touch(whole)
        while self._bytes > self._max_bytes:
            oldest, (kept, beginnings) = self._prompts.popitem(last=False)
            self._bytes -= kept.bytes
            for digest in beginnings:
                if self._holder[digest] == oldest:
                    del self._holder[digest]

    def clear(self) -> None:
        """Forget everything."""
        self._prompts.clear()
        self._holder.clear()
        self._bytes = 0

    def _touch(self, whole: str) -> None:
        self._prompts.move_to_end(whole)
        for digest in self._prompts[whole][1]:
            self._holder[digest] = whole
