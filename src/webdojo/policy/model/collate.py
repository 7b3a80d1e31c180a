"""Prompts and responses as tensors: ids, positions and images of one sample, and what a batch of samples consists of.

Pixels of each distinct image appear once; `feature_rows` says which visual feature each image token reads. Invariants:
every image has as many tokens in its prompt as the vision tower makes features for it, and no response holds an id that
is banned from sampling.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import torch

from webdojo.errors import EngineError
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageRef, ImageSegment, ImageSource, Prompt

Sequence_: TypeAlias = tuple[Prompt, Sequence[int]]
"""One sample: a prompt and the response ids that follow it (none while an engine prefills)."""


@dataclass(frozen=True)
class Batch:
    """B samples padded to L tokens; T response tokens in all, sample after sample."""

    input_ids: torch.Tensor
    """int64 [B, L]"""
    position_ids: torch.Tensor
    """int64 [3, B, L]: mrope positions (temporal, row, column)."""
    mm_token_type_ids: torch.Tensor
    """int64 [B, L]: 1 at image tokens, else 0."""
    pixel_values: torch.Tensor | None
    """float32 [patches, patch dim] of the distinct images one after the other; None without images to read."""
    image_grid_thw: torch.Tensor | None
    """int64 [images, 3]"""
    feature_rows: torch.Tensor
    """int64 [image tokens]: for each image token in row-major order, its row of the visual features."""
    predictors: torch.Tensor
    """int64 [T]: index into the flattened [B * L] of the position whose logits predict each response token."""
    targets: torch.Tensor
    """int64 [T]: the response tokens."""
    response_lengths: tuple[int, ...]
    """Response tokens of each sample; they sum to T."""
    banned: torch.Tensor
    """bool [tokenizer size]: ids that are never sampled."""
    ends: torch.Tensor | None = None
    """int64 [L] of a single packed row (`trainer/packing.py`): token `q` sees `j` where `j <= q < ends[j]`. None where
    every row is one sample, and sees all before."""
    model_inputs: Mapping[str, torch.Tensor] | None = None
    """What the model's own forward takes, of a single sample; `pixel_values` and `ends` are None then."""

    def to(self, device: torch.device | str) -> Batch:
        """The same batch with every tensor on `device`."""
        moved: dict[str, Any] = {k: v.to(device) for k, v in vars(self).items() if isinstance(v, torch.Tensor)}
        if self.model_inputs is not None:
            moved["model_inputs"] = {k: v.to(device) for k, v in self.model_inputs.items()}
        return dataclasses.replace(self, **moved)

    def split(self, values_T: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Cut per-response-token values [T] into one tensor per sample."""
        return torch.split(values_T, list(self.response_lengths))


class Layout1D(NamedTuple):
    """One sequence: ids, where its images are, and its positions."""

    ids: list[int]
    position_ids: torch.Tensor
    """int64 [3, length]"""
    next_position: int
    """mrope position of the token after the last one."""


def lay_out(prompt: Prompt, response: Sequence[int], grids: Mapping[str, tuple[int, int]], image_id: int) -> Layout1D:
    """Ids and mrope positions of a prompt and its response; `grids` has the token rows and columns of the prompt's
    images by hash, as the vision tower makes them."""
    runs: list[int | tuple[int, int]] = []
    for segment in prompt.segments:
        if isinstance(segment, ImageSegment):
            grid = grids[segment.image.sha]
            check_tokens(segment.image, segment.tokens, math.prod(grid))
            runs.append(grid)
        else:
            runs.append(len(segment.ids))
    return Layout1D([*prompt.ids(image_id), *response], *mrope_positions([*runs, len(response)]))


def mrope_positions(runs: Sequence[int | tuple[int, int]]) -> tuple[torch.Tensor, int]:
    """Three-axis rotary positions (mrope) of a sequence, equal to `get_rope_index` of the models.

    Text advances all three axes by one a token. An image starts at the next free position; its
    tokens share that temporal position and spread their row and column over the other two axes; the
    text after it goes on past the larger side of the image.

    Args:
        runs: an int is that many text tokens; a pair is an image of (token rows, token columns).

    Returns:
        int64 [3, length] (temporal, row, column), and the position of the next text token.
    """
    parts = [torch.zeros(3, 0, dtype=torch.long)]
    start = 0
    for run in runs:
        if isinstance(run, int):
            parts.append(torch.arange(start, start + run).expand(3, -1))
            start += run
        else:
            rows, columns = run
            row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
            parts.append(torch.stack([torch.zeros_like(row), row, column]).reshape(3, -1) + start)
            start += max(rows, columns)
    return torch.cat(parts, dim=1), start


def check_tokens(image: ImageRef, tokens: int, features: int) -> None:
    """Raise `EngineError` with both numbers where prompt and vision tower disagree about an image."""
    if tokens != features:
        raise EngineError(
            f"image {image.sha[:12]} ({image.width}x{image.height}) has {tokens} tokens in the prompt but the vision "
            f"tower makes {features}; build the prompt with image_tokens() of the processor that serves it"
        )


def collate_plain(sequence: Sequence_, processor: Processor, images: ImageSource) -> Batch:
    """One sample as the model's own forward takes it; its last token predicts nothing and is left out."""
    prompt, response = sequence
    banned = processor.banned(processor.vocab_size)
    check_response(response, banned)
    ids = [*prompt.ids(processor.image_token_id), *response[:-1]]
    inputs = processor.model_inputs(ids, [images.get(image) for image in prompt.images])
    is_image = (inputs["input_ids"] == processor.image_token_id).long()
    return Batch(
        input_ids=inputs["input_ids"],
        position_ids=torch.arange(len(ids)).expand(3, 1, -1),
        mm_token_type_ids=is_image,
        pixel_values=None,
        image_grid_thw=None,
        feature_rows=torch.zeros(0, dtype=torch.long),
        predictors=torch.arange(len(prompt) - 1, len(ids)),
        targets=torch.tensor(response, dtype=torch.long),
        response_lengths=(len(response),),
        banned=banned,
        model_inputs=inputs,
    )


class ShownImages:
    """The distinct images of some samples in order of first appearance, and where their features will be."""

    def __init__(
        self,
        sequences: Sequence[Sequence_],
        processor: Processor,
        images: ImageSource,
        grids: Mapping[str, tuple[int, int]] | None,
    ) -> None:
        distinct = {image.sha: image for prompt, _ in sequences for image in prompt.images}
        self.pixel_values: torch.Tensor | None = None
        self.image_grid_thw: torch.Tensor | None = None
        if grids is None and distinct:
            read = [processor.pixels(images.get(image)) for image in distinct.values()]
            self.pixel_values, self.image_grid_thw = (torch.cat(parts) for parts in zip(*read, strict=True))
            sides = (self.image_grid_thw[:, 1:] // processor.merge_size).tolist()
            grids = {sha: (rows, columns) for sha, (rows, columns) in zip(distinct, sides, strict=True)}
        self.grids = grids or {}
        """Token rows and columns of each image by hash."""
        sizes = [math.prod(self.grids[sha]) for sha in distinct]
        self._rows = dict(zip(distinct, torch.arange(sum(sizes)).split(sizes), strict=True))

    def rows_of(self, prompt: Prompt) -> torch.Tensor:
        """int64 [image tokens of the prompt]: the row of the features that each of them reads."""
        return torch.cat([torch.zeros(0, dtype=torch.long), *(self._rows[image.sha] for image in prompt.images)])


def check_response(response: Sequence[int], banned: torch.Tensor) -> None:
    """Raise `EngineError` where a response holds an id that cannot have been sampled."""
    ids = torch.tensor(response, dtype=torch.long)
    wrong = (ids < 0) | (ids >= len(banned)) | banned[ids.clamp(0, len(banned) - 1)]
    if wrong.any():
        token = ids[wrong][0]
        raise EngineError(f"a response holds id {token}, which is banned from sampling: its logprob would be -inf")
