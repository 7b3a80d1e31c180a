"""Which checkpoints of online training stay: the latest, the best, and the last few of every so-many-th iteration.

The best is the one whose policy succeeded most often on the held-out tasks. Where no checkpoint was measured on them
(`evaluate.every`), it goes by the episodes that a policy rolled out for training, which are those of the iteration
after it: they come by the hundred and for nothing, but on other tasks each time. Nothing is written down about it. It
follows from the stored figures, and the best so far is never removed, so a run that is killed at any point goes on with
the same one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from webdojo.loops.evaluations import PHASE as EVALUATION
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore


class Scored(NamedTuple):
    """A checkpoint, and how its policy did."""

    checkpoint: Checkpoint
    success: float
    """Share of the held-out tasks, or else of the valid training episodes."""
    heldout: bool


def best(store: RunStore, phase: str) -> Scored | None:
    """The checkpoint of the most successful policy, the later of equals; None before any has rolled out."""
    saved = _saved(store, phase)
    measured = {int(row["step"]): row["success"] for row in store.metrics(EVALUATION)}
    heldout = not saved.keys().isdisjoint(measured)
    success = measured if heldout else rolled_out(store, phase)
    scored = [Scored(found, success[i], heldout) for i, found in saved.items() if i in success]
    return max(scored, key=lambda each: (each.success, each.checkpoint.meta["iteration"]), default=None)


def rolled_out(store: RunStore, phase: str) -> dict[int, float]:
    """By the iteration of a policy, its success in the training episodes that it rolled out."""
    return {int(row["step"]) - 1: row["success"] for row in store.metrics(phase) if "success" in row}


def staying(saved: Collection[int], best: int | None, every: int, limit: int) -> set[int]:
    """Which of the iterations that are saved stay saved.

    Args:
        best: stays, as the latest does.
        every: multiples of it stay besides.
        limit: of all that stay, the last ones are taken; 0 is none.
    """
    stay = {max(saved)} if best is None else {max(saved), best}
    for iteration in sorted(saved, reverse=True):
        if iteration % every == 0 and (not limit or len(stay) < limit):
            stay.add(iteration)
    return stay


def surplus(store: RunStore, phase: str, every: int, limit: int) -> list[Checkpoint]:
    """The checkpoints of a phase that need not stay (`staying`), oldest first."""
    saved, found = _saved(store, phase), best(store, phase)
    if not saved:
        return []
    stay = staying(saved, None if found is None else found.checkpoint.meta["iteration"], every, limit)
    return [saved[iteration] for iteration in sorted(saved.keys() - stay)]


def remove_others(store: RunStore, phase: str, every: int, limit: int) -> None:
    """Delete the `surplus`; call it once the figures of the phase are stored."""
    for checkpoint in surplus(store, phase, every, limit):
        store.remove_checkpoint(checkpoint.name)


def _saved(store: RunStore, phase: str) -> dict[int, Checkpoint]:
    """The checkpoints of a phase by iteration."""
    return {found.meta["iteration"]: found for found in store.checkpoints() if found.meta["phase"] == phase}
