"""Estimates of KL(π || π_ref), token by token, as terms of a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webdojo.plugins import Registry, instance_of

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class KLEstimator:
    """An estimator, as `train.kl_estimator` of a recipe names it."""

    function: Callable[[Tensor, Tensor], Tensor]
    """Takes log-probabilities [T] under the policy, with gradient, and under the reference model; gives [T]."""
    formula: str
    """The term of token k as `webdojo explain` prints it."""


def k1(logprobs_T: Tensor, reference_T: Tensor) -> Tensor:
    """log π - log π_ref: unbiased, of either sign; as a loss its gradient does not hold the policy back."""
    return logprobs_T - reference_T


def k2(logprobs_T: Tensor, reference_T: Tensor) -> Tensor:
    """(log π - log π_ref)² / 2: its gradient is that of KL(π || π_ref) on samples of π."""
    return (logprobs_T - reference_T).square() / 2


def k3(logprobs_T: Tensor, reference_T: Tensor) -> Tensor:
    """r - 1 - log r with r = π_ref / π: unbiased, never negative (GRPO; WebAgent-R1 §2.3)."""
    log_r = reference_T - logprobs_T
    return log_r.exp() - 1 - log_r


KL_ESTIMATORS: Registry[KLEstimator] = Registry(
    "webdojo.kl_estimators",
    "KL estimator",
    *instance_of(KLEstimator),
    {
        "k1": KLEstimator(k1, "log π - log π_ref"),
        "k2": KLEstimator(k2, "(log π - log π_ref)² / 2"),
        "k3": KLEstimator(k3, "π_ref/π - 1 - log(π_ref/π)"),
    },
)
"""What `train.kl_estimator` of a recipe may be."""
