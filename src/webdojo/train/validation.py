"""Demonstrations that nothing is learned from: what tells learning from learning by heart."""

from __future__ import annotations

import random
from collections.abc import Sequence

from webdojo.errors import TrainError
from webdojo.train.batch import Sample
from webdojo.train.learner import Learner
from webdojo.types import Trajectory


def hold_out(
    demonstrations: Sequence[Trajectory], share: float, seed: int
) -> tuple[list[Trajectory], list[Trajectory]]:
    """Split demonstrations into those to learn from and those to measure on, both in their order.

    All demonstrations of a task are on one side: their turns are too much alike to tell anything across.

    Args:
        share: of the tasks that are held out, in [0, 1); above 0 at least one is, and one is not.
        seed: another one holds out others.

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


def mean_loss(learner: Learner, samples: Sequence[Sample], at_once: int) -> float:
    """Σ w · -log π over samples of `sft_samples`: nats a token under the current weights.

    Args:
        at_once: samples that are scored together; neighbours share the most.

    Raises:
        TrainError: the learner was told to stop.
    """
    total = 0.0
    for begin in range(0, len(samples), at_once):
        chunk = samples[begin : begin + at_once]
        for sample, logprobs in zip(chunk, learner.logprobs(chunk, 1.0), strict=True):
            total -= sum(w * lp for w, lp in zip(sample.weights, logprobs.tolist(), strict=True))
    return total
