"""Which of several policies is better: the same tasks, the share of each, and a paired test.

Invariant: policies are compared on the tasks that both were measured on, task by task. An episode that the web or the
system failed counts as a failure, as in the official rates of the papers, and stands apart in `valid`, where only tasks
count whose episodes are valid for both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from statistics import fmean
from typing import Any

from pydantic import Field

from webdojo.errors import StoreError
from webdojo.evaluation.agreement import Confusion, mcnemar, newcombe, paired_difference
from webdojo.evaluation.metrics import FEW_TASKS, Estimate, Rate, bootstrap95, clustered
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
    protocol: dict[str, Any] = Field(default_factory=dict)
    """By dotted key, the values of its recipe that bear on what an episode is worth."""
    finished: bool = True
    """False where the run has no result yet."""

    @property
    def rate(self) -> Rate:
        by_task = defaultdict(list)
        for each in self.outcomes:
            by_task[each.task_id].append(each.success)
        return clustered(list(by_task.values()))


class Paired(Record):
    """Two policies on the episodes that they have in common: the n-th of a task with the n-th of the same task.

    Several episodes of a task are no independent trials, so intervals and the test go by tasks.
    """

    n: int
    first: Rate
    second: Rate
    difference: Estimate
    """Of the rates, second − first. The interval is Newcombe's for paired rates where each task has one episode; else
    that of a bootstrap over tasks (2,000 draws, fixed seed), or, where these are fewer than `FEW_TASKS` or all differ
    alike, Newcombe's as if each task were one trial."""
    won: list[str]
    """Tasks that the second did more often."""
    lost: list[str]
    """Tasks that the first did more often."""
    mcnemar_p: float
    """How likely such unequal numbers of won and lost are if both are equally good (McNemar, exact, two-sided; with
    several episodes of a task the sign test over tasks, which is the same)."""


class Comparison(Record):
    first: str
    second: str
    left_out: int
    """Episodes without a partner: of a task, or a further run of one, that only one of both has."""
    differs: dict[str, list[Any]]
    """By key of the protocol, the value of the first and that of the second, where these are not the same."""
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
        differs=different(first.protocol, second.protocol),
        official=paired(pairs),
        valid=paired([(one, other) for one, other in pairs if one.valid and other.valid]),
    )


def different(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, list[Any]]:
    """By dotted key, both values where they are not the same; of plugs with other names only the names."""
    both = {key: [first.get(key), second.get(key)] for key in {**first, **second} if first.get(key) != second.get(key)}
    plugs = [key.removesuffix("name") for key in both if key.endswith(".name")]
    return {key: pair for key, pair in both.items() if not any(_option_of(plug, key) for plug in plugs)}


def _option_of(plug: str, key: str) -> bool:
    return key.startswith(plug) and key != f"{plug}name"


def paired(pairs: Sequence[tuple[Outcome, Outcome]]) -> Paired:
    by_task = defaultdict(list)
    for one, other in pairs:
        by_task[one.task_id].append((one.success, other.success))
    first, second = (clustered([[pair[k] for pair in task] for task in by_task.values()]) for k in (0, 1))
    gained = {task: sum(other - one for one, other in found) for task, found in by_task.items()}
    won, lost = ([task for task, more in gained.items() if sign * more > 0] for sign in (1, -1))
    return Paired(
        n=len(pairs),
        first=first,
        second=second,
        difference=_difference(list(by_task.values()), first, second),
        won=won,
        lost=lost,
        mcnemar_p=mcnemar(len(lost), len(won)),
    )


def _difference(by_task: Sequence[Sequence[tuple[bool, bool]]], first: Rate, second: Rate) -> Estimate:
    if all(len(task) == 1 for task in by_task):
        return paired_difference(Confusion.of(task[0] for task in by_task))
    differences = [[other - one for one, other in task] for task in by_task]
    if len(by_task) < FEW_TASKS or len({fmean(task) for task in differences}) == 1:
        return newcombe(first.rate * len(by_task), second.rate * len(by_task), len(by_task))
    return Estimate(value=second.rate - first.rate, ci95=bootstrap95(differences))


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
