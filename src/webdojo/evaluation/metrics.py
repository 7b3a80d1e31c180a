"""How good an agent is: success rates with 95 % intervals, and the recipe's `evaluate` section.

There are two rates, because papers differ in which they report: over all episodes, where one that the web or the system
failed counts as a failure (OpenWebRL's official success rate), and over the valid episodes alone (its success rate
without aborted tasks). An interval is Wilson's, which is accurate for small n; where tasks ran several times it is that
of a bootstrap over tasks, because the episodes of one task are not independent trials, nor are the tasks of one web
site (`ci95_by_website`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev
from typing import TypeVar

from pydantic import Field

from webdojo.rollout.config import HorizonSection
from webdojo.tasks.dates import PLANS, SHIFTED_YEARS
from webdojo.types import Record, Reward, Sampling, Trajectory

Z95 = 1.959963984540054
FEW_TASKS = 20
"""With fewer tasks a bootstrap over them says less than it seems to."""
LEVEL = "level"
"""The key of `Task.metadata` for what a benchmark calls the level of a task, such as `easy`."""
K = TypeVar("K", int, str)
Scored = tuple[Trajectory, Reward]


class EvaluateConfig(HorizonSection):
    max_steps: int = Field(default=30, ge=1)
    """Turns before an episode ends unfinished."""
    tasks: int = Field(default=200, ge=1)
    """Held-out tasks, the same for every policy of a run."""
    runs: int = Field(default=1, ge=1)
    """Episodes of each task. With several, the result has pass@k, and the rate's spread over runs."""
    max_invalid: float = Field(default=1 / 3, ge=0, le=1)
    """A larger share of invalid episodes ends an evaluation with an error. 1 measures what can be measured, however
    many sites turn robots away; a dead engine, or no valid episode at all, is an error all the same."""
    every: int = Field(default=0, ge=0)
    """Iterations between evaluations during online training, whose episodes share the pool
    (`loops/online/evaluations.py`); 0 evaluates before and after training only."""
    sampling: Sampling = Sampling(temperature=0.6, top_p=0.95, top_k=20, max_tokens=1024)


class Estimate(Record):
    """A figure with its 95 % interval."""

    value: float
    ci95: tuple[float, float]


class Rate(Record):
    """A share of successes among `n` trials, with its 95 % interval."""

    n: int
    successes: int
    rate: float
    """0 where n is 0; then the interval is (0, 1)."""
    ci95: tuple[float, float]


class SuccessRate(Rate):
    """The results of an evaluation. `model_dump(mode="json")` goes into `result.json`.

    `rate` is over all episodes, where an invalid one counts as a failure. The order of a task's runs is that of their
    seeds.
    """

    tasks: int
    runs: int
    """Episodes of each task; where tasks have different numbers of them, the smallest."""
    valid_n: int
    valid_rate: float
    """The rate over episodes that neither the web nor the system failed."""
    valid_ci95: tuple[float, float]
    invalid: dict[str, int]
    """The other episodes by what is to blame (`Reward.cause`), most frequent first."""
    ci95_by_website: tuple[float, float]
    """The interval of `rate` by resampling web sites (cluster bootstrap, 2,000 draws, fixed seed)."""
    by_website: dict[str, Rate]
    by_difficulty: dict[int, Rate]
    by_level: dict[str, Rate]
    """By what a benchmark calls its levels (`LEVEL`), where it has any."""
    by_kind: dict[str, Rate]
    by_dates: dict[str, Rate]
    """Of tasks that plan ahead of days that have gone by: `passed`, which can hardly be done any more, and `shifted`,
    whose dates were moved (`tasks.shift_dates`)."""
    rates: list[float]
    """The rate of each run."""
    rates_std: float
    """Their sample standard deviation; 0 where there is one run."""
    pass_at_k: dict[int, Estimate]
    """pass@k for k = 1 .. `runs`: how likely at least one of k episodes of a task succeeds (`pass_at`), as a mean over
    tasks."""
    success_at_k: dict[int, Rate]
    """S@K: the share of tasks that succeed within their first K runs (OpenWebVoyager §4.1)."""
    finish_rate: Rate
    """F@1: the share of tasks whose first run ends with an answer of the agent (OpenWebVoyager §4.1)."""
    terminations: dict[str, int]
    """Episodes by `Termination`, most frequent first."""
    steps: float
    """The mean number of turns of an episode."""
    response_tokens: float
    """The mean number of sampled tokens of an episode."""


def wilson95(successes: float, n: int) -> tuple[float, float]:
    """Wilson's score interval for a proportion; (0, 1) where n is 0."""
    if n == 0:
        return (0.0, 1.0)
    p, z2 = successes / n, Z95**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At 0 and n successes the bound is exactly 0 or 1; rounding would leave 1e-17 of it.
    return (0.0 if successes == 0 else centre - half, 1.0 if successes == n else centre + half)


def share(successes: int, n: int) -> Rate:
    """The share of successes among `n` independent trials, with Wilson's interval."""
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


def interval95(by_task: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The interval of the mean of values in 0..1, of which each task has some.

    Wilson's where all values of a task are 0 or all are 1, so that a task is one trial, and as if it were where there
    are fewer than `FEW_TASKS` or all are alike, which a bootstrap takes for certainty; else a bootstrap over tasks.
    """
    means = {fmean(values) for values in by_task}
    if len(by_task) >= FEW_TASKS and len(means) > 1 and not means <= {0, 1}:
        return bootstrap95(by_task)
    total = sum(map(len, by_task))
    return wilson95(sum(map(sum, by_task)) * len(by_task) / total if total else 0, len(by_task))


def clustered(by_task: Sequence[Sequence[bool]]) -> Rate:
    """The share of successes among episodes of which each task has some, with `interval95`."""
    n, successes = sum(map(len, by_task)), sum(map(sum, by_task))
    return Rate(n=n, successes=successes, rate=successes / n if n else 0.0, ci95=interval95(by_task))


def pass_at(k: int, n: int, successes: int) -> float:
    """pass@k of one task by `n` episodes: 1 − C(n − successes, k) / C(n, k), which is unbiased (Chen et al. 2021)."""
    return 1 - math.comb(n - successes, k) / math.comb(n, k)


def success(trajectories: Sequence[Trajectory]) -> SuccessRate:
    """Measure scored trajectories, one or several for each held-out task."""
    scored = [(trajectory, _reward(trajectory)) for trajectory in sorted(trajectories, key=run_order)]
    tasks = _by_task(scored)
    everything, valid = _rate(scored), _rate([each for each in scored if each[1].valid])
    runs = min(map(len, tasks.values()), default=0)
    rates = [fmean(outcomes[run] for outcomes in tasks.values()) for run in range(runs)]
    first = {trajectory.task.id: trajectory for trajectory, _ in reversed(scored)}
    by_website = _split(scored, lambda t: t.task.website)
    return SuccessRate(
        **everything.model_dump(),
        tasks=len(tasks),
        runs=runs,
        valid_n=valid.n,
        valid_rate=valid.rate,
        valid_ci95=valid.ci95,
        invalid=dict(Counter(r.cause or t.termination.value for t, r in scored if not r.valid).most_common()),
        ci95_by_website=bootstrap95([[reward.success for _, reward in each] for each in by_website.values()]),
        by_website=_rates(by_website),
        by_difficulty=_rates(_split(scored, lambda t: t.task.difficulty)),
        by_level=_rates(_split([each for each in scored if LEVEL in each[0].task.metadata], _level)),
        by_kind=_rates(_split(scored, lambda t: t.task.kind)),
        by_dates=_rates(_split([each for each in scored if _dates(each[0])], _dates)),
        rates=rates,
        rates_std=stdev(rates) if runs > 1 else 0.0,
        pass_at_k={k: _pass_at_k(k, list(tasks.values())) for k in range(1, runs + 1)},
        success_at_k={
            k: share(sum(any(outcomes[:k]) for outcomes in tasks.values()), len(tasks)) for k in range(1, runs + 1)
        },
        finish_rate=share(sum(t.answer is not None for t in first.values()), len(first)),
        terminations=dict(Counter(trajectory.termination.value for trajectory in trajectories).most_common()),
        steps=_mean([trajectory.steps for trajectory in trajectories]),
        response_tokens=_mean([sum(len(turn.response.ids) for turn in t.turns) for t in trajectories]),
    )


def run_order(trajectory: Trajectory) -> tuple[int, str]:
    """A key that sorts the episodes of a task by run: their seeds end in its number."""
    return len(trajectory.seed), trajectory.seed


def _reward(trajectory: Trajectory) -> Reward:
    if trajectory.reward is None:
        raise ValueError(f"trajectory {trajectory.id!r} has no reward: score it before measuring")
    return trajectory.reward


def _by_task(scored: Iterable[Scored]) -> dict[str, list[bool]]:
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for trajectory, reward in scored:
        outcomes[trajectory.task.id].append(reward.success)
    return {task: outcomes[task] for task in sorted(outcomes)}


def _rate(scored: Sequence[Scored]) -> Rate:
    return clustered(list(_by_task(scored).values()))


def _pass_at_k(k: int, tasks: Sequence[Sequence[bool]]) -> Estimate:
    values = [pass_at(k, len(outcomes), sum(outcomes)) for outcomes in tasks]
    return Estimate(value=fmean(values), ci95=interval95([[value] for value in values]))


def _split(scored: Sequence[Scored], key: Callable[[Trajectory], K]) -> dict[K, list[Scored]]:
    parts: dict[K, list[Scored]] = defaultdict(list)
    for each in scored:
        parts[key(each[0])].append(each)
    return {key: parts[key] for key in sorted(parts)}


def _rates(parts: dict[K, list[Scored]]) -> dict[K, Rate]:
    return {key: _rate(part) for key, part in parts.items()}


def _level(trajectory: Trajectory) -> str:
    return str(trajectory.task.metadata[LEVEL])


def _dates(trajectory: Trajectory) -> str:
    told = trajectory.task.metadata
    if SHIFTED_YEARS in told:
        return "shifted"
    return "passed" if told.get(PLANS) else ""


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
