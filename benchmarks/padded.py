"""The usual way to batch samples, which webdojo's packed rows are compared with: one sample a row, padded on the right;
and prompts for `model.generate`, padded on the left.

Causal attention alone hides the padding. Tests take batches of single samples from here: they go through a model
without any of what makes packed rows fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from webdojo.policy.model.collate import Batch, Layout1D, Sequence_, ShownImages, check_response, lay_out
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageSource, Prompt


def collate(
    sequences: Sequence[Sequence_],
    processor: Processor,
    images: ImageSource,
    grids: Mapping[str, tuple[int, int]] | None = None,
) -> Batch:
    """Pad samples into a `Batch`; each distinct image is read and decoded once.

    Args:
        grids: token rows and columns of every image by hash, where the visual features are at hand: no image
            is read then. `feature_rows` counts on features in order of first appearance.

    Raises:
        EngineError: image tokens and features disagree, or a response holds a banned id.
    """
    assert sequences, "a batch needs at least one sample"
    shown = ShownImages(sequences, processor, images, grids)
    banned = processor.banned(processor.vocab_size)
    length = max(len(prompt) + len(response) for prompt, response in sequences)
    rows: list[Layout1D] = []
    predictors: list[torch.Tensor] = []
    for b, (prompt, response) in enumerate(sequences):
        check_response(response, banned)
        padding = [processor.stop_id] * (length - len(prompt) - len(response))
        rows.append(lay_out(prompt, [*response, *padding], shown.grids, processor.image_token_id))
        predictors.append(torch.arange(len(response)) + len(prompt) - 1 + b * length)
    input_ids = torch.tensor([row.ids for row in rows], dtype=torch.long)
    return Batch(
        input_ids=input_ids,
        position_ids=torch.stack([row.position_ids for row in rows], dim=1),
        mm_token_type_ids=(input_ids == processor.image_token_id).long(),
        pixel_values=shown.pixel_values,
        image_grid_thw=shown.image_grid_thw,
        feature_rows=torch.cat([shown.rows_of(prompt) for prompt, _ in sequences]),
        predictors=torch.cat(predictors),
        targets=torch.tensor([token for _, response in sequences for token in response], dtype=torch.long),
        response_lengths=tuple(len(response) for _, response in sequences),
        banned=banned,
    )


def left_padded(
    prompts: Sequence[Prompt],
    processor: Processor,
    images: ImageSource,
    pixels: dict[str, tuple[torch.Tensor, torch.Tensor]],
) -> dict[str, torch.Tensor]:
    """What `model.generate` takes of prompts with images as one batch, padded on the left; `pixels` keeps those of each
    image by its hash."""
    length = max(map(len, prompts))
    input_ids = torch.full((len(prompts), length), processor.stop_id)
    attention_mask = torch.zeros_like(input_ids)
    for row, prompt in enumerate(prompts):
        input_ids[row, length - len(prompt) :] = torch.tensor(prompt.ids(processor.image_token_id))
        attention_mask[row, length - len(prompt) :] = 1
    shown = [image for prompt in prompts for image in prompt.images]
    for image in shown:
        if image.sha not in pixels:
            pixels[image.sha] = processor.pixels(images.get(image))
    return {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "mm_token_type_ids": (input_ids == processor.image_token_id).long(),
        "pixel_values": torch.cat([pixels[image.sha][0] for image in shown]),
        "image_grid_thw": torch.cat([pixels[image.sha][1] for image in shown]),
    }
