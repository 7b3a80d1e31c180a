"""Radix packing: a micro-batch holds every prefix that its samples share once, and so computes it once.

A sample is a path of tokens: its prompt and its response but for the last token, which predicts
nothing. A token is identified by its id, a token of an image by the image's hash and its place in it,
so only equal images merge. Sorted by these keys, samples stand in the depth-first order of their radix
tree, and what each has in common with its neighbour is all that there is to know about the tree. A micro-batch
is such an order with the common beginnings left out. In it the token at `j` is an ancestor of exactly
the tokens from `j` to `ends[j]`, so one vector is the whole attention mask: `q` sees `j` where
`j <= q < ends[j]`. Positions depend on the path alone. The result equals that of separate samples to
float tolerance; the literature knows the idea for text (tree training, prefix grouping), not for screenshots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from webdojo.policy.model.collate import Sequence_
from webdojo.types import ImageSegment, Prompt


@dataclass(frozen=True)
class MicroBatch:
    """Samples in depth-first order, and what they have in common."""

    members: tuple[int, ...]
    """The numbers of the samples, as the caller counts them."""
    shared: tuple[int, ...]
    """Tokens that each has in common with the one before it; 0 for the first."""
    tokens: int
    """Tokens of the micro-batch, which are what is computed."""


class Paths:
    """The key sequences of samples, in depth-first order.

    Args:
        sequences: the samples; a response has at least one token.
    """

    def __init__(self, sequences: Sequence[Sequence_]) -> None:
        numbers: dict[str, int] = {}
        keys = [_keys(prompt, response, numbers) for prompt, response in sequences]
        self.order = sorted(range(len(keys)), key=lambda i: keys[i].astype(">u8").tobytes())
        self.lengths = [len(keys[i]) for i in self.order]
        self.shared = [0] + [_common(keys[a], keys[b]) for a, b in zip(self.order, self.order[1:], strict=False)]
        """Tokens that each path has in common with the one before it."""

    def micro_batch(self, begin: int, end: int) -> MicroBatch:
        """A micro-batch of the paths from `begin` up to `end` in depth-first order."""
        shared = (0, *self.shared[begin + 1 : end])
        return MicroBatch(tuple(self.order[begin:end]), shared, sum(self.lengths[begin:end]) - sum(shared))


def cut(paths: Paths, max_tokens: int) -> list[MicroBatch]:
    """Cut the tree into micro-batches of at most `max_tokens`, where the least is computed twice.

    A path that is cut off its neighbours brings its ancestors with it. A single path that is longer than `max_tokens`
    is alone. Among cuts that compute as much, it is one with the fewest micro-batches. The result is exact for
    micro-batches of neighbouring paths, by dynamic programming.
    """
    count = len(paths.order)
    best = [(0.0, 0)] + [(math.inf, 0)] * count
    begins = [0] * (count + 1)
    for end in range(1, count + 1):
        tokens = 0
        for begin in range(end - 1, -1, -1):
            tokens += paths.lengths[begin] - (paths.shared[begin + 1] if begin + 1 < end else 0)
            if tokens > max_tokens and begin + 1 < end:
                break
            if (total := (best[begin][0] + tokens, best[begin][1] + 1)) < best[end]:
                best[end], begins[end] = total, begin
    found: list[MicroBatch] = []
    end = count
    while end:
        found.append(paths.micro_batch(begins[end], end))
        end = begins[end]
    return found[::-1]


def balance(micro_batches: Sequence[MicroBatch], ranks: int) -> list[list[MicroBatch]]:
    """Deal them out so that no rank has much more to do than another: the largest first, each to the rank with the
    least."""
    shares: list[list[MicroBatch]] = [[] for _ in range(ranks)]
    load = [0] * ranks
    for micro_batch in sorted(micro_batches, key=lambda each: -each.tokens):
        rank = load.index(min(load))
        shares[rank].append(micro_batch)
        load[rank] += micro_batch.tokens
    return shares


class Job(NamedTuple):
    """A micro-batch that a rank computes in a round."""

    micro_batch: MicroBatch
    counts: bool
    """False for a filler: it keeps a rank that has nothing left in step with the others, and adds nothing."""


def rounds(micro_batches: Sequence[MicroBatch], count: int) -> list[list[Job]]:
    """Micro-batches dealt out to `count` ranks (`balance`), as rounds [round][rank] of one each, largest first."""
    shares = balance(micro_batches, count)
    longest = max(len(share) for share in shares)
    smallest = min(micro_batches, key=lambda each: each.tokens, default=None)

    def job(share: list[MicroBatch], k: int) -> Job:
        if k < len(share):
            return Job(share[k], True)
        assert smallest is not None
        return Job(smallest, False)

    return [[job(share, k) for share in shares] for k in range(longest)]


@dataclass(frozen=True)
class Placement:
    """Where the tokens of the samples are in a micro-batch."""

    new: list[slice]
    """For each sample, which part of its path is taken from it."""
    ends: np.ndarray
    """int64 [L]: the index after the last token that sees each token."""
    predictors: list[np.ndarray]
    """int64 [|y|] for each sample: the index of the token before each response token."""


def place(micro_batch: MicroBatch, prompts: Sequence[int], responses: Sequence[int]) -> Placement:
    """Lay a micro-batch out.

    Args:
        prompts: tokens of each member's prompt.
        responses: tokens of each member's response.
    """
    ends = np.full(micro_batch.tokens, micro_batch.tokens, dtype=np.int64)
    path = np.zeros(0, dtype=np.int64)
    new: list[slice] = []
    predictors: list[np.ndarray] = []
    offset = 0
    for shared, prompt, response in zip(micro_batch.shared, prompts, responses, strict=True):
        length = prompt + response - 1
        ends[path[shared:]] = offset  # the subtrees below the fork are over
        path = np.concatenate([path[:shared], np.arange(offset, offset + length - shared)])
        new.append(slice(shared, length))
        predictors.append(path[prompt - 1 :])
        offset += length - shared
    return Placement(new, ends, predictors)


def _keys(prompt: Prompt, response: Sequence[int], numbers: dict[str, int]) -> np.ndarray:
    """uint64 [length]: ids as they are, tokens of images above all ids."""
    parts: list[np.ndarray] = []
    for segment in prompt.segments:
        if isinstance(segment, ImageSegment):
            number = numbers.setdefault(segment.image.sha, len(numbers) + 1)
            parts.append(np.arange(segment.tokens, dtype=np.uint64) + np.uint64(number << 32))
        else:
            parts.append(np.asarray(segment.ids, dtype=np.uint64))
    parts.append(np.asarray(response[:-1], dtype=np.uint64))
    return np.concatenate(parts)


def _common(a: np.ndarray, b: np.ndarray) -> int:
    length = min(len(a), len(b))
    different = np.flatnonzero(a[:length] != b[:length])
    return int(different[0]) if len(different) else length
