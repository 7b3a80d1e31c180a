"""Micro-batches as tensors: what `radix` decides, laid out for the forward pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import torch

from webdojo.policy.model.collate import Batch, Sequence_, ShownImages, check_response, lay_out
from webdojo.policy.model.processor import Processor
from webdojo.trainer.packing.radix import MicroBatch, place
from webdojo.types import ImageSource


def collate_micro_batch(
    micro_batch: MicroBatch,
    sequences: Sequence[Sequence_],
    processor: Processor,
    images: ImageSource,
    grids: Mapping[str, tuple[int, int]] | None = None,
) -> Batch:
    """A micro-batch as a `Batch` of a single long row; its T response tokens stand member after member.

    Args:
        sequences: the samples of `micro_batch.members`, in that order.
        grids: as `policy.collate.collate` takes them.

    Raises:
        EngineError: image tokens and features disagree, or a response holds a banned id.
    """
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


def with_blank_image(batch: Batch, processor: Processor) -> Batch:
    """A batch without images as one whose vision tower runs all the same, on an image that no token shows.

    Scores stay the same; the tower gets gradients of zero. Ranks that share the tower's weights need it where only
    some of them have images.
    """
    pixel_values, image_grid_thw = processor.blank()
    return dataclasses.replace(batch, pixel_values=pixel_values, image_grid_thw=image_grid_thw)
