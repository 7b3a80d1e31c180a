"""A trial of what `train` names (loss, advantage and the others) on a few tokens, before anything starts.

Somebody's own part that raises, or gives what would train on another objective, is refused here, and not after the
evaluation and the rollouts before the first update.
"""

from __future__ import annotations

import torch

from webdojo.policy.model.forward import TokenScores
from webdojo.trainer.advantages import TurnShape, advantages, token_weight
from webdojo.trainer.batch import Sample
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.losses import LOSSES
from webdojo.trainer.objective import objective
from webdojo.types import Prompt, Reward


def try_parts(config: TrainConfig, group_size: int) -> None:
    """Compute the objective of a made-up update: two groups, one with an invalid member, and two turns.

    Raises:
        ConfigError: somebody's own part raises, or does not give what its kind must; the line names it.
    """
    values = [float(member % 2) for member in range(group_size)]
    groups = [
        [Reward(value=value, success=value > 0) for value in values],
        [Reward(value=value, success=False, valid=member < group_size - 1) for member, value in enumerate(values)],
    ]
    if not LOSSES.get(config.policy_loss).positives_only:
        advantages(config.advantage, groups)
    samples = []
    for advantage, tokens in ((1.0, 3), (0.0 if LOSSES.get(config.policy_loss).positives_only else -1.0, 2)):
        shape = TurnShape(groups=2, group_size=group_size, turns=2, tokens=tokens, all_tokens=5)
        weight = token_weight(config.normalizer, shape, config.k)
        logprobs = [-0.5 * number - 0.5 for number in range(tokens)]
        sample = Sample(
            Prompt(segments=()),
            response_ids=[0] * tokens,
            old_logprobs=logprobs,
            advantage=advantage,
            token_weights=[weight] * tokens,
            versions=[0] * tokens,
            prox_logprobs=[logprob + 0.1 for logprob in logprobs],
            reference_logprobs=[logprob - 0.1 for logprob in logprobs],
        )
        samples.append(sample)
    logprobs_T = torch.tensor([logprob for sample in samples for logprob in sample.old_logprobs], requires_grad=True)
    objective(samples, TokenScores(logprobs_T, torch.ones(len(logprobs_T))), config)
