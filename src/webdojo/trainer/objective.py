"""What a policy update minimises: the recipe's named parts put together.

    Σ_k w_k · [ c_k · ℓ_k + β · kl_k - η · entropy_k ]

over all response tokens k of the update, with w from `advantages`, and c, ℓ and the KL estimator from `losses`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from webdojo.errors import ConfigError
from webdojo.plugins import Registry
from webdojo.policy.model.forward import TokenScores
from webdojo.trainer.batch import Sample
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.losses import CORRECTIONS, KL_ESTIMATORS, LOSSES, Clip, Loss, Tokens, too_far, turn_means


def objective(
    members: Sequence[Sample], scores: TokenScores, config: TrainConfig, version: int = 0
) -> tuple[Tensor, dict[str, float]]:
    """The summed loss of a micro-batch, with gradient, and means over the tokens that have weight, for the log.

    `version` is that of the weights that learn; read where `old_logprobs` is `loglinear`.
    """
    device = scores.logprobs.device
    loss, correction = LOSSES.get(config.policy_loss), CORRECTIONS.get(config.correction)
    tokens = token_table(members, device)
    if config.old_logprobs == "loglinear":
        versions_T = flat([sample.versions for sample in members], device)
        prox_T = log_linear(scores.logprobs.detach(), tokens.behave_logprobs, version - versions_T)
        tokens = dataclasses.replace(tokens, prox_logprobs=prox_T)
    gap_T = tokens.prox_logprobs - tokens.behave_logprobs
    factor_T = each_token(CORRECTIONS, config.correction, lambda: correction.function(gap_T, tokens.turns), gap_T)
    per_token = factor_T * each_token(
        LOSSES, config.policy_loss, lambda: loss.function(scores.logprobs, tokens, config.clip), scores.logprobs
    )
    means = policy_stats(scores.logprobs, tokens, config.clip, loss)
    if config.correction != "none":
        means["correction"] = float(factor_T.mean())
    if config.kl_coef:
        reference_T = flat([sample.reference_logprobs for sample in members], device)
        estimate = KL_ESTIMATORS.get(config.kl_estimator).function
        kl_T = each_token(
            KL_ESTIMATORS, config.kl_estimator, lambda: estimate(scores.logprobs, reference_T), scores.logprobs
        )
        per_token = per_token + config.kl_coef * kl_T
        means["reference_kl"] = float(kl_T.detach().mean())
    if config.entropy_coef:
        per_token = per_token - config.entropy_coef * scores.entropy
    return (tokens.token_weights * per_token).sum(), means


def each_token(registry: Registry[Any], name: str, compute: Callable[[], Tensor], like_T: Tensor) -> Tensor:
    """What a named part computes [T], with a gradient where `like_T` has one.

    Raises:
        ConfigError: somebody's own part raises, or gives anything else, which would train on another objective.
    """
    with registry.running(name):
        found: object = compute()
    if not isinstance(found, Tensor) or found.shape != like_T.shape:
        given = f"a tensor of shape {list(found.shape)}" if isinstance(found, Tensor) else repr(found)
        raise ConfigError(
            f"{registry.noun} {name!r} gave {given} for {len(like_T)} tokens, and must give a tensor of shape "
            f"[{len(like_T)}]: one value for each token, without a mean or a sum over them"
        )
    if like_T.requires_grad and not found.requires_grad:
        raise ConfigError(
            f"{registry.noun} {name!r} gave values without a gradient, so that nothing would be learned: compute them "
            "from the log-probabilities that it is given, without detach() or no_grad()"
        )
    return found


@torch.no_grad()
def policy_stats(logprobs_T: Tensor, tokens: Tokens, bounds: Clip, loss: Loss) -> dict[str, float]:
    """Plain means over the tokens with weight: how far π is from π_prox, what the loss cuts off (`docs/metrics.md`)."""
    counted = tokens.token_weights != 0
    log_ratio_T = logprobs_T - tokens.prox_logprobs
    clipped_T = turn_means(log_ratio_T, tokens.turns) if loss.clips == "turn" else log_ratio_T
    advantages, log_ratio, clipped = tokens.advantages[counted], log_ratio_T[counted], clipped_T[counted].exp()
    ratio = log_ratio.exp()
    found = {"approx_kl": ratio - 1 - log_ratio, "ratio": ratio}
    if loss.clips:
        found["clip_fraction"] = bounds.clamp(clipped) * advantages < clipped * advantages
    if bounds.dual:
        found["dual_clip_fraction"] = (advantages < 0) & (clipped > bounds.dual)
    if loss.decoupled:
        found["capped_fraction"] = too_far(tokens, bounds)[counted]
    return {name: float(values.sum()) / max(len(ratio), 1) for name, values in found.items()}


def token_table(members: Sequence[Sample], device: torch.device) -> Tokens:
    lengths = torch.tensor([len(sample.response_ids) for sample in members], device=device)
    return Tokens(
        prox_logprobs=flat([sample.prox_logprobs or sample.old_logprobs for sample in members], device),
        behave_logprobs=flat([sample.old_logprobs for sample in members], device),
        advantages=flat([[sample.advantage] * len(sample.response_ids) for sample in members], device),
        token_weights=flat([sample.token_weights for sample in members], device),
        turns=torch.repeat_interleave(torch.arange(len(members), device=device), lengths),
    )


def log_linear(logprobs_T: Tensor, behave_T: Tensor, age_T: Tensor) -> Tensor:
    """log π_prox of tokens that are d versions old, as if log-probabilities moved evenly from version to version, the
    next one being π: log π_behave + d / (d + 1) · (log π - log π_behave)."""
    return behave_T + age_T / (age_T + 1) * (logprobs_T - behave_T)


def flat(values: Sequence[Sequence[float]], device: torch.device) -> Tensor:
    """Per-token values of samples one after the other, float32 [T]."""
    return torch.tensor([v for row in values for v in row], dtype=torch.float32, device=device)
