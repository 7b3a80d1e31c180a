"""How far two verdicts on the same episodes agree, and how good a judge is where the truth is known.

Invariants: an invalid verdict is neither a success nor a failure, so it is counted apart and enters no share; every
share has Wilson's 95 % interval, and every other figure an interval of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from webdojo.evaluation.metrics import Z95, Estimate, Rate, share, wilson95
from webdojo.types import FrozenRecord, Record


class Confusion(FrozenRecord):
    """Episodes by what is true and by what was judged: `fp` are false accepts, `fn` false rejects."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    invalid: int = 0
    """Episodes without a valid verdict, which are in none of the others."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool | None]]) -> Confusion:
        """Count pairs of the truth and the verdict, None being an invalid one."""
        counts = Counter(pairs)
        return cls(
            tp=counts[True, True],
            fp=counts[False, True],
            fn=counts[True, False],
            tn=counts[False, False],
            invalid=counts[True, None] + counts[False, None],
        )

    @property
    def n(self) -> int:
        """Episodes with a valid verdict."""
        return self.tp + self.fp + self.fn + self.tn


class Agreement(Record):
    """What follows from a confusion matrix."""

    n: int
    counts: Confusion
    accuracy: Rate
    precision: Rate
    """Of the episodes that were accepted, the share that are successes."""
    recall: Rate
    """Of the successes, the share that was accepted."""
    tnr: Rate
    """Of the failures, the share that was rejected; the rest are false accepts."""
    f1: Estimate
    kappa: Estimate | None
    """Cohen's κ; None where all of both are of one class, so that it is not defined."""
    mcnemar_p: float
    """How likely such unequal numbers of `fp` and `fn` are if both are equally lenient (McNemar, exact, two-sided)."""


def agreement(counts: Confusion) -> Agreement:
    tp, fp, fn, tn = counts.tp, counts.fp, counts.fn, counts.tn
    return Agreement(
        n=counts.n,
        counts=counts,
        accuracy=share(tp + tn, counts.n),
        precision=share(tp, tp + fp),
        recall=share(tp, tp + fn),
        tnr=share(tn, tn + fp),
        f1=f1(counts),
        kappa=cohens_kappa(counts),
        mcnemar_p=mcnemar(fp, fn),
    )


def f1(counts: Confusion) -> Estimate:
    """The harmonic mean of precision and recall; 0 with the interval (0, 1) where nothing is or was judged a success.

    It is 2J / (1 + J), where J = tp / (tp + fp + fn) is a share, so its interval is Wilson's of J, carried over.
    """
    n = counts.tp + counts.fp + counts.fn
    low, high = wilson95(counts.tp, n)
    j = counts.tp / n if n else 0.0
    return Estimate(value=2 * j / (1 + j), ci95=(2 * low / (1 + low), 2 * high / (1 + high)))


def cohens_kappa(counts: Confusion) -> Estimate | None:
    """Cohen's κ with the large-sample interval of Fleiss, Cohen and Everitt (1969); None where it is not defined."""
    n = counts.n
    if not n:
        return None
    p = [[counts.tp / n, counts.fn / n], [counts.fp / n, counts.tn / n]]
    rows = [sum(row) for row in p]
    columns = [p[0][k] + p[1][k] for k in (0, 1)]
    observed = p[0][0] + p[1][1]
    expected = sum(rows[k] * columns[k] for k in (0, 1))
    if math.isclose(expected, 1):
        return None
    kappa = (observed - expected) / (1 - expected)
    agreed = sum(p[k][k] * ((1 - expected) - (rows[k] + columns[k]) * (1 - observed)) ** 2 for k in (0, 1))
    differed = (1 - observed) ** 2 * sum(p[k][1 - k] * (columns[k] + rows[1 - k]) ** 2 for k in (0, 1))
    rest = (observed * expected - 2 * expected + observed) ** 2
    half = Z95 * math.sqrt(max(0.0, agreed + differed - rest) / n) / (1 - expected) ** 2
    return Estimate(value=kappa, ci95=(max(-1.0, kappa - half), min(1.0, kappa + half)))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value for so many episodes that only the first, or only the second, accepts."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(fewer + 1)) / 2**n)


def paired_difference(counts: Confusion) -> Estimate:
    """The rate of accepted episodes less that of true successes; see `newcombe`."""
    return newcombe(counts.tp + counts.fn, counts.tp + counts.fp, counts.n, _phi(counts))


def newcombe(first: float, second: float, n: int, phi: float = 0.0) -> Estimate:
    """The rate of `second` successes less that of `first` ones, of the same `n` trials (Newcombe 1998, method 10).

    The interval knows that both rates are of the same trials by `phi`, the correlation of their outcomes; without it,
    it is the wider one of unpaired rates. It is honest for few trials and for rates near 0 and 1.
    """
    if not n:
        return Estimate(value=0.0, ci95=(-1.0, 1.0))
    (low1, high1), (low2, high2) = wilson95(first, n), wilson95(second, n)
    below = _hypotenuse(second / n - low2, high1 - first / n, phi)
    above = _hypotenuse(high2 - second / n, first / n - low1, phi)
    difference = (second - first) / n
    return Estimate(value=difference, ci95=(difference - below, difference + above))


def success_by_agent(rows: Iterable[Mapping[str, str]]) -> dict[str, Rate]:
    """Human success by agent, from rows with `AGENT_human_label`, as Online-Mind2Web publishes them.

    `1` is a success, `0` a failure and `2` a task that could not be carried out, which is no success either.
    """
    end = "_human_label"
    labels: dict[str, list[bool]] = {}
    for row in rows:
        for key in row:
            if key.endswith(end):
                labels.setdefault(key.removesuffix(end), []).append(row[key] == "1")
    return {agent: share(sum(found), len(found)) for agent, found in labels.items()}


def _phi(counts: Confusion) -> float:
    """The correlation of both verdicts; a positive one less half an episode, as the method asks."""
    tp, fp, fn, tn, n = counts.tp, counts.fp, counts.fn, counts.tn, counts.n
    product = (tp + fp) * (fn + tn) * (tp + fn) * (fp + tn)
    if not product:
        return 0.0
    covariance = float(tp * tn - fp * fn)
    if covariance > 0:
        covariance = max(0.0, covariance - n / 2)
    return covariance / math.sqrt(product)


def _hypotenuse(a: float, b: float, phi: float) -> float:
    return math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))
