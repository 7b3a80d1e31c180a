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

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from webdojo.policy.model.collate import Batch, Sequence_, ShownImages, check_response, lay_out
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageSegment, ImageSource, Prompt


@dataclass(frozen=True)
class MicroBatch:
    """Samples in depth-first order, and what they have in common."""

    members: tuple[int, ...]
    """The numbers of the samples, as the caller counts them."""
    shared: tuple[int, ...]
    """Tokens that each has in common with the one before it; 0 for the first."""
    tokens: int
    """How many are computed."""
    counts: bool = True
    """False for a filler: it keeps a rank that has nothing left in step with the others, and adds nothing."""


def cut(sequences: Sequence[Sequence_], max_tokens: int) -> list[MicroBatch]:
    """Cut the tree of some samples into micro-batches of at most `max_tokens`, where the least is computed twice.

    A path that is cut off its neighbours brings its ancestors with it. A single path that is longer than `max_tokens`
    is alone. Among cuts that compute as much, it is one with the fewest micro-batches. The result is exact for
    micro-batches of neighbouring paths, by dynamic programming. A response has at least one token.
    """
    numbers: dict[str, int] = {}
    keys = [_keys(prompt, response, numbers) for prompt, response in sequences]
    order = sorted(range(len(keys)), key=lambda i: keys[i].astype(">u8").tobytes())
    lengths = [len(keys[i]) for i in order]
    shared = [0, *(_common(keys[a], keys[b]) for a, b in pairwise(order))]

    best = [(0.0, 0)] + [(math.inf, 0)] * len(order)
    begins = [0] * len(best)
    for end in range(1, len(best)):
        tokens = 0
        for begin in range(end - 1, -1, -1):
            tokens += lengths[begin] - (shared[begin + 1] if begin + 1 < end else 0)
            if tokens > max_tokens and begin + 1 < end:
                break
            if (total := (best[begin][0] + tokens, best[begin][1] + 1)) < best[end]:
                best[end], begins[end] = total, begin
    found: list[MicroBatch] = []
    end = len(order)
    while end:
        begin = begins[end]
        common = (0, *shared[begin + 1 : end])
        found.append(MicroBatch(tuple(order[begin:end]), common, sum(lengths[begin:end]) - sum(common)))
        end = begin
    return found[::-1]


def alone(sequences: Sequence[Sequence_]) -> list[MicroBatch]:
    """Each sample in a micro-batch of its own."""
    return [MicroBatch((i,), (0,), len(prompt) + len(response) - 1) for i, (prompt, response) in enumerate(sequences)]


def rounds(micro_batches: Sequence[MicroBatch], ranks: int) -> list[list[MicroBatch]]:
    """Deal micro-batches out in rounds of one for each rank, the last one filled up with the smallest.

    Ranks wait for one another in every layer, so those of a round are about as large: they go from large to small.
    """
    dealt = sorted(micro_batches, key=lambda each: -each.tokens)
    if fillers := -len(dealt) % ranks:
        dealt += [dataclasses.replace(dealt[-1], counts=False)] * fillers
    return [dealt[first : first + ranks] for first in range(0, len(dealt), ranks)]


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
    """Lay a micro-batch out, whose members have so many tokens in their prompts and responses."""
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


def collate_micro_batch(
    micro_batch: MicroBatch,
    sequences: Sequence[Sequence_],
    processor: Processor,
    images: ImageSource,
    grids: Mapping[str, tuple[int, int]] | None = None,
) -> Batch:
    """These samples as a `Batch` of a single long row; its T response tokens stand member after member."""
    shown = ShownImages(sequences, processor, images, grids)
    banned = processor.banned(processor.vocab_size)
    placed = place(micro_batch, [len(prompt) for prompt, _ in sequences], [len(response) for _, response in sequences])
    ids: list[torch.Tensor] = []
    positions: list[torch.Tensor] = []
    feature_rows: list[torch.Tensor] = []
    for (prompt, response), new in zip(sequences, placed.new, strict=True):
        check_response(response, banned)
        path = lay_out(prompt, response[:-1], shown.grids, processor.image_token_id)
        path_ids = torch.tensor(path.ids, dtype=torch.long)
        ids.append(path_ids[new])
        positions.append(path.position_ids[:, new])
        is_image = path_ids == processor.image_token_id
        features = torch.zeros(len(path_ids), dtype=torch.long)
        features[is_image] = shown.rows_of(prompt)
        feature_rows.append(features[new][is_image[new]])
    input_ids = torch.cat(ids)[None]
    return Batch(
        input_ids=input_ids,
        position_ids=torch.cat(positions, dim=1)[:, None],
        mm_token_type_ids=(input_ids == processor.image_token_id).long(),
        pixel_values=shown.pixel_values,
        image_grid_thw=shown.image_grid_thw,
        feature_rows=torch.cat(feature_rows),
        predictors=torch.cat([torch.from_numpy(p) for p in placed.predictors]),
        targets=torch.tensor([token for _, response in sequences for token in response], dtype=torch.long),
        response_lengths=tuple(len(response) for _, response in sequences),
        banned=banned,
        ends=torch.from_numpy(placed.ends),
    )


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
