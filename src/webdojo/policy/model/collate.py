"""Prompts and responses of several samples as one padded batch.

Rows are padded on the right, so causal attention alone hides the padding. Pixels of each distinct
image appear once; `feature_rows` says which visual feature each image token reads. Invariants:
every image has as many tokens in its prompt as the vision tower makes features for it, and no
response holds an id that is banned from sampling.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch.nn.utils.rnn import pad_sequence

from webdojo.errors import EngineError
from webdojo.policy.model.positions import mrope_positions
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageRef, ImageSegment, ImageSource, Prompt

Sequence_: TypeAlias = tuple[Prompt, Sequence[int]]
"""One sample: a prompt and the response ids that follow it (none while an engine prefills)."""


@dataclass(frozen=True)
class Batch:
    """B samples padded to L tokens; T response tokens in all, sample after sample."""

    input_ids: torch.Tensor
    """int64 [B, L]"""
    attention_mask: torch.Tensor
    """bool [B, L]: True where a token is, False in the padding."""
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

    def to(self, device: torch.device | str) -> Batch:
        """The same batch with every tensor on `device`."""
        values = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))
        moved: dict[str, Any] = {name: v.to(device) for name, v in values if isinstance(v, torch.Tensor)}
        return dataclasses.replace(self, **moved)

    def split(self, values_T: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Cut per-response-token values [T] into one tensor per sample."""
        return torch.split(values_T, list(self.response_lengths))


@dataclass(frozen=True)
class Layout1D:
    """One unpadded sequence: ids, where its images are, and its positions."""

    ids: list[int]
    position_ids: torch.Tensor
    """int64 [3, length]"""
    next_position: int
    """mrope position of the token after the last one."""

    def padded_positions(self, length: int) -> torch.Tensor:
        """int64 [3, length]: padding counts on, because a text model takes a step back for another sequence."""
        padding = torch.arange(length - len(self.ids)) + self.next_position
        return torch.cat([self.position_ids, padding.expand(3, -1)], dim=1)


def lay_out(prompt: Prompt, response: Sequence[int], grids: Sequence[tuple[int, int]], image_id: int) -> Layout1D:
    """Ids and mrope positions of a prompt and its response.

    Args:
        grids: token rows and columns of each image of the prompt, as the vision tower makes them.

    Raises:
        EngineError: an image has more or fewer tokens in the prompt than features.
    """
    runs: list[int | tuple[int, int]] = []
    images = iter(grids)
    for segment in prompt.segments:
        if isinstance(segment, ImageSegment):
            rows, columns = next(images)
            check_tokens(segment.image, segment.tokens, rows * columns)
            runs.append((rows, columns))
        else:
            runs.append(len(segment.ids))
    position_ids, next_position = mrope_positions([*runs, len(response)])
    return Layout1D([*prompt.ids(image_id), *response], position_ids, next_position)


def check_tokens(image: ImageRef, tokens: int, features: int) -> None:
    """Raise `EngineError` with both numbers where prompt and vision tower disagree about an image."""
    if tokens != features:
        raise EngineError(
            f"image {image.sha[:12]} ({image.width}x{image.height}) has {tokens} tokens in the prompt but the vision "
            f"tower makes {features}; build the prompt with image_tokens() of the processor that serves it"
        )


def collate(
    sequences: Sequence[Sequence_],
    processor: Processor,
    images: ImageSource,
    grids: Mapping[str, tuple[int, int]] | None = None,
) -> Batch:
    """Pad samples into a `Batch`; each distinct image is read and decoded once.

    Args:
        sequences: the samples.
        processor: the processor of the model that will read the batch.
        images: where screenshots are read from.
        grids: token rows and columns of every image by hash, where the visual features are at hand: no image
            is read then. `feature_rows` counts on features in order of first appearance.

    Raises:
        EngineError: image tokens and features disagree, or a response holds a banned id.
    """
    assert sequences, "a batch needs at least one sample"
    shown_images = ShownImages(sequences, processor, images, grids)
    banned = processor.banned(processor.vocab_size)
    rows_1d: list[Layout1D] = []
    feature_rows: list[torch.Tensor] = []
    for prompt, response in sequences:
        check_response(response, banned)
        rows_1d.append(lay_out(prompt, response, shown_images.grids_of(prompt), processor.image_token_id))
        feature_rows.append(shown_images.rows_of(prompt))

    ids = [torch.tensor(row.ids, dtype=torch.long) for row in rows_1d]
    input_ids = pad_sequence(ids, batch_first=True, padding_value=processor.stop_id)
    length = input_ids.shape[1]
    lengths = torch.tensor([len(row) for row in ids])
    attention_mask = torch.arange(length)[None] < lengths[:, None]
    predictors = [
        torch.arange(len(row.ids) - len(response) - 1, len(row.ids) - 1) + b * length
        for b, (row, (_, response)) in enumerate(zip(rows_1d, sequences, strict=True))
    ]
    return Batch(
        input_ids=input_ids,
        attention_mask=attention_mask,
        position_ids=torch.stack([row.padded_positions(length) for row in rows_1d], dim=1),
        mm_token_type_ids=((input_ids == processor.image_token_id) & attention_mask).long(),
        pixel_values=shown_images.pixel_values,
        image_grid_thw=shown_images.image_grid_thw,
        feature_rows=torch.cat(feature_rows),
        predictors=torch.cat(predictors),
        targets=torch.tensor([token for _, response in sequences for token in response], dtype=torch.long),
        response_lengths=tuple(len(response) for _, response in sequences),
        banned=banned,
    )


class ShownImages:
    """The distinct images of some samples in order of first appearance, and where their features will be.

    Args:
        grids: as `collate` takes them.
    """

    def __init__(
        self,
        sequences: Sequence[Sequence_],
        processor: Processor,
        images: ImageSource,
        grids: Mapping[str, tuple[int, int]] | None,
    ) -> None:
        pixels: list[torch.Tensor] = []
        grids_thw: list[torch.Tensor] = []
        self._grids: dict[str, tuple[int, int]] = {}
        self._first_row: dict[str, int] = {}
        features = 0
        for image in (image for prompt, _ in sequences for image in prompt.images):
            if image.sha in self._grids:
                continue
            if grids is None:
                values, grid_thw = processor.pixels(images.get(image))
                _, rows, columns = grid_thw[0].tolist()
                pixels.append(values)
                grids_thw.append(grid_thw)
                self._grids[image.sha] = (rows // processor.merge_size, columns // processor.merge_size)
            else:
                self._grids[image.sha] = grids[image.sha]
            self._first_row[image.sha] = features
            features += math.prod(self._grids[image.sha])
        self.pixel_values = torch.cat(pixels) if pixels else None
        self.image_grid_thw = torch.cat(grids_thw) if grids_thw else None

    def grids_of(self, prompt: Prompt) -> list[tuple[int, int]]:
        """Token rows and columns of each image of a prompt."""
        return [self._grids[image.sha] for image in prompt.images]

    def rows_of(self, prompt: Prompt) -> torch.Tensor:
        """int64 [image tokens of the prompt]: the row of the features that each of them reads."""
        parts = [torch.arange(math.prod(self._grids[i.sha])) + self._first_row[i.sha] for i in prompt.images]
        return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.long)


def check_response(response: Sequence[int], banned: torch.Tensor) -> None:
    """Raise `EngineError` where a response holds an id that cannot have been sampled."""
    ids = torch.tensor(response, dtype=torch.long)
    wrong = (ids < 0) | (ids >= len(banned)) | banned[ids.clamp(0, len(banned) - 1)]
    if wrong.any():
        token = ids[wrong][0]
        raise EngineError(f"a response holds id {token}, which is banned from sampling: its logprob would be -inf")
