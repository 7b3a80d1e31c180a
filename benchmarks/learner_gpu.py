"""How fast is an update of a 4 B model on one GPU: packed or apart, with FlexAttention or with a dense mask?

    python benchmarks/learner_gpu.py [--turns 15 30] [--budget 65536] [--seconds 540] [--plan]

A randomly initialised Qwen3-VL with the sizes of Qwen3-VL-4B-Instruct, written down below: nothing is downloaded.
bfloat16 weights and gradients, activation checkpointing, every layer and the vision tower train; an update is a
forward and a backward pass over a group of 5 trajectories with the paper's token counts (1,800 prompt tokens, 1,240 a
screenshot, 350 a response). The optimizer's step is the same in all ways and left out; pixels are decoded before.

| way | rows | attention |
|---|---|---|
| `radix, flex` | packed, shared prefixes once | FlexAttention with the tree's block mask: the learner's, on a GPU |
| `radix, sdpa` | the same | `scaled_dot_product_attention` with a dense mask |
| `padded, sdpa` | one sample a turn, padded in batches | causal, without a mask (FlashAttention) |
| `packed, flex` | one sample a turn, packed end to end | FlexAttention with the samples' block mask |

The two ways that share nothing run on one trajectory of the group, since each of the others takes as long; `seconds`
is then five times what was measured (`padded` would pad less on a whole group). `mfu` is of the GPU's bfloat16 peak and
counts what a way must compute, each operation once: neither what checkpointing computes again nor masked pairs. First
the ways are compared on the tiny model in float32; they must agree. A way that does not fit or fails costs its own row
only, and one that would end after `--seconds` is left out. Without a GPU, or with `--plan`, the script prints what it
would run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import record
import torch
from learner_flops import NOTHING, Work, flops, work_of
from learner_ways import GROUP, WAYS, Pictures, Sizes, apart_rows, batches_of, group_of_turns, update
from transformers import PreTrainedModel, Qwen3VLForConditionalGeneration

from webdojo.policy.model.collate import Batch, Sequence_
from webdojo.policy.model.fast_layers import multiply_patches
from webdojo.policy.model.forward import MAX_LOGITS, text_model, token_logprobs
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.policy.model.tree_attention import FLEX
from webdojo.trainer.packing import cut, place

TEXT = {
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 262144,
}
VISION = {
    "depth": 24,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_heads": 16,
    "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [5, 11, 17],
    "out_hidden_size": 2560,
}
PEAK_FLOPS = 989e12
"""bfloat16, dense, of an H100 or H200 (SXM)."""
EXPECTED_MFU = 0.3
"""For the plan, and for what is left out for want of time."""


class Way(NamedTuple):
    rows: str
    attention: str
    members: int
    """Trajectories of the group that are measured."""


GPU_WAYS = {
    "radix, flex": Way("radix", FLEX, GROUP),
    "radix, sdpa": Way("radix", "sdpa", GROUP),
    "padded, sdpa": Way("padded", "sdpa", 1),
    "packed, flex": Way("packed", FLEX, 1),
}


def model_4b(device: str) -> PreTrainedModel:
    """Random weights in bfloat16; on the device `meta`, none."""
    tiny, _ = load_model("tiny")
    config: Any = tiny.config
    config.text_config.update(TEXT)
    config.text_config.rope_parameters["mrope_section"] = [24, 20, 20]
    config.vision_config.update(VISION)
    config.dtype = torch.bfloat16
    torch.manual_seed(0)
    with torch.device(device):
        model: PreTrainedModel = Qwen3VLForConditionalGeneration(config).to(torch.bfloat16)
    multiply_patches(model)
    return model


def parameters(model: PreTrainedModel) -> int:
    """Numbers that train."""
    return sum(p.numel() for p in model.parameters())


def works(way: Way, sequences: Sequence[Sequence_], budget: int) -> list[Work]:
    """What each row or batch of a way computes, from the shapes alone."""
    if way.rows == "padded":
        return [_padded_work([sequences[i] for i in members]) for members in batches_of(sequences, budget)]
    rows = cut(sequences, budget) if way.rows == "radix" else apart_rows(sequences, budget)
    found = []
    for row in rows:
        members = [sequences[i] for i in row.members]
        ends = place(row, [len(prompt) for prompt, _ in members], [len(response) for _, response in members]).ends
        pairs = int(ends.sum()) - row.tokens * (row.tokens - 1) // 2
        found.append(Work(row.tokens, pairs, sum(len(r) for _, r in members), _patches(members)))
    return found


def _padded_work(members: Sequence[Sequence_]) -> Work:
    length = max(len(prompt) + len(response) for prompt, response in members)
    tokens = length * len(members)
    return Work(tokens, tokens * (length + 1) // 2, sum(len(r) for _, r in members), _patches(members))


def _patches(members: Sequence[Sequence_]) -> tuple[int, ...]:
    shown = {image.sha: image for prompt, _ in members for image in prompt.images}
    return tuple(4 * image.width * image.height // 32**2 for image in shown.values())


def expected_gb(model: PreTrainedModel, batch: Work, way: Way) -> float:
    """Of the GPU, about, while the largest batch is computed: weights and gradients, the input of every layer, what one
    layer keeps, a chunk of logits with its gradient, and the mask as bytes and as numbers."""
    inner: Any = model.model
    text, vision = inner.language_model.config, inner.visual.config
    heads = text.num_attention_heads * text.head_dim
    inputs = batch.tokens * text.hidden_size * text.num_hidden_layers
    layer = batch.tokens * (4 * text.intermediate_size + 8 * text.hidden_size + 6 * heads)
    tower = sum(batch.patches) * vision.hidden_size * (vision.depth + 16)
    logits = min(batch.predicted * text.vocab_size, MAX_LOGITS)
    mask = batch.tokens**2 if way == GPU_WAYS["radix, sdpa"] else 0
    bytes_ = 4 * parameters(model) + 2 * (inputs + layer + tower) + 16 * logits + 3 * mask
    return bytes_ / 1e9


def plan(turns: Iterable[int], budget: int, processor: Processor) -> list[dict[str, Any]]:
    """What would run, one row a way."""
    model = model_4b("meta")
    rows = []
    for count in turns:
        for name, way in GPU_WAYS.items():
            batches = works(way, group_of_turns(processor, Sizes(), way.members, count, scale=1), budget)
            total = reduce(add, batches, NOTHING)
            parts = flops(model, total)
            rows.append(
                {
                    "measure": "plan",
                    "turns": count,
                    "way": name,
                    "members": way.members,
                    "batches": len(batches),
                    "longest": max(batch.tokens for batch in batches),
                    "tokens": total.tokens,
                    "images": len(total.patches),
                    "petaflops": {part: round(value / 1e15, 2) for part, value in parts.items()},
                    "expected_seconds": sum(parts.values()) / PEAK_FLOPS / EXPECTED_MFU,
                    "expected_gb": max(expected_gb(model, batch, way) for batch in batches),
                }
            )
    return rows


def checks(processor: Processor) -> list[dict[str, Any]]:
    """Loss and gradients of every way against one sample after the other, on the tiny model.

    Raises:
        SystemExit: a way computes something else.
    """
    model: Any = load_model("tiny")[0].to("cuda")
    pictures = Pictures()
    sequences = group_of_turns(processor, pictures, GROUP, 5, scale=8)

    def learn(rows: str, attention: str) -> tuple[float, dict[str, torch.Tensor]]:
        text_model(model).config._attn_implementation = attention
        loss, _, gradients = update(model, rows, sequences, 1500, processor, pictures)
        return loss, gradients

    expected, plain = learn("varlen", "sdpa")
    found = []
    for name, way in GPU_WAYS.items():
        loss, gradients = learn(way.rows, way.attention)
        apart = max(float((gradients[n] - g).norm() / (g.norm() + 1e-12)) for n, g in plain.items())
        row = {"measure": "check", "way": name, "abs_loss_diff": abs(loss - expected), "max_rel_grad_diff": apart}
        found.append(row)
        if row["abs_loss_diff"] > 1e-4 or apart > 1e-2:
            raise SystemExit(f"{name} does not compute what separate samples do, so its speed says nothing: {row}")
    return found


def timed(model: PreTrainedModel, batches: Sequence[tuple[Batch, Sequence[int]]]) -> float:
    """Seconds of a forward and backward pass over batches."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    for batch, _ in batches:
        scores = token_logprobs(model, batch.to("cuda"), 1.0)
        (scores.logprobs * torch.linspace(-1, 1, len(scores.logprobs), device="cuda")).mean().backward()
    torch.cuda.synchronize()
    model.zero_grad(set_to_none=True)
    return time.perf_counter() - began


def measure(
    model: PreTrainedModel, name: str, turns: int, batches: Sequence[tuple[Batch, Sequence[int]]], tokens_apart: int
) -> dict[str, Any]:
    """One way: warmed up on two batches, since FlexAttention compiles for one length, then for any."""
    way = GPU_WAYS[name]
    text_model(model).config._attn_implementation = way.attention
    warm_up = timed(model, batches[:2])
    torch.cuda.reset_peak_memory_stats()
    seconds = timed(model, batches)
    work = reduce(add, (work_of(batch) for batch, _ in batches), NOTHING)
    return {
        "measure": "timing",
        "turns": turns,
        "way": name,
        "members": way.members,
        "batches": len(batches),
        "tokens": work.tokens,
        "measured_seconds": seconds,
        "warm_up_seconds": warm_up,
        "seconds": seconds * GROUP / way.members,
        "tokens_per_s": work.tokens / seconds,
        "sample_tokens_per_s": tokens_apart * way.members / GROUP / seconds,
        "mfu": sum(flops(model, work).values()) / seconds / PEAK_FLOPS,
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
    }


def timings(
    turns: Iterable[int], budget: int, processor: Processor, planned: Sequence[dict[str, Any]], ends: float
) -> Any:
    """One row a way and number of turns; `ends` is when all must be over."""
    model = model_4b("cuda")
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.train()
    expected = {(row["turns"], row["way"]): row["expected_seconds"] for row in planned}
    for count in turns:
        pictures = Pictures()
        prepared: dict[str, Any] = {}
        for name, way in GPU_WAYS.items():
            row = {"measure": "timing", "turns": count, "way": name}
            if time.monotonic() + 1.5 * expected[count, name] > ends:
                yield row | {"error": "left out: no time"}
                continue
            sequences = group_of_turns(processor, pictures, way.members, count, scale=1)
            if way.rows not in prepared:
                prepared[way.rows] = list(WAYS[way.rows](sequences, budget, processor, pictures))
            tokens_apart = GROUP // way.members * sum(len(p) + len(r) for p, r in sequences)
            try:
                yield measure(model, name, count, prepared[way.rows], tokens_apart)
            except Exception as error:  # out of memory, or a kernel that does not compile: the other ways still run
                model.zero_grad(set_to_none=True)
                yield row | {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]}
            torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the record only")
    parser.add_argument("--plan", action="store_true", help="print what would run, and run nothing")
    parser.add_argument("--turns", type=int, nargs="+", default=[15, 30])
    parser.add_argument("--budget", type=int, default=65536, help="tokens of a row or padded batch")
    parser.add_argument("--seconds", type=float, default=540, help="after which nothing runs any more")
    arguments = parser.parse_args()
    ends = time.monotonic() + arguments.seconds
    _, processor = load_model("tiny")
    planned = plan(arguments.turns, arguments.budget, processor)
    if arguments.plan or not torch.cuda.is_available():
        print("torch sees no GPU; on one this would run:" if not arguments.plan else "This would run:")
        for row in planned:
            print(
                f"{row['turns']} turns, {row['way']}: {row['members']} trajectories, {row['tokens']} tokens in "
                f"{row['batches']} batches of at most {row['longest']}, {row['images']} images, "
                f"{sum(row['petaflops'].values()):.1f} PFLOP {row['petaflops']}, about {row['expected_seconds']:.0f} s "
                f"and {row['expected_gb']:.0f} GB"
            )
        return
    rows = [*planned, *checks(processor)]
    for row in timings(arguments.turns, arguments.budget, processor, planned, ends):
        rows.append(row)
        print(row, flush=True)
    record.record("learner_gpu", headline(rows, arguments.turns), rows)


def headline(rows: Sequence[dict[str, Any]], turns: Iterable[int]) -> dict[str, float | None]:
    """Figures by number of turns; None where a way has none."""
    found: dict[str, float | None] = {}
    for count in turns:
        by_way = {r["way"]: r for r in rows if r["measure"] == "timing" and r["turns"] == count and "error" not in r}
        ours = by_way.get("radix, flex", {})
        apart = min((by_way[way]["seconds"] for way in ("padded, sdpa", "packed, flex") if way in by_way), default=None)
        dense = by_way.get("radix, sdpa", {}).get("seconds")
        found[f"speedup_{count}"] = apart / ours["seconds"] if ours and apart else None
        found[f"flex_vs_sdpa_{count}"] = dense / ours["seconds"] if ours and dense else None
        for key in ("tokens_per_s", "sample_tokens_per_s", "mfu", "peak_gb"):
            found[f"{key}_{count}"] = ours.get(key)
    return found


if __name__ == "__main__":
    main()
