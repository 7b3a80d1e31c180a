"""Supervised fine-tuning on demonstrations: the learner's steps with the likelihood loss.

Each turn is a target on its own context, and only its response carries weight (OpenWebRL §4.2, A.5).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from torch import Tensor

from webdojo.config import SFTConfig
from webdojo.errors import TrainError
from webdojo.policy.forward import TokenScores
from webdojo.train.batch import Sample
from webdojo.train.learner import Learner
from webdojo.train.loss import likelihood_loss
from webdojo.train.metrics import Means
from webdojo.train.objective import flat
from webdojo.train.schedule import constant, cosine

Progress = Callable[[int, int, dict[str, float]], None]
"""Called after every optimizer step with steps done, steps in all, and the step's metrics."""


def train_sft(
    learner: Learner, samples: Sequence[Sample], config: SFTConfig, progress: Progress | None = None
) -> dict[str, float]:
    """Imitate demonstrations for `config.epochs` passes, on `config.schedule` with a linear warm-up.

    Args:
        learner: a fresh one; policy training should start with another, as its optimizer moments and step
            count belong to this phase.
        samples: of `sft_samples`.
        config: epochs, batch size and schedule.
        progress: for a progress bar, the dashboard or a mid-phase checkpoint.

    Returns:
        Means over the last epoch: `loss` (nats a token), `entropy`,
        `grad_norm`, `lr`; `samples`, `tokens` of the responses, `optimizer_steps` and `seconds` of it all.

    Raises:
        TrainError: no samples, or a loss or gradient that is not finite.
    """
    if not samples:
        raise TrainError("supervised fine-tuning has no samples: no demonstration has a turn with a response")
    started = time.perf_counter()
    first_step = learner.steps
    total_steps = config.epochs * -(-len(samples) // config.batch_size)
    warmup_steps = round(config.warmup_ratio * total_steps)

    def loss(members: Sequence[Sample], scores: TokenScores) -> tuple[Tensor, dict[str, float]]:
        weights_T = flat([sample.weights for sample in members], scores.logprobs.device)
        return likelihood_loss(scores.logprobs, weights_T), {}

    done = 0
    epoch = Means()
    for _ in range(config.epochs):
        epoch = Means()
        for batch in learner.shuffled(samples, config.batch_size):
            lr = (
                cosine(done, peak=config.lr, warmup_steps=warmup_steps, total_steps=total_steps)
                if config.schedule == "cosine"
                else constant(done, peak=config.lr, warmup_steps=warmup_steps)
            )
            step = Means()
            learner.step(batch, share=len(batch) / len(samples), temperature=1.0, lr=lr, loss=loss, means=step)
            done += 1
            epoch.add(step.result())
            if progress is not None:
                progress(done, total_steps, step.result())
    return epoch.result() | {
        "samples": len(samples),
        "tokens": sum(len(sample.response_ids) for sample in samples),
        "optimizer_steps": learner.steps - first_step,
        "seconds": time.perf_counter() - started,
    }
