"""From trajectories to samples: one sample a turn, ready for a learner that knows no algorithm.

Invariant: a sample holds exactly the ids that were sampled, and the weights of all samples of an update
times token loss sum to the whole objective. Turns of invalid trajectories, empty responses and turns whose loss is 0
whatever the weights are (advantage 0, and no KL or entropy term) become no sample; they still count in the normalizers.
"""

from __future__ import annotations

import dataclasses
import heapq
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch

from webdojo.errors import TrainError
from webdojo.trainer.advantages import TurnShape, advantages, token_weight
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.losses import LOSSES
from webdojo.types import Prompt, Reward, Trajectory


@dataclass(frozen=True)
class Sample:
    """One turn as the learner sees it; the lists have one entry per response token."""

    prompt: Prompt
    response_ids: list[int]
    old_logprobs: list[float]
    """Log-probabilities as the engine reported them, at the sampling temperature."""
    advantage: float
    token_weights: list[float]
    versions: list[int]
    """Weight version that sampled each token."""
    prox_logprobs: list[float] = field(default_factory=list)
    """Log-probabilities under π_prox, where that is not the engine's policy."""
    reference_logprobs: list[float] = field(default_factory=list)
    """Log-probabilities under the reference model, where there is a KL term."""
    trajectory: str = ""
    """Id of its trajectory."""
    turn: int = 0
    """Number of its turn."""
    unit: int = 0
    """Samples of the same unit share much of their context, and stay in one mini-batch."""

    def __len__(self) -> int:
        return len(self.prompt) + len(self.response_ids)


def samples_from_groups(groups: Sequence[Sequence[Trajectory]], config: TrainConfig) -> list[Sample]:
    return weighted_samples(groups, advantages_of(groups, config), config)


def advantages_of(groups: Sequence[Sequence[Trajectory]], config: TrainConfig) -> list[list[float]]:
    """The advantage of each trajectory by `config.advantage`, group by group; groups may differ in size.

    For a loss that learns from positives only it is 1 where a valid reward is positive, else 0.
    """
    if LOSSES.get(config.policy_loss).positives_only:
        return [[float(_reward(each).valid and _reward(each).value > 0) for each in group] for group in groups]
    return advantages(config.advantage, [[_reward(each) for each in group] for group in groups])


def weighted_samples(
    groups: Sequence[Sequence[Trajectory]], advantages: Sequence[Sequence[float]], config: TrainConfig
) -> list[Sample]:
    """One sample for each turn that teaches, whose tokens weigh what `config.normalizer` gives them."""
    every_turn_teaches = bool(config.kl_coef or config.entropy_coef)
    trained = [
        (unit, trajectory, len(group), advantage)
        for unit, (group, row) in enumerate(zip(groups, advantages, strict=True))
        for trajectory, advantage in zip(group, row, strict=True)
        if _reward(trajectory).valid
    ]
    all_tokens = sum(len(turn.response.ids) for _, trajectory, _, _ in trained for turn in trajectory.turns)
    samples: list[Sample] = []
    for unit, trajectory, group_size, advantage in trained:
        for number, turn in enumerate(trajectory.turns):
            tokens = len(turn.response.ids)
            if not tokens or not (advantage or every_turn_teaches):
                continue
            if config.repetition_penalty and turn.same_screen and advantage > 0:
                continue
            shape = TurnShape(len(groups), group_size, len(trajectory.turns), tokens, all_tokens)
            weight = token_weight(config.normalizer, shape, config.k)
            samples.append(_sample(trajectory, number, advantage, weight, unit))
    return samples


def sft_samples(trajectories: Sequence[Trajectory]) -> list[Sample]:
    """Behaviour-cloning samples: every turn is a target on its own context (OpenWebRL §4.2), all tokens weigh alike."""
    turns = [
        (trajectory, number, len(turn.response.ids))
        for trajectory in trajectories
        for number, turn in enumerate(trajectory.turns)
        if turn.response.ids
    ]
    total_tokens = sum(tokens for _, _, tokens in turns)
    return [_sample(trajectory, number, 0.0, 1 / total_tokens, k) for k, (trajectory, number, _) in enumerate(turns)]


def mini_batches(samples: Sequence[Sample], size: int, generator: torch.Generator) -> list[list[Sample]]:
    """Samples shuffled unit by unit into about even batches of about `size`.

    Even batches keep every optimizer step equally reliable; a short last batch would be a noisy step. A unit is
    never cut: what its samples share is computed once (`packing`).
    """
    by_unit: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_unit[sample.unit].append(sample)
    units = list(by_unit.values())
    wanted = -(-len(samples) // size)
    batches: list[list[Sample]] = [[] for _ in range(wanted)]
    placed = 0
    for i in torch.randperm(len(units), generator=generator).tolist():
        middle = placed + len(units[i]) / 2
        batches[min(int(middle * wanted / len(samples)), wanted - 1)] += units[i]
        placed += len(units[i])
    return [batch for batch in batches if batch]


def draw(buffer: Iterable[tuple[int, Sequence[Sample]]], count: int, config: TrainConfig, seed: str) -> list[Sample]:
    """At most `count` samples for an update, oldest first, none of them twice: replay (WebGym §5.1, table 6).

    A sample is drawn with weight k^p, where k is its iteration in the buffer and p = `config.recency_bias_power`. All
    loss weights are multiplied by (samples, mean over iterations) / (samples drawn), so that the loss has the size of
    an update without replay. A draw is a function of the samples and the seed alone.

    `buffer` gives k, counted from 1 at the oldest, and the samples of that iteration, weighted as for an update of
    their own; it is read once, in order, so that one iteration at a time need be in memory.
    """
    rng = random.Random(seed)
    # The first to ring among exponential clocks with rates w are a draw by weight w without replacement.
    rung: list[tuple[float, int, int, Sample]] = []
    found = iterations = 0
    for age, samples in buffer:
        iterations += 1
        for sample in samples:
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


def _reward(trajectory: Trajectory) -> Reward:
    if trajectory.reward is None:
        raise TrainError(f"trajectory {trajectory.id!r} has no reward; score it before it trains")
    return trajectory.reward


def _sample(trajectory: Trajectory, number: int, advantage: float, weight: float, unit: int) -> Sample:
    turn = trajectory.turns[number]
    response = turn.response
    counts = (len(response.ids), len(response.logprobs), len(response.versions))
    if len(set(counts)) != 1:
        raise TrainError(
            f"trajectory {trajectory.id!r}: a response has {counts[0]} ids, {counts[1]} logprobs and "
            f"{counts[2]} versions; an engine must report one of each per token"
        )
    return Sample(
        prompt=turn.prompt,
        response_ids=list(response.ids),
        old_logprobs=list(response.logprobs),
        advantage=advantage,
        token_weights=[weight] * len(response.ids),
        versions=list(response.versions),
        trajectory=trajectory.id,
        turn=number,
        unit=unit,
    )
