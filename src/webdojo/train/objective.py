"""What a policy update minimises: the recipe's named parts put together.

    Σ_k w_k · [ c_k · surrogate_k + β · kl_k - η · entropy_k ]

over all response tokens k of the update, with w from `weights`, c from `correction`, the surrogate and
the KL estimator from `loss`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from webdojo.config import TrainConfig
from webdojo.policy.forward import TokenScores
from webdojo.train.batch import Sample
from webdojo.train.correction import CORRECTIONS
from webdojo.train.loss import KL_ESTIMATORS, SURROGATES, Clip, Tokens, policy_stats


class Objective:
    """The loss of a row, and its means for the log."""

    def __init__(self, config: TrainConfig) -> None:
        self._config = config
        self._clip = Clip(config.clip_low, config.clip_high, config.dual_clip, config.behav_imp_weight_cap)

    def __call__(self, members: Sequence[Sample], scores: TokenScores) -> tuple[Tensor, dict[str, float]]:
        """The summed loss, with gradient, and means over the tokens that have weight."""
        config, device = self._config, scores.logprobs.device
        tokens = token_table(members, device)
        per_token = SURROGATES[config.policy_loss](scores.logprobs, tokens, self._clip)
        gap_T = tokens.prox_logprobs - tokens.behave_logprobs
        factor_T = CORRECTIONS[config.correction](gap_T, tokens.turns, config.correction_low, config.correction_high)
        per_token = factor_T * per_token
        stats = policy_stats(scores.logprobs, tokens, self._clip)
        means = {"clip_fraction": stats.clip_fraction, "approx_kl": stats.approx_kl, "ratio": stats.ratio}
        if config.dual_clip:
            means["dual_clip_fraction"] = stats.dual_clip_fraction
        if config.policy_loss == "decoupled":
            means["capped_fraction"] = stats.capped_fraction
        if config.correction != "none":
            means["correction"] = float(factor_T.mean())
        if config.kl_coef:
            reference_T = flat([sample.reference_logprobs for sample in members], device)
            kl_T = KL_ESTIMATORS[config.kl_estimator](scores.logprobs, reference_T)
            per_token = per_token + config.kl_coef * kl_T
            means["reference_kl"] = float(kl_T.detach().mean())
        if config.entropy_coef:
            per_token = per_token - config.entropy_coef * scores.entropy
        return (tokens.weights * per_token).sum(), means


def token_table(members: Sequence[Sample], device: torch.device) -> Tokens:
    """What is known of the response tokens of some samples, sample after sample."""
    lengths = torch.tensor([len(sample.response_ids) for sample in members], device=device)
    return Tokens(
        prox_logprobs=flat([sample.prox_logprobs or sample.old_logprobs for sample in members], device),
        behave_logprobs=flat([sample.old_logprobs for sample in members], device),
        advantages=flat([[sample.advantage] * len(sample.response_ids) for sample in members], device),
        weights=flat([sample.weights for sample in members], device),
        turns=torch.repeat_interleave(torch.arange(len(members), device=device), lengths),
    )


def flat(values: Sequence[Sequence[float]], device: torch.device) -> Tensor:
    """Per-token values of samples one after the other, float32 [T]."""
    return torch.tensor([v for row in values for v in row], dtype=torch.float32, device=device)
