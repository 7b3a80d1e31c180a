"""What a policy update minimises: the recipe's named parts put together.

    Σ_k w_k · [ c_k · surrogate_k + β · kl_k - η · entropy_k ]

over all response tokens k of the update, with w from `weights`, c from `correction`, the surrogate and
the KL estimator from `loss`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor

from webdojo.config import TrainConfig
from webdojo.policy.model.forward import TokenScores
from webdojo.train.batch import Sample
from webdojo.train.correction import CORRECTIONS
from webdojo.train.loss import KL_ESTIMATORS, SURROGATES, UNCLIPPED, Clip, Tokens, policy_stats


class Objective:
    """The loss of a row, and its means for the log.

    Args:
        config: names the parts.
        version: of the weights that learn; read where `old_logprobs` is `loglinear`.
    """

    def __init__(self, config: TrainConfig, version: int = 0) -> None:
        self._config, self._version = config, version
        self._clip = Clip(config.clip_low, config.clip_high, config.dual_clip, config.behav_imp_weight_cap)

    def __call__(self, members: Sequence[Sample], scores: TokenScores) -> tuple[Tensor, dict[str, float]]:
        """The summed loss, with gradient, and means over the tokens that have weight."""
        config, device = self._config, scores.logprobs.device
        tokens = token_table(members, device)
        if config.old_logprobs == "loglinear":
            versions_T = flat([sample.versions for sample in members], device)
            prox_T = log_linear(scores.logprobs.detach(), tokens.behave_logprobs, self._version - versions_T)
            tokens = dataclasses.replace(tokens, prox_logprobs=prox_T)
        per_token = SURROGATES[config.policy_loss](scores.logprobs, tokens, self._clip)
        gap_T = tokens.prox_logprobs - tokens.behave_logprobs
        factor_T = CORRECTIONS[config.correction](gap_T, tokens.turns, config.correction_low, config.correction_high)
        per_token = factor_T * per_token
        stats = policy_stats(scores.logprobs, tokens, self._clip, config.policy_loss)
        means = {"approx_kl": stats.approx_kl, "ratio": stats.ratio}
        if config.policy_loss not in UNCLIPPED:
            means["clip_fraction"] = stats.clip_fraction
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


def log_linear(logprobs_T: Tensor, behave_T: Tensor, age_T: Tensor) -> Tensor:
    """log π_prox of tokens d versions old, as if log-probabilities moved evenly from version to version, the next one
    being π: log π_behave + d / (d + 1) · (log π - log π_behave)."""
    return torch.lerp(behave_T, logprobs_T, age_T / (age_T + 1))


def flat(values: Sequence[Sequence[float]], device: torch.device) -> Tensor:
    """Per-token values of samples one after the other, float32 [T]."""
    return torch.tensor([v for row in values for v in row], dtype=torch.float32, device=device)
