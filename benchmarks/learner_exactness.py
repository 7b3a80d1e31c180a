"""Do packed rows give the loss and the gradients of one sample a turn? On the turns of every harness.

`max_abs_loss_diff` and `max_rel_grad_diff` of `benchmarks/learner.py` are the largest over these cases: five harnesses,
groups of 1 to 8, screens that repeat and screens that differ, rows in one piece and rows that are cut. In float32; the
gradient of a parameter differs by ‖g - g'‖ / ‖g'‖.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

import torch
from harness_turns import HARNESSES, group_turns
from padded import collate
from transformers import PreTrainedModel

from webdojo.policy.model.collate import Batch, Sequence_
from webdojo.policy.model.forward import attend_in_rows, narrow_last_layer, token_logprobs
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.progress import progress
from webdojo.store.images import MemoryImages
from webdojo.trainer.packing import collate_micro_batch, cut
from webdojo.types import ImageSource

TURNS = 3
WHOLE = 1_000_000
"""Tokens of a row that holds everything."""


def exactness() -> list[dict[str, Any]]:
    """One row a case, on the tiny model."""
    model, processor = load_model("tiny")
    sizes = (1, 2, 3, 5, 8)
    cases = [(name, size, (size + index) % 2 == 0) for index, name in enumerate(HARNESSES) for size in sizes]
    found = []
    with progress("exactness", len(cases)) as bar:
        for name, size, repeated in cases:
            images = MemoryImages()
            harness = HARNESSES[name].build(processor)
            sequences = group_turns(harness, images, size, TURNS, repeated=repeated)
            case = {"measure": "exactness", "harness": name, "members": size, "repeated": repeated}
            found += [case | row for row in compare(model, processor, images, sequences)]
            bar.advance(1)
    return found


def compare(
    model: PreTrainedModel, processor: Processor, images: ImageSource, sequences: Sequence[Sequence_]
) -> list[dict[str, Any]]:
    """Packed in one row, and in rows that are cut, against one sample a turn."""
    apart = [(collate([one], processor, images), [i]) for i, one in enumerate(sequences)]
    expected, plain = _update(model, apart, sequences)
    learner = deepcopy(model)
    narrow_last_layer(learner)
    attend_in_rows(learner)
    rows = []
    for budget in (WHOLE, max(len(prompt) + len(response) for prompt, response in sequences)):
        packed = [
            (collate_micro_batch(row, [sequences[i] for i in row.members], processor, images), row.members)
            for row in cut(sequences, budget)
        ]
        loss, gradients = _update(learner, packed, sequences)
        assert gradients.keys() == plain.keys()
        differences = [float((gradients[name] - g).norm() / (g.norm() + 1e-12)) for name, g in plain.items()]
        rows.append(
            {
                "rows": len(packed),
                "tokens": sum(batch.input_ids.numel() for batch, _ in packed),
                "tokens_apart": sum(batch.input_ids.numel() for batch, _ in apart),
                "images": sum(len(prompt.images) for prompt, _ in sequences),
                "distinct_images": len({image.sha for prompt, _ in sequences for image in prompt.images}),
                "abs_loss_diff": abs(loss - expected),
                "max_rel_grad_diff": max(differences),
            }
        )
    return rows


def _update(
    model: PreTrainedModel, batches: Iterable[tuple[Batch, Sequence[int]]], sequences: Sequence[Sequence_]
) -> tuple[float, dict[str, torch.Tensor]]:
    """Loss and gradients of an update that weighs every response token by its place.

    Args:
        batches: each with the samples that it holds, in order.
    """
    sizes = [len(response) for _, response in sequences]
    weights = torch.linspace(-1, 1, sum(sizes)).split(sizes)
    total = 0.0
    for batch, members in batches:
        scores = token_logprobs(model, batch, 1.0)
        loss = (torch.cat([weights[i] for i in members]) * scores.logprobs).sum() / sum(sizes)
        loss.backward()
        total += float(loss.detach())
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad(set_to_none=True)
    return total, gradients
