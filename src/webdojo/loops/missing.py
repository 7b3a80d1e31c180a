"""What a stopped run has lost, told once when it goes on: trajectories, and screenshots of those that are there.

Each checkpoint of online training counts the trajectories of the groups that have ended for good. No attempt discards
any of these, so a run that has fewer lost them to a damaged disk or to a person.
"""

from __future__ import annotations

import logging
from collections import Counter

from webdojo.loops.resume import latest, pool_of
from webdojo.loops.run_folder import RL
from webdojo.rollout.groups import number_of
from webdojo.rollout.pool import PoolState
from webdojo.store.run import DATABASE, RunStore

logger = logging.getLogger("webdojo")


def ended_for_good(store: RunStore, position: int, pool: PoolState) -> dict[str, int]:
    """How many trajectories of groups that no resume runs again are stored, by the iteration in which they began.

    `position` and `pool` are those of a checkpoint. The keys are texts, as in its JSON.
    """
    comes_again = {*pool.waiting, *pool.running}
    numbers = ((row.iteration, number_of(row.group_id)) for row in store.rows(RL))
    return Counter(str(iteration) for iteration, number in numbers if number < position and number not in comes_again)


def warn_of_missing(store: RunStore) -> None:
    """Log a line for each kind of loss that says what is missing and how to go on."""
    if (checkpoint := latest(store)) is not None:
        counted: dict[str, int] = checkpoint.meta.get("stored", {})  # runs of webdojo 0.1 have not counted
        there = ended_for_good(store, checkpoint.meta["position"], pool_of(checkpoint))
        gone = {int(name): (number - there.get(name, 0), number) for name, number in counted.items()}
        if lost := {iteration: each for iteration, each in sorted(gone.items()) if each[0] > 0}:
            which = ", ".join(f"{number} of {of} of iteration {iteration}" for iteration, (number, of) in lost.items())
            logger.warning(
                "%s has lost trajectories that its checkpoint %s counted: %s. The run goes on without them, and so do "
                "its reports and exports; to have them back, stop it, put back a copy of %s, and resume again",
                *(store.path, checkpoint.name, which, DATABASE),
            )
    blind = store.without_screenshots()
    if blind:
        logger.warning(
            "%d of %d trajectories in %s lack screenshots, whose files are gone from %s. Those that are still to train "
            "or to be measured run again; for the reports and exports of the others, put the files back",
            *(blind, sum(store.count().values()), store.path, store.images.folder),
        )
