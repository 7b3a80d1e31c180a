"""Sums and means over the response tokens of each turn, in rows that hold many turns."""

from __future__ import annotations

import torch
from torch import Tensor


def turn_sums(values_T: Tensor, turns_T: Tensor) -> Tensor:
    """For each token the sum over its turn: values [T], and int64 [T], the turn of each token counted from 0."""
    turns = int(turns_T.max()) + 1 if len(turns_T) else 0
    return torch.zeros(turns, device=values_T.device).index_add(0, turns_T, values_T)[turns_T]


def turn_means(values_T: Tensor, turns_T: Tensor) -> Tensor:
    """For each token the mean over its turn, as `turn_sums`."""
    return turn_sums(values_T, turns_T) / turn_sums(torch.ones_like(values_T), turns_T)
