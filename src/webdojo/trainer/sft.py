"""Supervised fine-tuning on demonstrations: the learner's steps with the likelihood loss.

Each turn is a target on its own context, and only its response carries weight (OpenWebRL §4.2, A.5;
WebAgent-R1 §2.2).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor

from webdojo.errors import TrainError
from webdojo.policy.model.forward import TokenScores
from webdojo.trainer.batch import Sample, mini_batches
from webdojo.trainer.config import SFTConfig
from webdojo.trainer.learner.learner import Learner, Means
from webdojo.trainer.learner.optimizer import constant, cosine
from webdojo.trainer.objective import flat

Progress = Callable[[int, int, dict[str, float]], None]
"""Called after every optimizer step with the steps done, the steps in all, and the step's metrics."""


def train_sft(
    learner: Learner, samples: Sequence[Sample], config: SFTConfig, progress: Progress | None = None
) -> dict[str, float]:
    """Imitate demonstrations (`sft_samples`) for `config.epochs` passes, on `config.schedule` with a linear warm-up.

    The learner is a fresh one; policy training should start with another, as its optimizer moments and step count
    belong to this phase. Returns means over the last epoch: `loss` (nats a token), `entropy`, `grad_norm`, `lr`; and
    totals: `epoch` (how many), `samples`, `tokens` (of the responses), `optimizer_steps` and `seconds`. A loss or
    gradient that is not finite is a TrainError.
    """
    if not samples:
        raise TrainError("supervised fine-tuning has no samples: no demonstration has a turn with a response")
    started = time.perf_counter()
    first_step = learner.steps
    total_steps = config.epochs * -(-len(samples) // config.batch_size)
    warmup_steps = round(config.warmup_ratio * total_steps)
    rate = partial(cosine, total_steps=total_steps) if config.schedule == "cosine" else constant

    done = 0
    means = Means()
    for _ in range(config.epochs):
        means = Means()
        for batch in mini_batches(samples, config.batch_size, learner.generator):
            lr = rate(done, peak=config.lr, warmup_steps=warmup_steps)
            step = Means()
            learner.step(batch, share=len(batch) / len(samples), temperature=1.0, lr=lr, loss=imitation, means=step)
            done += 1
            means.add(step.result())
            if progress is not None:
                progress(done, total_steps, step.result())
    return means.result() | {"epoch": config.epochs} | learner.totals(samples, first_step, started)


def imitation(members: Sequence[Sample], scores: TokenScores) -> tuple[Tensor, dict[str, float]]:
    """Σ_k w_k · -log π_k of a micro-batch: the likelihood loss (OpenWebRL §4.2)."""
    weights_T = flat([sample.token_weights for sample in members], scores.logprobs.device)
    return -(weights_T * scores.logprobs).sum(), {}
