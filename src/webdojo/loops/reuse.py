"""What earlier attempts at a run have stored, and what of it can still train.

An episode cannot train any more where its screenshots are gone, or where weights sampled it that the run does not
go on from, because somebody deleted their checkpoint. Such an episode is forgotten and runs again, and so does a
group that waited to train with it. What was measured of such weights is forgotten too: other weights will have their
versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webdojo.loops.evaluations import PHASE as EVALUATION
from webdojo.loops.phases import RL
from webdojo.rollout.groups import number_of
from webdojo.rollout.pool import Unsettled
from webdojo.store.run import RunStore, TrajectoryRow

Members = dict[str, list[TrajectoryRow]]
"""Stored episodes by group."""


def forget_figures(store: RunStore, version: int) -> None:
    """Discard what was measured of weights after `version`, the last whose checkpoint is left."""
    for phase in (RL, EVALUATION):
        store.discard_metrics(phase, after=version)
    for gone in {row.iteration for row in store.rows(EVALUATION) if row.iteration > version}:
        store.discard_trajectories(EVALUATION, gone)


def forget_unusable(
    store: RunStore,
    members: Mapping[str, Sequence[TrajectoryRow]],
    unsettled: Unsettled,
    position: int,
    version: int,
    group_size: int,
) -> tuple[Members, Unsettled]:
    """Discard the episodes that cannot train, of the groups that come again.

    Args:
        members: what is stored, all groups.
        unsettled, position: what the checkpoint says that comes again: these, and every number from `position` on.
        version: of the checkpoint; no weights after it are left.
        group_size: a group with fewer members, of which an attempt before this one forgot some, does not wait to train.

    Returns:
        What stays of both.
    """
    left: Members = {}
    again = {*unsettled.waiting, *unsettled.running}
    whole: set[int] = set()
    for id, rows in members.items():
        number = number_of(id)
        left[id] = list(rows)
        if number < position and number not in again:
            continue
        for row in rows:
            found = store.trajectory(row.id)
            if max(found.versions, default=0) > version or not store.has_screenshots(found):
                store.discard_broken(found)
                left[id].remove(row)
        if len(left[id]) >= group_size:
            whole.add(number)
    broken = set(unsettled.waiting) - whole
    settled = unsettled._replace(
        waiting=[number for number in unsettled.waiting if number not in broken],
        running=[*unsettled.running, *(number for number in unsettled.waiting if number in broken)],
        finished=[number for number in unsettled.finished if number not in broken],
    )
    return {id: rows for id, rows in left.items() if rows}, settled
