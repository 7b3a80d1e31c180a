"""Replay: an update draws its turns from the last iterations, the newer the likelier (WebGym §5.1, table 6).

Invariant: a draw is a function of the samples and the seed alone, so a run that goes on after a crash draws what it
would have drawn.
"""

from __future__ import annotations

import dataclasses
import heapq
import random
from collections.abc import Iterable, Sequence

from webdojo.trainer.batch import Sample
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.losses import LOSSES


def draw(buffer: Iterable[tuple[int, Sequence[Sample]]], count: int, config: TrainConfig, seed: str) -> list[Sample]:
    """At most `count` samples for an update, oldest first, none of them twice.

    Samples from which nothing would be learned are passed over. Each of the others is drawn with weight k^p, where k is
    its iteration in the buffer and p = `config.recency_bias_power`. All loss weights are multiplied by (samples that
    teach, mean over iterations) / (samples drawn), so that the loss has the size of an update without replay.

    Args:
        buffer: k, counted from 1 at the oldest, and the samples of that iteration, weighted as for an update of
            their own. Read once, in order, so that one iteration at a time need be in memory.
        seed: another one draws others.
    """
    rng = random.Random(seed)
    # The first to ring among exponential clocks with rates w are a draw by weight w without replacement.
    rung: list[tuple[float, int, int, Sample]] = []
    found = iterations = 0
    for age, samples in buffer:
        iterations += 1
        for sample in samples:
            if _teaches(sample, config):
                rung.append((rng.expovariate(age**config.recency_bias_power), found, age, sample))
                found += 1
        rung = heapq.nsmallest(count, rung)
    scale = found / iterations / len(rung) if rung else 0.0
    units: dict[tuple[int, int], int] = {}
    return [
        dataclasses.replace(
            sample,
            token_weights=[scale * weight for weight in sample.token_weights],
            unit=units.setdefault((age, sample.unit), len(units)),
        )
        for _, _, age, sample in sorted(rung, key=lambda entry: entry[1])
    ]


def _teaches(sample: Sample, config: TrainConfig) -> bool:
    """Whether the sample moves the weights."""
    if config.kl_coef or config.entropy_coef:
        return True
    return sample.advantage > 0 if LOSSES.get(config.policy_loss).positives_only else sample.advantage != 0
