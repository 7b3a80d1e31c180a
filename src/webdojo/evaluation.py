"""How good an agent is: success rates with 95 % intervals, and the recipe's `evaluate` section.

There are two rates, because papers differ in which they report: over all tasks, where an episode that the web or the
system failed counts as a failure, and over the valid episodes alone. Intervals are Wilson's, which are accurate for
small n; `ci95_by_website` resamples whole web sites, because tasks on one site are not independent trials.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import Field

from webdojo.rollout.config import HorizonSection
from webdojo.types import Record, Reward, Sampling, Trajectory

Z95 = 1.959963984540054
K = TypeVar("K", int, str)


class EvaluateConfig(HorizonSection):
    max_steps: int = Field(default=30, ge=1)
    """Turns before an episode ends unfinished."""
    tasks: int = Field(default=200, ge=1)
    """Held-out tasks, the same for every policy of a run."""
    every: int = Field(default=0, ge=0)
    """Iterations between evaluations during online training, whose episodes share the pool (`loops/evaluations.py`); 0
    evaluates before and after training only."""
    sampling: Sampling = Sampling(temperature=0.6, top_p=0.95, top_k=20, max_tokens=1024)


class Rate(Record):
    """A share of successes among `n` trials, with its Wilson 95 % interval."""

    n: int
    successes: int
    rate: float
    """0 where n is 0; then the interval is (0, 1)."""
    ci95: tuple[float, float]


class SuccessRate(Rate):
    """The results of an evaluation. `model_dump(mode="json")` goes into `result.json`.

    `rate` is over all tasks, where an invalid episode counts as a failure.
    """

    valid_n: int
    valid_rate: float
    """The rate over episodes that neither the web nor the system failed."""
    valid_ci95: tuple[float, float]
    ci95_by_website: tuple[float, float]
    """The interval of `rate` by resampling web sites (cluster bootstrap, 2,000 draws, fixed seed)."""
    by_difficulty: dict[int, Rate]
    by_kind: dict[str, Rate]
    terminations: dict[str, int]
    """Episodes by `Termination`, most frequent first."""
    steps: float
    """The mean number of turns of an episode."""
    response_tokens: float
    """The mean number of sampled tokens of an episode."""


def wilson95(successes: int, n: int) -> tuple[float, float]:
    """Wilson's score interval for a proportion; (0, 1) where n is 0."""
    if n == 0:
        return (0.0, 1.0)
    p, z2 = successes / n, Z95**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At 0 and n successes the bound is exactly 0 or 1; rounding would leave 1e-17 of it.
    return (0.0 if successes == 0 else centre - half, 1.0 if successes == n else centre + half)


def share(successes: int, n: int) -> Rate:
    """The share of successes among `n` trials."""
    return Rate(n=n, successes=successes, rate=successes / n if n else 0.0, ci95=wilson95(successes, n))


def bootstrap95(clusters: Sequence[Sequence[float]], draws: int = 2000, seed: int = 0) -> tuple[float, float]:
    """The percentile interval of the mean of all values, such as the share of True, when whole clusters are resampled;
    (0, 1) where there are none."""
    import numpy as np  # a recipe, whose section stands here, needs none

    if not clusters:
        return (0.0, 1.0)
    sums_C = np.array([sum(c) for c in clusters], dtype=float)
    sizes_C = np.array([len(c) for c in clusters], dtype=float)
    weights_DC = np.random.default_rng(seed).multinomial(len(clusters), [1 / len(clusters)] * len(clusters), draws)
    low, high = np.percentile((weights_DC @ sums_C) / (weights_DC @ sizes_C), [2.5, 97.5])
    return (float(low), float(high))


def success(trajectories: Sequence[Trajectory]) -> SuccessRate:
    """Measure scored trajectories, usually one for each held-out task."""
    scored = [(trajectory, _reward(trajectory)) for trajectory in trajectories]
    everything = _rate([reward.success for _, reward in scored])
    valid = _rate([reward.success for _, reward in scored if reward.valid])
    return SuccessRate(
        **everything.model_dump(),
        valid_n=valid.n,
        valid_rate=valid.rate,
        valid_ci95=valid.ci95,
        ci95_by_website=bootstrap95([each for _, each in sorted(_split(scored, lambda t: t.task.website).items())]),
        by_difficulty=_rates(_split(scored, lambda t: t.task.difficulty)),
        by_kind=_rates(_split(scored, lambda t: t.task.kind)),
        terminations=dict(Counter(trajectory.termination.value for trajectory in trajectories).most_common()),
        steps=_mean([trajectory.steps for trajectory in trajectories]),
        response_tokens=_mean([sum(len(turn.response.ids) for turn in t.turns) for t in trajectories]),
    )


def _reward(trajectory: Trajectory) -> Reward:
    if trajectory.reward is None:
        raise ValueError(f"trajectory {trajectory.id!r} has no reward: score it before measuring")
    return trajectory.reward


def _rate(outcomes: Sequence[bool]) -> Rate:
    return share(sum(outcomes), len(outcomes))


def _split(scored: Sequence[tuple[Trajectory, Reward]], key: Callable[[Trajectory], K]) -> dict[K, list[bool]]:
    outcomes: dict[K, list[bool]] = defaultdict(list)
    for trajectory, reward in scored:
        outcomes[key(trajectory)].append(reward.success)
    return outcomes


def _rates(outcomes: dict[K, list[bool]]) -> dict[K, Rate]:
    return {k: _rate(outcomes[k]) for k in sorted(outcomes)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
