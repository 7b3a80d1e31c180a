"""Supervised fine-tuning on demonstrations: the learner's steps with the likelihood loss.

Each turn is a target on its own context, and only its response carries weight (OpenWebRL §4.2, A.5;
WebAgent-R1 §2.2).
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence

from torch import Tensor

from webdojo.errors import TrainError
from webdojo.policy.model.forward import TokenScores
from webdojo.trainer.batch import Sample
from webdojo.trainer.config import SFTConfig
from webdojo.trainer.learner.learner import Learner, Means
from webdojo.trainer.learner.optimizer import constant, cosine
from webdojo.trainer.objective import flat
from webdojo.types import Trajectory

Progress = Callable[[int, int, dict[str, float]], None]
"""Called after every optimizer step with the steps done, the steps in all, and the step's metrics; an epoch's last step
has its `val_loss` where demonstrations are held out."""


def train_sft(
    learner: Learner,
    samples: Sequence[Sample],
    config: SFTConfig,
    progress: Progress | None = None,
    validation: Sequence[Sample] = (),
) -> dict[str, float]:
    """Imitate demonstrations for `config.epochs` passes, on `config.schedule` with a linear warm-up.

    Args:
        learner: a fresh one; policy training should start with another, as its optimizer moments and step
            count belong to this phase.
        samples: what `sft_samples` gave.
        config: epochs, batch size, schedule, and whether the best epoch's weights stay.
        progress: for a progress bar and the log.
        validation: the samples of demonstrations that are held out.

    Returns:
        Means over the last epoch: `loss` (nats a token), `entropy`, `grad_norm`, `lr`. Totals: `samples`, `tokens` (of
        the responses), `optimizer_steps` and `seconds`. The `epoch` whose weights the learner has at the end, and their
        `val_loss` where there is `validation`.

    Raises:
        TrainError: no samples, or a loss or gradient that is not finite.
    """
    if not samples:
        raise TrainError("supervised fine-tuning has no samples: no demonstration has a turn with a response")
    started = time.perf_counter()
    first_step = learner.steps
    total_steps = config.epochs * -(-len(samples) // config.batch_size)
    warmup_steps = round(config.warmup_ratio * total_steps)

    done = 0
    means = Means()
    best, best_epoch = math.inf, config.epochs
    for epoch in range(1, config.epochs + 1):
        means = Means()
        batches = learner.shuffled(samples, config.batch_size)
        for number, batch in enumerate(batches, 1):
            lr = (
                cosine(done, peak=config.lr, warmup_steps=warmup_steps, total_steps=total_steps)
                if config.schedule == "cosine"
                else constant(done, peak=config.lr, warmup_steps=warmup_steps)
            )
            step = Means()
            learner.step(batch, share=len(batch) / len(samples), temperature=1.0, lr=lr, loss=imitation, means=step)
            done += 1
            metrics = step.result()
            means.add(metrics)
            if validation and number == len(batches):
                metrics["val_loss"] = mean_loss(learner, validation, config.batch_size)
                if epoch == 1 or metrics["val_loss"] < best or not config.load_best_model_at_end:
                    best, best_epoch = metrics["val_loss"], epoch
                    if config.load_best_model_at_end:
                        learner.remember()
            if progress is not None:
                progress(done, total_steps, metrics)
    if validation and config.load_best_model_at_end:
        learner.recall()
    return (
        means.result()
        | ({"val_loss": best} if validation else {})
        | {
            "epoch": best_epoch,
            "samples": len(samples),
            "tokens": sum(len(sample.response_ids) for sample in samples),
            "optimizer_steps": learner.steps - first_step,
            "seconds": time.perf_counter() - started,
        }
    )


def imitation(members: Sequence[Sample], scores: TokenScores) -> tuple[Tensor, dict[str, float]]:
    """Σ_k w_k · -log π_k of a micro-batch: the likelihood loss (OpenWebRL §4.2)."""
    weights_T = flat([sample.token_weights for sample in members], scores.logprobs.device)
    return -(weights_T * scores.logprobs).sum(), {}


def mean_loss(learner: Learner, samples: Sequence[Sample], at_once: int) -> float:
    """Σ_k w_k · -log π_k over samples, in nats a token under the current weights.

    Args:
        samples: what `sft_samples` gave.
        at_once: samples that are scored together; neighbours share the most.

    Raises:
        TrainError: the learner was told to stop.
    """
    total = 0.0
    for begin in range(0, len(samples), at_once):
        chunk = samples[begin : begin + at_once]
        for sample, logprobs in zip(chunk, learner.logprobs(chunk, 1.0), strict=True):
            total -= sum(w * lp for w, lp in zip(sample.token_weights, logprobs.tolist(), strict=True))
    return total


def hold_out(
    demonstrations: Sequence[Trajectory], share: float, seed: int
) -> tuple[list[Trajectory], list[Trajectory]]:
    """Split demonstrations into those to learn from and those to measure on, both in their order.

    All demonstrations of a task are on one side: their turns are too much alike to tell learning from learning by
    heart.

    Args:
        share: which part of the tasks is held out, in [0, 1); above 0, at least one is and one is not.
        seed: decides which.

    Raises:
        TrainError: `share` is above 0, and the demonstrations are of fewer than two tasks.
    """
    if not share:
        return list(demonstrations), []
    tasks = sorted({demonstration.task.id for demonstration in demonstrations})
    if len(tasks) < 2:
        raise TrainError(
            f"sft.val_size {share:g} holds out tasks, but there are successful demonstrations of {len(tasks)} task: "
            "raise sft.demos, or set sft.val_size=0"
        )
    random.Random(f"{seed}/validation").shuffle(tasks)
    held = set(tasks[: min(max(round(share * len(tasks)), 1), len(tasks) - 1)])
    return (
        [each for each in demonstrations if each.task.id not in held],
        [each for each in demonstrations if each.task.id in held],
    )
