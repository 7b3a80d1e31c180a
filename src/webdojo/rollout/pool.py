"""The everlasting pool: episode slots that never drain at the border of an iteration (AsyncWebRL, system).

A slot that frees starts the next member of a group at once, whatever the learner does meanwhile, and a
group may outlive any number of updates. A new group begins only while

    accepted + running < (max_staleness + version + 1) · N

counted in groups: `accepted` were trained or wait to be, `running` have begun and not ended, N train at a
time. None begins that no update is left for, nor while N wait, because it would only grow stale behind
them. So with `max_staleness` 0 no episode runs while the learner steps, which is the synchronous on-policy
loop; above 0 both work at once, and where the learner is the slowest, tokens are about one version old. How
many slots there are and what else keeps an episode from starting is up to the `Scheduler`. The life of a group:

    begun ── its members run ── ended ─┬─ the filter keeps it: it waits, oldest first, until `next_batch` has it
             │                         └─ the filter drops it ──────────┬─ dropped, counted by reason
             └─ its first token lies more than max_staleness versions back ─┘

Episodes that are not for training go first, in the same slots, and the staleness gate does not count them (`evaluate`).

Invariants: a group that begins is handed out once, or dropped with a reason, or named by `state`;
the next batch names each group that ended, if need be the batch of a later pool;
what is handed out is at most `max_staleness` versions old; an episode that raises ends the next `next_batch`;
what waits for a resource starts when that is there again, at the latest `CHECK_S` later.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Self
from uuid import uuid4

from webdojo.errors import TrainError
from webdojo.rollout.curriculum import TaskStream
from webdojo.rollout.groups import (
    STALE,
    Group,
    GroupFilter,
    RunEpisode,
    dynamic_sampling,
    in_order,
    member_ids,
)
from webdojo.rollout.scheduler import RESOURCES, Scheduler
from webdojo.types import Task, Trajectory

CHECK_S = 0.25
"""While a resource is short, the scheduler is asked again after so many seconds."""

logger = logging.getLogger("webdojo")


@dataclass
class Batch:
    """What one update trains on, and what became of the other groups since the update before."""

    groups: list[Group] = field(default_factory=list)
    """N groups that train, those with the oldest tokens first."""
    finished: list[Group] = field(default_factory=list)
    """Every group that came to its end, whether it trains or not: what success is measured on."""
    dropped: Counter[str] = field(default_factory=Counter)
    """How many groups do not train, by reason."""


class PoolState(NamedTuple):
    """The groups that have begun and that no update has had yet, by their numbers: what a later pool goes on from."""

    waiting: Sequence[int] = ()
    """Groups that ended and may train."""
    running: Sequence[int] = ()
    """Groups that have not ended, so that members may be missing."""
    finished: Sequence[int] = ()
    """`Batch.finished` so far, including those of them that wait."""
    dropped: Mapping[str, int] = MappingProxyType({})
    """`Batch.dropped` so far."""


@dataclass(eq=False)
class RolloutPool:
    """Runs groups for ever; use it in an `async with` block, whose end cancels what runs."""

    run: RunEpisode
    tasks: TaskStream
    scheduler: Scheduler
    group_size: int
    groups: int
    """N, the groups of a batch."""
    max_groups: int
    """So many groups that end between two updates must hold N that train."""
    max_staleness: int
    """How many versions may lie between a token and the weights that it trains."""
    updates: int
    """How many the whole run has."""
    version: int
    earlier: InitVar[PoolState]
    """What an earlier pool left; it comes before any new group."""
    stored: Callable[[Group], Sequence[Trajectory]]
    """Returns the members that a group has from an earlier pool; only missing ones run."""
    keep: GroupFilter = dynamic_sampling
    """Decides which groups train."""

    def __post_init__(self, earlier: PoolState) -> None:
        self.waiting: list[Group] = []
        self.episodes = 0  # that have ended so far
        self._again = deque(earlier.running)
        self._batches = self.version  # so many updates have got their groups
        self._unfinished: dict[str, Group] = {}
        self._queued: deque[tuple[RunEpisode, Group, str]] = deque()
        self._running: dict[asyncio.Task[Trajectory], Group] = {}
        self._ended: asyncio.Queue[asyncio.Task[Trajectory] | None] = asyncio.Queue()
        """Episodes that have ended; None asks the scheduler again."""
        self._asks_again = False  # whether a None is on its way
        self._news = asyncio.Event()
        ended = {number: self._group(number) for number in {*earlier.waiting, *earlier.finished}}
        self._next = Batch([], [ended[number] for number in earlier.finished], Counter(earlier.dropped))
        for number in earlier.waiting:  # members that ran again may have other rewards
            self._keep_or_drop(ended[number])

    async def __aenter__(self) -> Self:
        self.advance(self.version)
        self._driver = asyncio.create_task(self._drive())
        self._driver.add_done_callback(lambda _: self._news.set())
        return self

    async def __aexit__(self, *_: object) -> None:
        unfinished = [self._driver, *self._running]
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    async def next_batch(self, on_news: Callable[[], None] = lambda: None) -> Batch:
        """Wait for N groups that train, and take those with the oldest tokens; each episode's end calls `on_news`."""
        self._raise_what_ended()
        while len(self.waiting) < self.groups:
            if len(self._next.finished) >= self.max_groups:
                raise TrainError(self._complaint())
            await self._next_news()
            on_news()
        self.waiting.sort(key=lambda group: (group.versions[0], group.number))
        batch, self._next = self._next, Batch()
        batch.groups, self.waiting = self.waiting[: self.groups], self.waiting[self.groups :]
        self._batches += 1
        self._fill()
        return batch

    async def evaluate(self, run: RunEpisode, tasks: Sequence[Task]) -> list[Trajectory]:
        """Run an episode of each task in the next slots that are free, and wait for all of them; they count for no
        batch.

        All their tokens are of the version that serves if `advance` comes after them.
        """
        groups = [Group(f"{task.id}-{uuid4().hex[:12]}", task) for task in tasks]
        self._queued.extendleft((run, group, member_ids(group, 1)[0]) for group in reversed(groups))
        self._fill()
        while not all(group.trajectories for group in groups):
            await self._next_news()
        return [trajectory for group in groups for trajectory in group.trajectories]

    def advance(self, version: int) -> None:
        """Note that the engine serves `version` from now on: drop what is too old for it, begin what may begin."""
        self.version = version
        for group in [group for group in self._unfinished.values() if self._is_stale(group.began)]:
            self._give_up(group)
        for group in [group for group in self.waiting if self._is_stale(group.versions[0])]:
            self.waiting.remove(group)
            self._drop(group, STALE.reason)
        self._fill()

    def state(self) -> PoolState:
        """What a later pool goes on from, together with the position of the task stream."""
        return PoolState(
            waiting=[group.number for group in self.waiting],
            running=[*(group.number for group in self._unfinished.values()), *self._again],
            finished=[group.number for group in self._next.finished],
            dropped=dict(self._next.dropped),
        )

    async def _next_news(self) -> None:
        """Wait until an episode has ended, or raise what one of them raised."""
        self._raise_what_ended()
        await self._news.wait()
        self._news.clear()

    def _raise_what_ended(self) -> None:
        """Raise what an episode or the drawing of a task raised; after that nobody takes note of episodes any more."""
        if self._driver.done():
            self._driver.result()

    async def _drive(self) -> None:
        while True:
            if (ended := await self._ended.get()) is not None:
                self._end(ended)
            else:
                self._asks_again = False
            self._fill()

    def _fill(self) -> None:
        """Start episodes until something keeps the next one from starting."""
        while (limit := self.scheduler.limit(len(self._running), self._has_work())) is None:
            if not self._queued:
                self._begin()
            if self._queued:
                run, group, name = self._queued.popleft()
                episode = asyncio.create_task(run(group.task, group.id, name))
                episode.add_done_callback(self._ended.put_nowait)
                self._running[episode] = group
        if limit in RESOURCES and not self._asks_again:
            self._asks_again = True
            asyncio.get_running_loop().call_later(CHECK_S, self._ended.put_nowait, None)

    def _has_work(self) -> bool:
        """Whether there is an episode that staleness lets start; no group begins, too, while a whole batch waits."""
        batches = min(self.max_staleness + self.version + 1, self.updates)
        begun = self._batches * self.groups + len(self.waiting) + len(self._unfinished)
        return bool(self._queued) or (begun < batches * self.groups and len(self.waiting) < self.groups)

    def _begin(self) -> None:
        group = self._group(self._again.popleft() if self._again else self.tasks.draw())
        there = {trajectory.id for trajectory in group.trajectories}
        self._unfinished[group.id] = group
        names = member_ids(group, self.group_size)
        self._queued += [(self.run, group, name) for name in names if name not in there]
        if self._is_stale(group.began):
            self._give_up(group)
        elif len(there) == self.group_size:
            self._finish(group)

    def _group(self, number: int) -> Group:
        """A group of the task order, with the members that it has already."""
        task = self.tasks.at(number)
        group = Group(f"{task.id}-{number}", task, number=number)
        names = member_ids(group, self.group_size)
        group.trajectories = [trajectory for trajectory in self.stored(group) if trajectory.id in names]
        in_order(group)
        group.began = min([self.version, *group.versions])
        return group

    def _end(self, episode: asyncio.Task[Trajectory]) -> None:
        group = self._running.pop(episode)
        if group.id not in self._unfinished and episode.cancelled():
            return  # with its group, which was given up
        self.episodes += 1
        group.trajectories.append(episode.result())
        if len(group.trajectories) == self.group_size and group.id in self._unfinished:
            self._finish(group)
        self._news.set()

    def _finish(self, group: Group) -> None:
        in_order(group)
        del self._unfinished[group.id]
        self._next.finished.append(group)
        self._keep_or_drop(group)
        self._news.set()

    def _keep_or_drop(self, group: Group) -> None:
        found = self.keep(group)
        if found.keep and self._is_stale(group.versions[0]):
            found = STALE
        if found.keep:
            self.waiting.append(group)
        else:
            self._drop(group, found.reason)

    def _give_up(self, group: Group) -> None:
        """Stop a group that has become too old before it costs more."""
        del self._unfinished[group.id]
        self._queued = deque(entry for entry in self._queued if entry[1] is not group)
        for episode, other in self._running.items():
            if other is group:
                episode.cancel()
        self._drop(group, STALE.reason)

    def _drop(self, group: Group, reason: str) -> None:
        self._next.dropped[reason] += 1
        if reason == STALE.reason:
            logger.info("group %s dropped: begun by version %d, too old for %d", group.id, group.began, self.version)

    def _is_stale(self, version: int) -> bool:
        return self.version - version > self.max_staleness

    def _complaint(self) -> str:
        """Why too few groups train, and what to do about the commonest reason."""
        finished, dropped = self._next.finished, self._next.dropped
        causes = ", ".join(f"{reason} in {count} of {len(finished)} groups" for reason, count in dropped.most_common())
        commonest = dropped.most_common(1)[0][0] if dropped else ""
        advice = {found.reason: found.advice for found in (STALE, *map(self.keep, finished))}.get(commonest, "")
        return (
            f"only {len(self.waiting)} of {self.groups} groups can train after {len(finished)} groups: {causes}"
            f"{'; ' if advice else ''}{advice}"
        )
