"""What `learner.py` and `learner_gpu.py` measure: groups of agent turns, models, and ways to learn from them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from padded import collate
from PIL import Image
from transformers import PreTrainedModel, Qwen3VLForConditionalGeneration

from webdojo.policy.model.collate import Batch, Sequence_
from webdojo.policy.model.fast_layers import multiply_patches
from webdojo.policy.model.features import FeatureCache, ImageFeatures
from webdojo.policy.model.forward import join_features, token_logprobs
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.trainer.packing import MicroBatch, collate_micro_batch, cut
from webdojo.types import ImageRef, ImageSegment, Prompt, TextSegment

GROUP = 5
PROMPT, SCREENSHOT, RESPONSE = 1800, 1240, 350
"""Tokens, as OpenWebRL has them."""
FEEDBACK = 130
"""Tokens from a response to the next turn's screenshot."""
SIDE = 32
"""Pixels of the square that one visual token stands for."""


def grid(tokens: int) -> tuple[int, int]:
    """Token rows and columns of a screenshot of about so many tokens."""
    rows = max(1, round(tokens**0.5))
    return rows, max(1, round(tokens / rows))


class Screens(Protocol):
    def make(self, seed: int, tokens: int) -> ImageRef:
        """A screenshot of about so many visual tokens, another one for every seed."""


class Pictures:
    """Random screenshots in memory."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def make(self, seed: int, tokens: int) -> ImageRef:
        rows, columns = grid(tokens)
        blocks = np.random.default_rng(seed).integers(0, 256, (rows * 4, columns * 4, 3), dtype=np.uint8)
        picture = Image.fromarray(blocks).resize((columns * SIDE, rows * SIDE), Image.Resampling.NEAREST)
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        data = buffer.getvalue()
        sha = hashlib.sha256(data).hexdigest()
        self._data[sha] = data
        return ImageRef(sha=sha, width=picture.width, height=picture.height, mime="image/png")

    def get(self, image: ImageRef) -> bytes:
        return self._data[image.sha]


class Sizes:
    """Screenshots of which only the size is known: enough to count what an update computes."""

    def make(self, seed: int, tokens: int) -> ImageRef:
        rows, columns = grid(tokens)
        return ImageRef(sha=f"{seed:064x}", width=columns * SIDE, height=rows * SIDE, mime="image/png")


def group_of_turns(
    processor: Processor,
    pictures: Screens,
    members: int,
    turns: int,
    scale: int,
    kept: int = 1,
    *,
    alike: bool = True,
    number: int = 0,
) -> list[Sequence_]:
    """The turns of group `number`: members share the system prompt, the task and the first screenshot, if they are
    `alike`."""
    rng = np.random.default_rng(number)
    words = np.flatnonzero(~processor.banned(processor.vocab_size).numpy())
    words = words[words >= 100]

    def text(tokens: int) -> tuple[int, ...]:
        return tuple(int(i) for i in rng.choice(words, max(tokens, 2)))

    system = text(PROMPT // scale)
    out: list[Sequence_] = []
    for member in range(members):
        spine = [TextSegment(ids=system if alike else text(PROMPT // scale))]
        screens: list[ImageSegment] = []
        for turn in range(turns):
            first = turn == 0 and alike
            picture = pictures.make(
                100_000 * number + (0 if first else 1000 * (member + 1) + turn), SCREENSHOT // scale
            )
            screens.append(ImageSegment(image=picture, tokens=processor.image_tokens(picture.width, picture.height)))
            segments: list[TextSegment | ImageSegment] = []
            for index, piece in enumerate(spine):
                segments += [piece, screens[index]] if index > turn - kept else [piece]
            said = text(RESPONSE // scale)
            out.append((Prompt(segments=tuple(segments)), list(said)))
            spine.append(TextSegment(ids=said + text(FEEDBACK // scale)))
    return out


def mid_model() -> PreTrainedModel:
    """A random Qwen3-VL of about 100 M parameters that reads what `tiny` reads."""
    tiny, _ = load_model("tiny")
    config: Any = tiny.config
    config.text_config.update({"hidden_size": 768, "intermediate_size": 2304, "num_hidden_layers": 12})
    config.text_config.update({"num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 64})
    config.text_config.rope_parameters["mrope_section"] = [12, 10, 10]
    config.vision_config.update({"hidden_size": 192, "intermediate_size": 768, "num_heads": 6, "depth": 4})
    config.vision_config.out_hidden_size = 768
    torch.manual_seed(0)
    model: PreTrainedModel = Qwen3VLForConditionalGeneration(config).eval()
    multiply_patches(model)
    return model


Grids = Mapping[str, tuple[int, int]] | None
Batches = Iterator[tuple[Batch, Sequence[int]]]
"""Batches of an update, and which samples each holds, in order."""


def radix(
    sequences: Sequence[Sequence_], budget: int, processor: Processor, pictures: Pictures, grids: Grids = None
) -> Batches:
    """webdojo's: packed rows, shared prefixes once."""
    for row in cut(sequences, budget):
        yield collate_micro_batch(row, [sequences[i] for i in row.members], processor, pictures, grids), row.members


def padded(
    sequences: Sequence[Sequence_], budget: int, processor: Processor, pictures: Pictures, grids: Grids = None
) -> Batches:
    """One sample a turn, padded in batches, neighbours in length together: the usual way."""
    for members in batches_of(sequences, budget):
        yield collate([sequences[i] for i in members], processor, pictures, grids), members


def varlen(
    sequences: Sequence[Sequence_], budget: int, processor: Processor, pictures: Pictures, grids: Grids = None
) -> Batches:
    """One sample a turn, one after the other."""
    for i, one in enumerate(sequences):
        yield collate([one], processor, pictures, grids), [i]


def packed(
    sequences: Sequence[Sequence_], budget: int, processor: Processor, pictures: Pictures, grids: Grids = None
) -> Batches:
    """One sample a turn, packed end to end in rows, no attention across samples."""
    for row in apart_rows(sequences, budget):
        yield collate_micro_batch(row, [sequences[i] for i in row.members], processor, pictures, grids), row.members


WAYS: dict[str, Callable[..., Batches]] = {"radix": radix, "padded": padded, "varlen": varlen, "packed": packed}


def batches_of(sequences: Sequence[Sequence_], budget: int) -> Iterator[list[int]]:
    """Samples in batches of at most `budget` tokens with the padding, longest first."""
    lengths = [len(prompt) + len(response) for prompt, response in sequences]
    order = sorted(range(len(sequences)), key=lambda i: -lengths[i])
    while order:
        size = max(1, budget // lengths[order[0]])
        members, order = order[:size], order[size:]
        yield members


def apart_rows(sequences: Sequence[Sequence_], budget: int) -> list[MicroBatch]:
    """Samples in rows of at most `budget` tokens that share nothing."""
    lengths = [len(prompt) + len(response) - 1 for prompt, response in sequences]
    rows: list[list[int]] = []
    room = 0
    for i, length in enumerate(lengths):
        if length > room:
            rows.append([])
            room = budget
        rows[-1].append(i)
        room -= length
    return [MicroBatch(tuple(members), (0,) * len(members), sum(lengths[i] for i in members)) for members in rows]


def update(
    model: PreTrainedModel,
    way: str,
    sequences: Sequence[Sequence_],
    budget: int,
    processor: Processor,
    pictures: Pictures,
    cache: FeatureCache | None = None,
) -> tuple[float, int, dict[str, torch.Tensor]]:
    """Loss, computed tokens, and gradients of one update that weighs every token by its place.

    With a `cache`, visual features are constants that are read from it.
    """
    sizes = [len(response) for _, response in sequences]
    weights = torch.linspace(-1, 1, sum(sizes)).to(model.device).split(sizes)
    images: dict[str, ImageFeatures] = {}
    if cache is not None:
        for prompt, _ in sequences:
            images |= cache.of(prompt)
    grids = {sha: image.grid for sha, image in images.items()} if cache is not None else None
    total, tokens = 0.0, 0
    for batch, members in WAYS[way](sequences, budget, processor, pictures, grids):
        shown = {image.sha: images[image.sha] for i in members for image in sequences[i][0].images} if images else {}
        features = join_features([image.features for image in shown.values()])
        scores = token_logprobs(model, batch.to(model.device), 1.0, features)
        loss = (torch.cat([weights[i] for i in members]) * scores.logprobs).sum() / sum(sizes)
        loss.backward()
        total += float(loss.detach())
        tokens += batch.input_ids.numel()
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad(set_to_none=True)
    return total, tokens, gradients
