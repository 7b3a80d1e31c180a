"""The replay buffer of a run: the groups that its last iterations trained on, read back from the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webdojo.loops.resume import trained_key
from webdojo.recipe import Recipe
from webdojo.rollout.groups import Group, in_order
from webdojo.store.run import RunStore
from webdojo.trainer.batch import Sample, draw, samples_from_groups


def replayed(store: RunStore, phase: str, iteration: int, own: list[Sample], recipe: Recipe) -> list[Sample]:
    """The samples of an update that replays the last iterations, which are read one at a time.

    Args:
        store: holds the trajectories of `phase`, and which groups each iteration trained on.
        own: the samples that the iteration itself has brought; they come back where there is nothing to draw.
    """
    config = recipe.train
    last = range(iteration - config.replay_buffer_capacity + 1, iteration)
    earlier = [ids for past in last if (ids := store.get(trained_key(past))) is not None]

    def buffer() -> Iterator[tuple[int, list[Sample]]]:
        for age, ids in enumerate(earlier, 1):
            past = [g for g in stored_groups(store, phase, ids) if all(map(store.has_screenshots, g.trajectories))]
            yield age, samples_from_groups([group.trajectories for group in past], config)
        yield len(earlier) + 1, own

    return draw(buffer(), config.samples_per_iteration or len(own), config, f"{recipe.seed}/replay/{iteration}") or own


def stored_groups(store: RunStore, phase: str, ids: Sequence[str]) -> list[Group]:
    """Groups as the store has them, in the order of `ids`, and their members by number, as they were collected."""
    members: dict[str, list[str]] = {id: [] for id in ids}
    for row in store.rows(phase):
        if row.group_id in members:
            members[row.group_id].append(row.id)
    groups = []
    for id, names in members.items():
        trajectories = [store.trajectory(name) for name in names]
        group = Group(id, trajectories[0].task, trajectories)
        in_order(group)
        groups.append(group)
    return groups
