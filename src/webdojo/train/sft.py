"""Supervised fine-tuning on demonstrations: the learner's steps with the likelihood loss.

Each turn is a target on its own context, and only its response carries weight (OpenWebRL §4.2, A.5;
WebAgent-R1 §2.2).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from torch import Tensor

from webdojo.config import SFTConfig
from webdojo.errors import TrainError
from webdojo.policy.model.forward import TokenScores
from webdojo.train.batch import Sample
from webdojo.train.learner import Learner
from webdojo.train.loss import likelihood_loss
from webdojo.train.metrics import Means
from webdojo.train.objective import flat
from webdojo.train.schedule import constant, cosine
from webdojo.train.validation import mean_loss

Progress = Callable[[int, int, dict[str, float]], None]
"""Called after every optimizer step with steps done, steps in all, and the step's metrics; those of an epoch's last
step have its `val_loss` where demonstrations are held out."""


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
        samples: of `sft_samples`.
        config: epochs, batch size, schedule, and whether the best epoch's weights stay.
        progress: for a progress bar and the log.
        validation: of `sft_samples`, of demonstrations that are held out.

    Returns:
        Means over the last epoch: `loss` (nats a token), `entropy`,
        `grad_norm`, `lr`; `samples`, `tokens` of the responses, `optimizer_steps` and `seconds` of it all. `epoch`
        whose weights the learner has at the end, and their `val_loss` where there is `validation`.

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
            figures = step.result()
            means.add(figures)
            if validation and number == len(batches):
                figures["val_loss"] = mean_loss(learner, validation, config.batch_size)
                if epoch == 1 or figures["val_loss"] < best or not config.load_best_model_at_end:
                    best, best_epoch = figures["val_loss"], epoch
                    if config.load_best_model_at_end:
                        learner.remember()
            if progress is not None:
                progress(done, total_steps, figures)
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
    """The likelihood loss of a row."""
    weights_T = flat([sample.weights for sample in members], scores.logprobs.device)
    return likelihood_loss(scores.logprobs, weights_T), {}
