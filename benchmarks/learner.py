"""Does radix packing give the same gradients, and how much faster is an update?

    python benchmarks/learner.py [--turns 5 15 30] [--models tiny mid] [--scale 8] [--repeats 3]

A group of trajectories as the OpenWebRL harness makes them: a text spine, the last screenshot, a response. Token
counts have the paper's proportions (1,800 prompt tokens, 1,240 a screenshot, 350 a response, groups of 5), divided
by `--scale`. One update is a forward and a backward pass over every response token of the group.

| way | what it does |
|---|---|
| `radix` | webdojo's: packed rows, shared prefixes once |
| `padded` | one sample a turn, padded in batches, neighbours in length together: the usual way |
| `varlen` | one sample a turn, no padding and no attention across samples, one after the other |

Speed-ups are against the better of the last two. Images go through the vision tower in every way, each distinct one
once a batch. `max_abs_loss_diff` and `max_rel_grad_diff` are those of `learner_exactness.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import resource
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import record
import torch
from learner_exactness import exactness
from PIL import Image
from transformers import PreTrainedModel, Qwen3VLForConditionalGeneration

from webdojo.policy.collate import Batch, Sequence_, collate
from webdojo.policy.forward import attend_in_rows, token_logprobs
from webdojo.policy.loading import load_model
from webdojo.policy.processor import Processor
from webdojo.progress import progress
from webdojo.train.radix import Paths, cut
from webdojo.train.rows import collate_row
from webdojo.types import ImageRef, ImageSegment, Prompt, TextSegment

GROUP = 5
PROMPT, SCREENSHOT, RESPONSE = 1800, 1240, 350
"""Tokens, as the paper has them."""
SIDE = 32
"""Pixels of the square that one visual token stands for."""


class Pictures:
    """Random screenshots in memory."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def make(self, seed: int, tokens: int) -> ImageRef:
        """A screenshot of about so many visual tokens."""
        rows = max(1, round(tokens**0.5))
        columns = max(1, round(tokens / rows))
        blocks = np.random.default_rng(seed).integers(0, 256, (rows * 4, columns * 4, 3), dtype=np.uint8)
        picture = Image.fromarray(blocks).resize((columns * SIDE, rows * SIDE), Image.Resampling.NEAREST)
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        data = buffer.getvalue()
        sha = hashlib.sha256(data).hexdigest()
        self._data[sha] = data
        return ImageRef(sha=sha, width=picture.width, height=picture.height, mime="image/png")

    def get(self, sha: str) -> bytes:
        return self._data[sha]


def group_of_turns(
    processor: Processor, pictures: Pictures, members: int, turns: int, scale: int, kept: int = 1
) -> list[Sequence_]:
    """The turns of a group: members share the system prompt, the task and the first screenshot."""
    rng = np.random.default_rng(0)
    words = [id for id in range(100, processor.vocab_size) if not processor.banned(processor.vocab_size)[id]]

    def text(tokens: int) -> tuple[int, ...]:
        return tuple(int(i) for i in rng.choice(words, max(tokens, 2)))

    system = text(PROMPT // scale)
    feedback, response = 30 // scale, RESPONSE // scale
    out: list[Sequence_] = []
    for member in range(members):
        spine = [TextSegment(ids=system)]
        screens: list[ImageSegment] = []
        for turn in range(turns):
            picture = pictures.make(1000 * member + turn if turn else 0, SCREENSHOT // scale)
            screens.append(ImageSegment(image=picture, tokens=processor.image_tokens(picture.width, picture.height)))
            segments: list[TextSegment | ImageSegment] = []
            for index, piece in enumerate(spine):
                segments += [piece, screens[index]] if index > turn - kept else [piece]
            said = text(response)
            out.append((Prompt(segments=tuple(segments)), list(said)))
            spine.append(TextSegment(ids=said + text(feedback)))
    return out


def mid_model(processor: Processor) -> PreTrainedModel:
    """A random Qwen3-VL of about 100 M parameters that reads what `tiny` reads."""
    tiny, _ = load_model("tiny")
    config: Any = tiny.config
    config.text_config.update({"hidden_size": 768, "intermediate_size": 2304, "num_hidden_layers": 12})
    config.text_config.update({"num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 64})
    config.text_config.rope_parameters["mrope_section"] = [12, 10, 10]
    config.vision_config.update({"hidden_size": 192, "intermediate_size": 768, "num_heads": 6, "depth": 4})
    config.vision_config.out_hidden_size = 768
    torch.manual_seed(0)
    return Qwen3VLForConditionalGeneration(config)


Scores = Callable[[Batch], torch.Tensor]
Way = Callable[[Sequence[Sequence_], int, Processor, Pictures], list[tuple[Batch, list[int]]]]
"""Batches of an update, and which samples each holds, in order."""


def radix(sequences: Sequence[Sequence_], budget: int, processor: Processor, pictures: Pictures) -> Any:
    for row in cut(Paths(sequences), budget):
        yield collate_row(row, [sequences[i] for i in row.members], processor, pictures), row.members


def padded(sequences: Sequence[Sequence_], budget: int, processor: Processor, pictures: Pictures) -> Any:
    lengths = [len(prompt) + len(response) for prompt, response in sequences]
    order = sorted(range(len(sequences)), key=lambda i: -lengths[i])
    while order:
        size = max(1, budget // lengths[order[0]])
        members, order = order[:size], order[size:]
        yield collate([sequences[i] for i in members], processor, pictures), members


def varlen(sequences: Sequence[Sequence_], budget: int, processor: Processor, pictures: Pictures) -> Any:
    for i, one in enumerate(sequences):
        yield collate([one], processor, pictures), [i]


WAYS = {"radix": radix, "padded": padded, "varlen": varlen}


def update(
    model: PreTrainedModel,
    way: str,
    sequences: Sequence[Sequence_],
    budget: int,
    processor: Processor,
    pictures: Pictures,
) -> tuple[float, int, dict[str, torch.Tensor]]:
    """Loss, computed tokens, and gradients of one update that weighs every token by its place."""
    sizes = [len(response) for _, response in sequences]
    weights = torch.linspace(-1, 1, sum(sizes)).split(sizes)
    total, tokens = 0.0, 0
    for batch, members in WAYS[way](sequences, budget, processor, pictures):
        scores = token_logprobs(model, batch, 1.0)
        loss = (torch.cat([weights[i] for i in members]) * scores.logprobs).sum() / sum(sizes)
        loss.backward()
        total += float(loss.detach())
        tokens += batch.input_ids.numel()
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad(set_to_none=True)
    return total, tokens, gradients


def timing(name: str, turns: int, arguments: argparse.Namespace, processor: Processor) -> dict[str, Any]:
    """Seconds of one update in each way, the ways taking turns."""
    model = load_model("tiny")[0] if name == "tiny" else mid_model(processor)
    attend_in_rows(model)
    if arguments.freeze_vision:
        model.model.visual.requires_grad_(False)
    pictures = Pictures()
    sequences = group_of_turns(processor, pictures, GROUP, turns, arguments.scale)
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    tokens: dict[str, int] = {}
    for repeat in range(arguments.repeats + 1):
        for way in WAYS:
            began = time.perf_counter()
            _, tokens[way], _ = update(model, way, sequences, arguments.budget, processor, pictures)
            if repeat:  # the first warms up
                seconds[way].append(time.perf_counter() - began)
    medians = {way: median(values) for way, values in seconds.items()}
    return {
        "measure": "timing",
        "model": name,
        "parameters": sum(p.numel() for p in model.parameters()),
        "turns": turns,
        "scale": arguments.scale,
        "freeze_vision": arguments.freeze_vision,
        "budget": arguments.budget,
        "tokens": tokens,
        "seconds": medians,
        "spread": {way: [min(values), max(values)] for way, values in seconds.items()},
        "speedup": min(medians["padded"], medians["varlen"]) / medians["radix"],
        "token_ratio": tokens["varlen"] / tokens["radix"],
        "peak_rss_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the record only")
    parser.add_argument("--turns", type=int, nargs="+", default=[5, 15, 30])
    parser.add_argument("--models", nargs="+", choices=("tiny", "mid"), default=["tiny", "mid"])
    parser.add_argument("--scale", type=int, default=8, help="the paper's token counts are divided by this")
    parser.add_argument("--budget", type=int, default=8192, help="tokens of a row or padded batch")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--freeze-vision", action="store_true")
    arguments = parser.parse_args()
    _, processor = load_model("tiny")
    rows = exactness()
    cases = [(name, turns) for name in arguments.models for turns in arguments.turns]
    with progress("learner benchmark", len(cases)) as bar:
        for name, turns in cases:
            rows.append(timing(name, turns, arguments, processor))
            bar.advance(1, speedup=rows[-1]["speedup"])
    exact = [row for row in rows if row["measure"] == "exactness"]
    headline: dict[str, float | None] = {
        "max_abs_loss_diff": max(row["abs_loss_diff"] for row in exact),
        "max_rel_grad_diff": max(row["max_rel_grad_diff"] for row in exact),
    }
    last = arguments.models[-1]
    of_last = {row["turns"]: row for row in rows if row["measure"] == "timing" and row["model"] == last}
    headline |= {f"speedup_{turns}": of_last[turns]["speedup"] if turns in of_last else None for turns in (5, 15, 30)}
    headline |= {
        f"token_ratio_{turns}": of_last[turns]["token_ratio"] if turns in of_last else None for turns in (15, 30)
    }
    record.record("learner", headline, rows)


if __name__ == "__main__":
    main()
