"""GSPO: PPO's clipped loss with one ratio a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.train.losses.loss import Clip, Loss, Tokens, clipped, clipped_formula, turn_means

if TYPE_CHECKING:
    from torch import Tensor


def gspo(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """`clip` with the ratio of the whole turn, s = exp(mean log ρ), straight through to each token (GSPO)."""
    log_ratio = (logprobs_T - tokens.prox_logprobs).detach()
    mean_T = turn_means(log_ratio, tokens.turns)
    return clipped((mean_T + logprobs_T - logprobs_T.detach()).exp(), tokens.advantages, bounds)


GSPO = Loss(
    gspo,
    lambda bounds: f"{clipped_formula(bounds)} with ρ the geometric mean over the turn",
    clips="turn",
    dual_clip=True,
)
