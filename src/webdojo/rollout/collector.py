"""Dynamic sampling: roll out until N groups can train, and keep what is left over.

A new group starts only while (effective + unfinished) < (max_staleness + 1) · N, as many as the
staleness bound can still use. Once N are there no group starts, those that run come to their end,
and the surplus waits for the next iteration, so no finished work is thrown away before it is stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

from webdojo.errors import TrainError
from webdojo.rollout.groups import Group, RunEpisode, effective, finished_groups
from webdojo.types import Task

_ADVICE = {
    "all rewards 0": "the policy never succeeds: take easier tasks or more warm start (sft.demos) in a new --run",
    "all rewards 1": "the policy always succeeds: take harder tasks in a new --run",
    "all rewards -1": "the policy does not hold the response format: take more warm start (sft.demos) in a new --run",
    "fewer than 2 valid members": "the web or the engine fails: read the errors of the stored trajectories",
    "too stale": "raise rollout.max_staleness",
}


@dataclass
class Collected:
    """What one iteration trains on, and what became of the rest."""

    groups: list[Group]
    """Exactly N effective groups, oldest first."""
    finished: list[Group] = field(default_factory=list)
    """Every group that ended in this iteration, effective or not: what success is measured on."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Groups that do not train, by reason."""


class GroupCollector:
    """Collects effective groups iteration by iteration; `surplus` carries over between them."""

    def __init__(
        self,
        run: RunEpisode,
        tasks: Iterator[Task],
        *,
        group_size: int,
        concurrency: int,
        groups: int,
        max_groups: int,
        max_staleness: int,
    ) -> None:
        """`groups` is N; `max_groups` bounds the groups started an iteration (0 means 8 N)."""
        self.surplus: list[Group] = []
        """Effective groups that wait for the next iteration, oldest first."""
        self._run = run
        self._tasks = tasks
        self._group_size = group_size
        self._concurrency = concurrency
        self._wanted = groups
        self._max_groups = max_groups or 8 * groups
        self._max_staleness = max_staleness

    async def collect(self, version: int, on_effective: Callable[[int], None] = lambda count: None) -> Collected:
        """The next N effective groups for a learner at weight version `version`.

        Args:
            version: the weights that roll out and that will be updated.
            on_effective: told how many effective groups there are, whenever a group was judged.

        Raises:
            TrainError: `max_groups` groups did not hold enough effective ones; the effective ones
                stay in `surplus`.
        """
        out = Collected(groups=[])
        waiting, self.surplus = self.surplus, []
        kept = out.groups
        for group in waiting:
            self._judge(group, version, out)
        on_effective(len(kept))
        started = 0

        def may_start(unfinished: int) -> bool:
            nonlocal started
            if started == self._max_groups or len(kept) >= self._wanted:
                return False
            if len(kept) + unfinished >= (self._max_staleness + 1) * self._wanted:
                return False
            started += 1
            return True

        stream = finished_groups(
            self._run, self._tasks, group_size=self._group_size, concurrency=self._concurrency, may_start=may_start
        )
        async with aclosing(stream):
            async for group in stream:
                out.finished.append(group)
                self._judge(group, version, out)
                on_effective(len(kept))
        if len(kept) < self._wanted:
            self.surplus = kept
            raise TrainError(self._complaint(len(kept), len(waiting) + len(out.finished), out.dropped))
        out.groups, self.surplus = kept[: self._wanted], kept[self._wanted :]
        return out

    def _judge(self, group: Group, version: int, out: Collected) -> None:
        verdict = effective(group, version, self._max_staleness)
        if verdict.keep:
            out.groups.append(group)
        else:
            out.dropped[verdict.reason] += 1

    def _complaint(self, kept: int, seen: int, dropped: Counter[str]) -> str:
        causes = ", ".join(f"{reason} in {count} of {seen} groups" for reason, count in dropped.most_common())
        commonest = dropped.most_common(1)[0][0] if dropped else ""
        advice = _ADVICE.get(commonest.partition(" (")[0], "")
        return (
            f"only {kept} of {self._wanted} groups can train after {seen} groups: {causes or 'no more tasks'}"
            f"{'; ' if advice else ''}{advice}"
        )
