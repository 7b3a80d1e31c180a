"""A teacher's attempts at tasks, judged as they finish: demonstrations and data sets alike (OpenWebRL §4.2).

    first    `attempts` episodes of each task, then one at a time, up to `max_attempts`, while none is enough (`until`)
    second   once more each attempt that ended for no fault of the teacher: the web, the engine or the judge failed

An attempt is a task and a number, which seed all that it draws. Invariants: each has at most one episode in the store,
which counts as soon as it is there, so by a teacher that always does the same it does not matter how often the
collection was stopped; a second try has the seed of the first and takes its place.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from webdojo.errors import BrowserError, BudgetError, EngineError, Failure, RewardError, Stopped
from webdojo.gather import gather_or_cancel
from webdojo.loops.collection.teachers import Teacher
from webdojo.loops.episodes import EpisodeRunner, infra_error
from webdojo.progress import Progress, plural
from webdojo.rollout.config import CollectConfig
from webdojo.store.run import RunStore
from webdojo.types import Task, Termination, Trajectory

_STOPS: dict[str, type[Stopped]] = {Failure.BUDGET_SPENT: BudgetError, Failure.STOPPED: Stopped}
"""By the failure of an episode, why no other one may begin."""


@dataclass
class _Outcome:
    """What the store has of an attempt."""

    id: str
    valid: bool
    success: bool
    enough: bool
    """Whether it makes further attempts needless (`collect.until`)."""
    tried: int
    """The pass in which it was tried last; two passes are a round."""
    tokens: int
    """Of its responses."""
    why: str
    """Where it is not valid, what failed it, in a word; else empty."""

    def counts(self) -> dict[str, int]:
        return {"episodes": 1, "successes": self.success, "invalid": not self.valid, "tokens": self.tokens}


@dataclass
class Collection:
    """The attempts of one phase of a run; `run` makes those that are left."""

    runner: EpisodeRunner
    teacher: Teacher
    phase: str
    config: CollectConfig
    bar: Progress
    """Counts tasks."""
    max_invalid: float = 1.0
    """A larger share of attempts that are invalid after their second try is an error."""
    on_kept: Callable[[Trajectory], None] = lambda trajectory: None
    """Called with each attempt that is judged and stored."""
    _outcomes: defaultdict[str, dict[int, _Outcome]] = field(default_factory=lambda: defaultdict(dict))
    """By the id of the task and the number of the attempt."""
    _counts: Counter[str] = field(default_factory=Counter)
    """Totals of the outcomes."""
    _stopped: Stopped | None = None
    """Why no other episode may begin."""

    async def run(self, tasks: Sequence[Task]) -> list[str]:
        """The ids of all valid episodes, in the order of tasks and attempts; a task that is there several times has as
        many attempts more.

        Raises:
            Stopped: `collect.budget_tokens`, or the budget of the engine's endpoint, is spent (BudgetError), or the
                person who teaches has stopped; what had begun is stored.
            BrowserError, EngineError, RewardError: too much failed; the next call tries again what did.
        """
        store = self.runner.store
        self.runner.begin(self.phase)
        await asyncio.to_thread(self.look)
        times, unique = Counter(task.id for task in tasks), {task.id: task for task in tasks}.values()
        slots = asyncio.Semaphore(self.runner.recipe.rollout.concurrency)
        done = store.get(_passes(self.phase), 0)
        self.bar.found(sum(times[task.id] for task in unique if not self._due(task, times[task.id], done)))
        try:
            await gather_or_cancel(self._first(task, times[task.id], done, slots) for task in unique)
            await gather_or_cancel(self._again(task, times[task.id], done + 1, slots) for task in unique)
            if self._stopped is not None:
                raise self._stopped
            self._check(unique, times)
        except Stopped:
            raise
        except (BrowserError, EngineError, RewardError):
            self.try_again(store, self.phase)
            raise
        return self.valid_ids(tasks)

    def valid_ids(self, tasks: Sequence[Task]) -> list[str]:
        """The ids of the valid episodes so far, as `run` returns them."""
        times, unique = Counter(task.id for task in tasks), {task.id: task for task in tasks}.values()
        return [each.id for each in self._made(unique, times) if each.valid]

    def unfinished(self, tasks: Sequence[Task]) -> dict[str, str]:
        """By the ids of tasks without a valid episode, what failed the last one."""
        made = {task.id: self._outcomes[task.id] for task in tasks}
        return {
            id: attempts[max(attempts)].why if attempts else "not begun"
            for id, attempts in made.items()
            if not any(each.valid for each in attempts.values())
        }

    @staticmethod
    def try_again(store: RunStore, phase: str) -> None:
        """Let the next `run` try twice more what is invalid now."""
        store.set(_passes(phase), store.get(_passes(phase), 0) + 2)

    def look(self) -> None:
        """Read what is stored and judged; forgets what lost screenshots."""
        store = self.runner.store
        for row, trajectory in store.stream([self.phase]):
            if row.valid is None:
                continue
            if row.valid and not store.has_screenshots(trajectory):
                self._add_replaced(row.response_tokens)
                store.discard_broken(trajectory)
                continue
            made = self._outcomes[row.task_id]
            told = trajectory.seed.removeprefix(self.runner.seed(f"{row.task_id}/"))
            number = int(told) if told.isdigit() else len(made) + 1  # old runs did not keep every seed
            if number not in made or not made[number].valid:
                self._note(number, trajectory, row.iteration)

    def _note(self, number: int, trajectory: Trajectory, tried: int) -> None:
        reward, made = trajectory.reward, self._outcomes[trajectory.task.id]
        assert reward is not None, f"{trajectory.id} has no verdict"
        tokens = sum(len(turn.response.ids) for turn in trajectory.turns)
        if (before := made.get(number)) is not None:
            self._counts.subtract(before.counts())
        success = reward.valid and reward.success
        finished = reward.valid and trajectory.termination is Termination.COMPLETED
        enough = success or (finished and self.config.until == "finished")
        why = "" if reward.valid else trajectory.failure or reward.cause or trajectory.termination.value
        made[number] = _Outcome(trajectory.id, reward.valid, success, enough, tried, tokens, why)
        self._counts.update(made[number].counts())

    def _wanted(self, task: Task, times: int) -> Iterable[int]:
        """The numbers of the attempts at a task that are to be made, as far as is known."""
        for number in range(1, times * max(self.config.attempts, self.config.max_attempts) + 1):
            if number > times * self.config.attempts and self._enough(task, number):
                return
            yield number

    def _enough(self, task: Task, before: int) -> bool:
        return any(each.enough for number, each in self._outcomes[task.id].items() if number < before)

    def _due(self, task: Task, times: int, now: int) -> list[int]:
        """The attempts that this pass has to make."""
        made = self._outcomes[task.id]
        return [
            number
            for number in self._wanted(task, times)
            if number not in made or (not made[number].valid and made[number].tried < now)
        ]

    async def _first(self, task: Task, times: int, now: int, slots: asyncio.Semaphore) -> None:
        if not self._due(task, times, now):
            return
        at_once = times * self.config.attempts
        while due := self._due(task, times, now):
            if self._stopped is not None:
                return
            together = [number for number in due if number <= at_once] or due[:1]
            await gather_or_cancel(self._attempt(task, number, now, slots) for number in together)
        self.bar.advance(times)

    async def _again(self, task: Task, times: int, now: int, slots: asyncio.Semaphore) -> None:
        for number in self._due(task, times, now):
            if number in self._due(task, times, now):  # an earlier one may have succeeded meanwhile
                await self._attempt(task, number, now, slots)

    async def _attempt(self, task: Task, number: int, now: int, slots: asyncio.Semaphore) -> None:
        runner, config = self.runner, self.runner.recipe.rollout
        async with slots:
            if self._stopped is not None or self._overspent():
                return
            seed, group = f"{task.id}/{number}", f"{self.phase}-{task.id}"
            while True:
                trajectory = await runner.rollout(
                    task,
                    group,
                    f"{group}-{number}",
                    actor=self.teacher(runner.seed(seed)),
                    sampling=config.sampling,
                    max_steps=config.horizon(task.difficulty),
                    seed=seed,
                )
                if trajectory.failure != Failure.DISCARDED:
                    break
            if (stops := _STOPS.get(trajectory.failure)) is not None:
                self._stopped = stops(trajectory.error)
                return
            if (before := self._outcomes[task.id].get(number)) is not None:
                self._add_replaced(before.tokens)
                await asyncio.to_thread(runner.store.discard_trajectory, before.id)
            sites_may_fail, retry = self.max_invalid == 1, before is not None
            await runner.finish(trajectory, self.phase, now, sites_may_fail=sites_may_fail, retry=retry)
            self._note(number, trajectory, now)
            self.on_kept(trajectory)
            self.bar.advance(0, **{name: self._counts[name] for name in ("episodes", "successes", "invalid")})

    def _overspent(self) -> bool:
        budget = self.config.budget_tokens
        if budget and (said := self._counts["tokens"] + self._replaced_tokens) >= budget:
            self._stopped = BudgetError(
                f"the teacher has said {said:,} tokens, and collect.budget_tokens is {budget:,}: what it did is kept; "
                "raise it and go on with --resume"
            )
        return self._stopped is not None

    @property
    def _replaced_tokens(self) -> int:
        """What the teacher has said in episodes that were discarded, over all calls."""
        said: int = self.runner.store.get(f"{self.phase} replaced tokens", 0)
        return said

    def _add_replaced(self, tokens: int) -> None:
        self.runner.store.set(f"{self.phase} replaced tokens", self._replaced_tokens + tokens)

    def _made(self, tasks: Iterable[Task], times: Counter[str]) -> list[_Outcome]:
        made = ((self._outcomes[task.id], self._wanted(task, times[task.id])) for task in tasks)
        return [outcomes[number] for outcomes, wanted in made for number in wanted if number in outcomes]

    def _check(self, tasks: Iterable[Task], times: Counter[str]) -> None:
        """Raise where too many attempts are invalid."""
        made = self._made(tasks, times)
        invalid = [each for each in made if not each.valid]
        if len(invalid) > self.max_invalid * len(made) or (invalid and len(invalid) == len(made)):
            failed = [self.runner.store.trajectory(each.id) for each in invalid]
            raise infra_error(failed, f"{len(invalid)} of {plural(len(made), 'episode')} of phase {self.phase!r}")


def _passes(phase: str) -> str:
    """The key under which the store keeps how many passes are over."""
    return f"{phase} passes"
