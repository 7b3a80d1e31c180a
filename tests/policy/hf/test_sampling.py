"""Which ids are drawn, and how often."""

from __future__ import annotations

import torch

from webdojo.policy.hf.request import draw, temperatures
from webdojo.types import Sampling

PROBABILITIES = torch.tensor([0.5, 0.0, 0.3, 0.15, 0.05])
GRID = [(k + 0.5) / 1000 for k in range(1000)]


def frequencies(sampling: Sampling) -> list[float]:
    """Share of each id over an even grid of uniforms: exact up to the grid's step."""
    logprobs = PROBABILITIES.log().expand(len(GRID), -1)
    drawn = draw(logprobs, [sampling] * len(GRID), GRID)
    return [round(float((drawn == k).float().mean()), 2) for k in range(len(PROBABILITIES))]


def test_plain_sampling_follows_the_distribution() -> None:
    assert frequencies(Sampling()) == [0.5, 0.0, 0.3, 0.15, 0.05]


def test_top_k_then_top_p() -> None:
    assert frequencies(Sampling(top_k=2)) == [0.62, 0.0, 0.38, 0.0, 0.0]
    assert frequencies(Sampling(top_p=0.75)) == [0.62, 0.0, 0.38, 0.0, 0.0]
    assert frequencies(Sampling(top_p=0.9)) == [0.53, 0.0, 0.32, 0.16, 0.0]
    # of the two that top-k keeps, the first alone holds 0.625 of the mass
    assert frequencies(Sampling(top_k=2, top_p=0.6)) == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_rows_keep_their_own_settings() -> None:
    logprobs = PROBABILITIES.log().expand(3, -1)
    samplings = [Sampling(temperature=0), Sampling(), Sampling(top_k=1)]
    assert draw(logprobs, samplings, [0.99, 0.99, 0.99]).tolist() == [0, 4, 0]
    assert temperatures(samplings).tolist() == [[1.0], [1.0], [1.0]]


def test_ids_of_probability_zero_are_never_drawn() -> None:
    certain = torch.tensor([[float("-inf"), 0.0, float("-inf")]])
    for u in (0.0, 0.5, 1 - 2**-53):
        assert draw(certain, [Sampling()], [u]).tolist() == [1]
