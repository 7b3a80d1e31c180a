"""`webdojo tiny train`: trains the tiny model from scratch, on screens of embedded training sites.

First the vision tower learns to *see*: throw-away heads on its tokens predict the characters and
words under each token, and each token's row and column. Then the whole model learns to *answer*
(`questions.py`) and to write turns of the agent, while the dense loss stays on. Two
processes on two cores average their gradients; on a GPU one process does the work. A training that was
stopped continues from its last measurement. The finished folder holds bf16 weights in Hugging Face
layout and `figures.json`, with the options, the seed and all measurements.
"""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.multiprocessing.spawn import spawn
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters
from transformers import PreTrainedTokenizerFast, Qwen3VLConfig, Qwen3VLForConditionalGeneration

from webdojo.errors import ModelError
from webdojo.policy.config import TINY
from webdojo.policy.model.fast_layers import multiply_patches
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.loading import load_model, save_model
from webdojo.policy.model.processor import Processor
from webdojo.progress import progress
from webdojo.tiny.batches import Batch, BatchSource
from webdojo.tiny.losses import AttentionLoss, Heads, Metrics, answering_loss, seeing_loss, word_token_ids
from webdojo.tiny.screens import Screens, render_screens
from webdojo.tiny.tokenizer import build_tokenizer
from webdojo.tiny.vocabulary import KINDS, Vocabulary

TRAIN_SEEDS = list(range(200))
CHECK_SEEDS = list(range(200, 240))
"""Sites that neither the tiny model nor any recipe trains on by default."""
CHECK_SCREENS = 400
LATEST = "latest.pt"
"""The state of the training at its last measurement."""


@dataclass(frozen=True)
class TinyConfig:
    """Options of the training."""

    seed: int = 0
    kinds: tuple[str, ...] = KINDS
    """Kinds of sites whose screens and words it learns."""
    init: str = ""
    """A tiny model whose weights it begins with, each token with those of the same text; empty: from nothing."""
    screens: int = 5000
    see_samples: int = 6_400
    """Screens that the vision tower sees with its dense heads alone."""
    answer_samples: int = 56_000
    """Screens that the whole model sees, each with `questions` questions."""
    questions: int = 8
    batch_size: int = 16
    """Screens in an optimizer step of one process."""
    lr: float = 2e-3
    workers: int = 2
    check_every: int = 100
    """Steps between measurements."""


def main(out: Path, config: TinyConfig) -> None:
    """Render the screens (kept in `out` and reused) and train, or continue a training that was stopped.

    Writes `out/model`; copied into the package's `policy/weights` it is a model that recipes name.
    """
    latest = out / LATEST
    if latest.exists() and torch.load(latest, weights_only=True)["config"] != asdict(config):
        raise ModelError(
            f"{str(latest)!r} belongs to a training with other options; give another --out, or delete that file"
        )
    for part, seeds, n in (("train", TRAIN_SEEDS, config.screens), ("check", CHECK_SEEDS, CHECK_SCREENS)):
        made, wanted = out / part / "made_with", f"seed {config.seed}, {n} screens of {', '.join(config.kinds)}"
        if not made.exists() or made.read_text() != wanted:
            with progress(f"render {part}", n) as bar:
                render_screens(out / part, config.kinds, seeds, n, config.seed, partial(bar.advance, 1))
            made.write_text(wanted)
    with TemporaryDirectory() as folder:
        rendezvous = str(Path(folder) / "rendezvous")
        if config.workers == 1:
            _learn(0, config, out, rendezvous)
        else:
            spawn(_learn, args=(config, out, rendezvous), nprocs=config.workers, join=True)


def _learn(rank: int, config: TinyConfig, folder: Path, rendezvous: str) -> None:
    """One process of the training; rank 0 measures and saves. Processes find each other by the file `rendezvous`."""
    if config.workers > 1:
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=config.workers)
    shipped = Processor.load(model_folder(TINY))
    known = Vocabulary(config.kinds)
    tokenizer = build_tokenizer(shipped, known)
    processor = Processor(tokenizer, shipped.image_processor)
    model: Any = build_model(tokenizer, config.seed)
    if config.init:
        take_over(model, tokenizer, config.init)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    heads = Heads(model.config.text_config.hidden_size, word_token_ids(processor.encode, known)).to(model.device)
    batches = BatchSource(Screens(folder / "train"), processor, config.questions, known)
    check = BatchSource(Screens(folder / "check"), processor, config.questions, known)
    seeing = [*model.model.visual.parameters(), *model.get_input_embeddings().parameters(), *heads.parameters()]
    answering = partial(answering_loss, model, heads, AttentionLoss(model), image_token_id=processor.image_token_id)
    phases = (
        ("see", config.see_samples, seeing, partial(seeing_loss, model, heads)),
        ("answer", config.answer_samples, [*model.parameters(), *heads.parameters()], answering),
    )
    latest = folder / LATEST
    saved: dict[str, Any] = torch.load(latest, weights_only=True) if latest.exists() else {}
    history: list[dict[str, Any]] = saved.get("history", [])
    started = time.monotonic() - (history[-1]["seconds"] if history else 0)
    for phase, samples, parameters, loss_of in phases:
        ask, batch = phase == "answer", config.batch_size * config.workers
        done = max((entry["samples"] // batch for entry in history if entry["phase"] == phase), default=0)
        steps = samples // batch
        optimizer = torch.optim.AdamW(parameters, lr=config.lr, betas=(0.9, 0.98), weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, partial(_rate, steps=steps))
        parts = {"model": model, "heads": heads, "optimizer": optimizer, "schedule": schedule}
        if history and history[-1]["phase"] == phase:
            for name, part in parts.items():
                part.load_state_dict(saved[name])
        with progress(f"{phase} (process {rank})", steps) as bar:
            bar.advance(done)
            for step in range(done + 1, steps + 1):
                rng = random.Random(f"course-{config.seed}-{phase}-{step}-{rank}")
                loss, _ = loss_of(batches.batch(rng, config.batch_size, augment=True, ask=ask))
                optimizer.zero_grad()
                loss.backward()
                if config.workers > 1:
                    _average_gradients(parameters, config.workers)
                clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                schedule.step()
                bar.advance(1, loss=loss.item())
                if rank == 0 and (step % config.check_every == 0 or step == steps):
                    entry = {"phase": phase, "samples": step * batch, "seconds": round(time.monotonic() - started)}
                    history.append(entry | _measure(loss_of, check, ask))
                    print(json.dumps(history[-1]), flush=True)
                    states = {name: part.state_dict() for name, part in parts.items()}
                    torch.save(states | {"config": asdict(config), "history": history}, latest.with_suffix(".new"))
                    latest.with_suffix(".new").replace(latest)
    if rank == 0:
        save_model(model.cpu().to(torch.bfloat16), processor, folder / "model")
        size = sum(p.numel() for p in model.parameters())
        card = {"command": "webdojo tiny train", "config": asdict(config), "parameters": size, "history": history}
        (folder / "model" / "figures.json").write_text(json.dumps(card, indent=1) + "\n")
    if config.workers > 1:
        dist.destroy_process_group()


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen3VLForConditionalGeneration:
    """A freshly initialised model for this tokenizer, of the sizes in the shipped model's `config.json`.

    Two things differ from the library's default initialisation, because a small model otherwise
    learns them only after very many samples. The learned position grid starts ten times larger, so
    that a visual token's place on the screen can be decoded at once. Queries start equal to keys, so
    that equal content attends to equal content: a name in the question to the same name on the screen.
    """
    vocabulary = tokenizer.get_vocab()
    config = Qwen3VLConfig.from_pretrained(model_folder(TINY))
    text: Any = config.text_config
    text.vocab_size = len(tokenizer)
    text.eos_token_id, text.pad_token_id = vocabulary["<|im_end|>"], vocabulary["<|endoftext|>"]
    config.image_token_id, config.video_token_id = vocabulary["<|image_pad|>"], vocabulary["<|video_pad|>"]
    config.vision_start_token_id = vocabulary["<|vision_start|>"]
    config.vision_end_token_id = vocabulary["<|vision_end|>"]
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration(config)
    with torch.no_grad():
        model.model.visual.pos_embed.weight.normal_(std=0.2)
        for layer in model.model.language_model.layers:
            keys = layer.self_attn.k_proj.weight.view(text.num_key_value_heads, 1, text.head_dim, text.hidden_size)
            queries = layer.self_attn.q_proj.weight.view(text.num_key_value_heads, -1, *keys.shape[2:])
            queries.copy_(keys.expand_as(queries))
    multiply_patches(model)
    return model


def take_over(model: Qwen3VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, source: str) -> None:
    """Give a model the weights of another of the same sizes, and its tokens those of the same text."""
    other, processor = load_model(source)
    weights, known = other.state_dict(), processor.tokenizer.get_vocab()
    pairs = [(row, known[token]) for token, row in tokenizer.get_vocab().items() if token in known]
    rows, sources = (list(each) for each in zip(*pairs, strict=True))
    with torch.no_grad():
        for name, own in model.state_dict().items():
            if own.shape == weights[name].shape:
                own.copy_(weights[name])
            else:
                own[rows] = weights[name][sources].to(own.dtype)


def _rate(step: int, steps: int) -> float:
    """The learning rate's factor: warm-up over 100 steps, then constant, then linear to 1/50 over the last 40 %."""
    return min(1.0, (step + 1) / 100, max(0.02, (steps - step) / (0.4 * steps)))


def _average_gradients(parameters: list[nn.Parameter], workers: int) -> None:
    """Average all gradients over the process group by one all-reduce."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = parameters_to_vector(gradients)
    dist.all_reduce(flat)
    vector_to_parameters(flat / workers, gradients)


@torch.no_grad()
def _measure(loss_of: Any, check: BatchSource, ask: bool) -> dict[str, float]:
    """The mean metrics over check screens, which no training step sees."""
    rng = random.Random("check")
    collected: Metrics = defaultdict(list)
    for _ in range(4):
        batch: Batch = check.batch(rng, 32, augment=False, ask=ask)
        for name, values in loss_of(batch)[1].items():
            collected[name] += values
    return {name: round(sum(values) / len(values), 4) for name, values in collected.items()}
