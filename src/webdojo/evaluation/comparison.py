"""Which of several policies is better: the same tasks, the share of each, and a paired test.

Invariant: policies are compared on the tasks that both were measured on, task by task. An episode that the web or the
system failed counts as a failure, as in the official rates of the papers, and stands apart in `valid`, where only tasks
count whose episodes are valid for both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest

from webdojo.errors import StoreError
from webdojo.evaluation.agreement import mcnemar
from webdojo.evaluation.metrics import Estimate, Rate, bootstrap95, share
from webdojo.types import Record


class Outcome(Record):
    """One evaluation episode."""

    task_id: str
    success: bool
    valid: bool


class Measured(Record):
    """A policy's evaluation."""

    name: str
    outcomes: list[Outcome]

    @property
    def rate(self) -> Rate:
        return share(sum(each.success for each in self.outcomes), len(self.outcomes))


class Paired(Record):
    """Two policies on the episodes that they have in common: the n-th of a task with the n-th of the same task."""

    n: int
    first: Rate
    second: Rate
    difference: Estimate
    """Of the rates, second − first, with the interval of the paired bootstrap over tasks (2,000 draws, fixed seed)."""
    won: list[str]
    """Tasks that only the second did."""
    lost: list[str]
    """Tasks that only the first did."""
    mcnemar_p: float
    """How likely such unequal numbers of won and lost are if both are equally good (McNemar, exact, two-sided)."""


class Comparison(Record):
    first: str
    second: str
    left_out: int
    """Episodes that only one of both has."""
    official: Paired
    valid: Paired


def compare(first: Measured, second: Measured) -> Comparison:
    """How the second policy differs from the first.

    Raises:
        StoreError: they have no task in common.
    """
    pairs, left_out = _pairs(first.outcomes, second.outcomes)
    if not pairs:
        raise StoreError(f"{first.name} and {second.name} have no task in common: measure both on the same tasks")
    return Comparison(
        first=first.name,
        second=second.name,
        left_out=left_out,
        official=paired(pairs),
        valid=paired([(one, other) for one, other in pairs if one.valid and other.valid]),
    )


def paired(pairs: Sequence[tuple[Outcome, Outcome]]) -> Paired:
    first, second = (share(sum(pair[k].success for pair in pairs), len(pairs)) for k in (0, 1))
    won = [one.task_id for one, other in pairs if other.success and not one.success]
    lost = [one.task_id for one, other in pairs if one.success and not other.success]
    by_task = defaultdict(list)
    for one, other in pairs:
        by_task[one.task_id].append(other.success - one.success)
    interval = bootstrap95(list(by_task.values())) if pairs else (-1.0, 1.0)
    return Paired(
        n=len(pairs),
        first=first,
        second=second,
        difference=Estimate(value=second.rate - first.rate, ci95=interval),
        won=won,
        lost=lost,
        mcnemar_p=mcnemar(len(lost), len(won)),
    )


def _pairs(first: Sequence[Outcome], second: Sequence[Outcome]) -> tuple[list[tuple[Outcome, Outcome]], int]:
    """The episodes of the same tasks in pairs, in the order of the first, and how many have no partner."""
    sides: tuple[defaultdict[str, list[Outcome]], ...] = (defaultdict(list), defaultdict(list))
    for side, outcomes in zip(sides, (first, second), strict=True):
        for outcome in outcomes:
            side[outcome.task_id].append(outcome)
    both = [
        pair for task in dict.fromkeys([*sides[0], *sides[1]]) for pair in zip_longest(*(side[task] for side in sides))
    ]
    found = [(one, other) for one, other in both if one is not None and other is not None]
    return found, len(both) - len(found)
