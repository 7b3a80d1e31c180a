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

from webdojo.evaluate.metrics import wilson95
from webdojo.loops.run_folder import EVALUATION
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

    @property
    def low(self) -> float:
        """Lower end of its 95 % interval."""
        return wilson95(self.successes, self.n)[0]


def best(store: RunStore, phase: str, wait: int = 0) -> Scored | None:
    """The checkpoint of the most successful policy, the later of equals; None before any has rolled out.

    Args:
        wait: so many of the last checkpoints are passed over.
    """
    saved = _saved(store, phase)
    for iteration in sorted(saved, reverse=True)[:wait]:
        del saved[iteration]
    measured = {int(row["step"]): row["success"] for row in store.metrics(EVALUATION)}
    if heldout := not saved.keys().isdisjoint(measured):
        success = by = measured
    else:
        tallies = rolled_out(store, phase)
        success = {iteration: tally.success for iteration, tally in tallies.items()}
        by = {iteration: tally.low for iteration, tally in tallies.items()}
    scored = [Scored(found, success[i], heldout) for i, found in sorted(saved.items()) if i in success]
    return max(reversed(scored), key=lambda each: by[each.checkpoint.meta["iteration"]], default=None)


def rolled_out(store: RunStore, phase: str) -> dict[int, Tally]:
    """By the iteration of a policy, the training episodes that began under it."""
    rows = [row for row in store.rows(phase) if row.valid]
    n, successes = Counter(row.iteration - 1 for row in rows), Counter(row.iteration - 1 for row in rows if row.success)
    return {iteration: Tally(n[iteration], successes[iteration]) for iteration in n}


def staying(saved: Collection[int], best: int | None, every: int, limit: int, max_staleness: int) -> set[int]:
    """Which of the iterations that are saved stay saved.

    Args:
        best: stays, as the latest does.
        every: multiples of it stay besides.
        limit: of all that stay, the last ones are taken; 0 is none.
        max_staleness: so many before the latest stay until their episodes have ended.
    """
    stay = set(sorted(saved)[-1 - max_staleness :]) | ({best} if best is not None else set())
    for iteration in sorted(saved, reverse=True):
        if iteration % every == 0 and (not limit or len(stay) < limit):
            stay.add(iteration)
    return stay


def surplus(store: RunStore, phase: str, every: int, limit: int, max_staleness: int) -> list[Checkpoint]:
    """The checkpoints of a phase that need not stay (`staying`), oldest first."""
    saved, found = _saved(store, phase), best(store, phase, wait=1 + max_staleness)
    if not saved:
        return []
    stay = staying(saved, None if found is None else found.checkpoint.meta["iteration"], every, limit, max_staleness)
    return [saved[iteration] for iteration in sorted(saved.keys() - stay)]


def remove_others(store: RunStore, phase: str, every: int, limit: int, max_staleness: int) -> None:
    """Delete the `surplus`."""
    for checkpoint in surplus(store, phase, every, limit, max_staleness):
        store.remove_checkpoint(checkpoint.name)


def _saved(store: RunStore, phase: str) -> dict[int, Checkpoint]:
    """The checkpoints of a phase by iteration."""
    return {found.meta["iteration"]: found for found in store.checkpoints() if found.meta["phase"] == phase}
