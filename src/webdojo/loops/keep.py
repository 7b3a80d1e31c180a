"""Which checkpoints of online training stay: the latest, the best, and the last few of every so-many-th iteration.

The best is the one whose policy succeeded most often on the held-out tasks. Where no checkpoint was measured on them
(`evaluate.every`), it goes by the training episodes that began under a policy: they come by the hundred and for
nothing, but are of other tasks each time and not equally many, so the lower end of the 95 % interval decides. They have
ended `rollout.max_staleness` updates later, so as many checkpoints wait for that. Which one is the best follows from
what is stored anyway, and the best so far is never removed, so a run that is killed at any point goes on with the same
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from webdojo.evaluation import wilson95
from webdojo.loops.run_folder import EVALUATION, RL
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore


class Scored(NamedTuple):
    """A checkpoint, and how its policy did."""

    checkpoint: Checkpoint
    success: float
    """Share of the held-out tasks, or else of the valid training episodes."""
    heldout: bool


class Tally(NamedTuple):
    """Valid training episodes that began under a policy."""

    n: int
    successes: int

    @property
    def success(self) -> float:
        """Share of them that succeeded."""
        return self.successes / self.n


def best(store: RunStore, wait: int = 0) -> Scored | None:
    """The checkpoint of the most successful policy, the later of equals; None before any has rolled out.

    Args:
        wait: so many of the last checkpoints are passed over.
    """
    saved = _saved(store)
    for iteration in sorted(saved, reverse=True)[:wait]:
        del saved[iteration]
    measured = {int(row["step"]): row["success"] for row in store.metrics(EVALUATION)}
    if heldout := not saved.keys().isdisjoint(measured):
        success = by = measured
    else:
        tallies = rolled_out(store)
        success = {iteration: tally.success for iteration, tally in tallies.items()}
        by = {iteration: wilson95(tally.successes, tally.n)[0] for iteration, tally in tallies.items()}
    known = [iteration for iteration in sorted(saved, reverse=True) if iteration in success]
    found = max(known, key=lambda iteration: by[iteration], default=None)
    return None if found is None else Scored(saved[found], success[found], heldout)


def rolled_out(store: RunStore) -> dict[int, Tally]:
    """The training episodes that began under each policy, by the iteration that made it."""
    rows = [row for row in store.rows(RL) if row.valid]
    n, successes = Counter(row.iteration - 1 for row in rows), Counter(row.iteration - 1 for row in rows if row.success)
    return {iteration: Tally(n[iteration], successes[iteration]) for iteration in n}


def surplus(store: RunStore, every: int, limit: int, max_staleness: int) -> list[Checkpoint]:
    """The checkpoints that need not stay (`staying`), oldest first."""
    saved, found = _saved(store), best(store, wait=1 + max_staleness)
    stay = staying(saved, found and found.checkpoint.meta["iteration"], every, limit, max_staleness)
    return [saved[iteration] for iteration in sorted(saved.keys() - stay)]


def staying(saved: Collection[int], best: int | None, every: int, limit: int, max_staleness: int) -> set[int]:
    """Which of the iterations that are saved stay saved.

    Args:
        best: the iteration that made the best policy; it stays, as the latest does.
        every: multiples of it stay as well.
        limit: how many may stay because of `every`, together with the others, the last ones first; 0 is any number.
        max_staleness: so many before the latest stay until their episodes have ended.
    """
    stay = set(sorted(saved)[-1 - max_staleness :]) | ({best} if best is not None else set())
    for iteration in sorted(saved, reverse=True):
        if iteration % every == 0 and (not limit or len(stay) < limit):
            stay.add(iteration)
    return stay


def remove_surplus(store: RunStore, every: int, limit: int, max_staleness: int) -> None:
    """Delete the `surplus`."""
    for checkpoint in surplus(store, every, limit, max_staleness):
        store.checkpoints.remove(checkpoint.name)


def _saved(store: RunStore) -> dict[int, Checkpoint]:
    """The checkpoints of online training by iteration."""
    return {found.meta["iteration"]: found for found in store.checkpoints.all() if found.meta["phase"] == RL}
