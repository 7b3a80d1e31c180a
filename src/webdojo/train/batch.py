"""From trajectories to samples: one sample a turn, ready for a learner that knows no algorithm.

Invariant: a sample holds exactly the ids that were sampled, and the weights of all samples of an update
sum (times token loss) to the whole objective. Turns of invalid trajectories and empty responses have no
weight to carry, so they become no sample; they still count in the normalisers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from webdojo.config import TrainConfig
from webdojo.errors import TrainError
from webdojo.train.advantage import ADVANTAGES
from webdojo.train.weights import TurnShape, token_weights
from webdojo.types import Prompt, Reward, Trajectory, Turn


@dataclass(frozen=True)
class Sample:
    """One turn as the learner sees it; the lists have one entry per response token."""

    prompt: Prompt
    response_ids: list[int]
    old_logprobs: list[float]
    """As the engine reported them, at the sampling temperature."""
    advantage: float
    weights: list[float]
    versions: list[int]
    """Weight version that sampled each token."""

    def __len__(self) -> int:
        """Prompt and response tokens together."""
        return len(self.prompt) + len(self.response_ids)


def samples_from_groups(groups: Sequence[Sequence[Trajectory]], config: TrainConfig) -> list[Sample]:
    """The samples of one policy update.

    Args:
        groups: each the finished, rewarded trajectories of one task; sizes may differ.
        config: names the advantage and the normaliser.

    Raises:
        TrainError: a trajectory without a reward, or a response whose logprobs do not match its ids.
    """
    samples: list[Sample] = []
    for group in groups:
        rewards = [_reward(trajectory) for trajectory in group]
        valid = [reward.valid for reward in rewards]
        advantages = ADVANTAGES[config.advantage]([reward.value for reward in rewards], valid)
        for trajectory, ok, advantage in zip(group, valid, advantages, strict=True):
            if not ok:
                continue
            for turn in trajectory.turns:
                shape = TurnShape(
                    groups=len(groups),
                    group_size=len(group),
                    turns=len(trajectory.turns),
                    tokens=len(turn.response.ids),
                )
                weights = token_weights(config.normalizer, shape, valid=ok, k=config.normalizer_k)
                if weights:
                    samples.append(_sample(trajectory, turn, advantage, weights))
    return samples


def sft_samples(trajectories: Sequence[Trajectory]) -> list[Sample]:
    """Behaviour-cloning samples: every turn is a target on its own context (OpenWebRL §4.2), all tokens weigh alike.

    Args:
        trajectories: demonstrations to imitate, all of them; the caller has chosen the good ones.

    Raises:
        TrainError: a response whose logprobs do not match its ids.
    """
    turns = [(trajectory, turn) for trajectory in trajectories for turn in trajectory.turns if turn.response.ids]
    total_tokens = sum(len(turn.response.ids) for _, turn in turns)
    return [_sample(trajectory, turn, 0.0, [1 / total_tokens] * len(turn.response.ids)) for trajectory, turn in turns]


def mini_batches(count: int, size: int, generator: torch.Generator) -> list[list[int]]:
    """Indices 0..count-1 shuffled into batches of at most `size` that differ by one at most.

    Even batches keep every optimizer step equally reliable; a short last batch would be a noisy step.
    """
    order = torch.randperm(count, generator=generator).tolist()
    batches = -(-count // size)
    return [order[count * b // batches : count * (b + 1) // batches] for b in range(batches)]


def micro_batches(samples: Sequence[Sample], max_tokens: int) -> list[list[Sample]]:
    """Split into batches of at most `max_tokens` padded tokens (rows times longest), longest first.

    Neighbours in length share a batch, so little is padded, and equal images tend to meet. A sample
    longer than `max_tokens` gets a batch of its own. Longest first makes an out-of-memory show at once.
    """
    batches: list[list[Sample]] = []
    longest = 0
    for sample in sorted(samples, key=lambda s: (len(s), [image.sha for image in s.prompt.images]), reverse=True):
        if batches and (len(batches[-1]) + 1) * longest <= max_tokens:
            batches[-1].append(sample)
        else:
            batches.append([sample])
            longest = len(sample)
    return batches


def _reward(trajectory: Trajectory) -> Reward:
    if trajectory.reward is None:
        raise TrainError(f"trajectory {trajectory.id!r} has no reward; score it before it trains")
    return trajectory.reward


def _sample(trajectory: Trajectory, turn: Turn, advantage: float, weights: list[float]) -> Sample:
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
        weights=weights,
        versions=list(response.versions),
    )
