"""What an update learns from: the groups of its iteration and, where the recipe replays, those of the last ones.

Only the ids of the groups are noted; their trajectories are read back from the store, an iteration at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webdojo.recipe import Recipe
from webdojo.rollout.groups import Group, in_order
from webdojo.store.run import RunStore
from webdojo.train.batch import Sample, samples_from_groups
from webdojo.train.replay import draw


def samples_of_update(
    store: RunStore, phase: str, iteration: int, groups: Sequence[Group], recipe: Recipe
) -> list[Sample]:
    """The samples of the update of an iteration; takes seconds where much is replayed.

    Args:
        store: holds the trajectories of `phase`.
        groups: what the iteration has brought.

    Raises:
        TrainError: as `samples_from_groups`.
    """
    config = recipe.train
    own = samples_from_groups([group.trajectories for group in groups], config)
    store.set(trained_key(iteration), [group.id for group in groups])
    if config.replay_buffer_capacity == 1:
        return own
    last = range(iteration - config.replay_buffer_capacity + 1, iteration)
    earlier = [ids for past in last if (ids := store.get(trained_key(past))) is not None]

    def buffer() -> Iterator[tuple[int, list[Sample]]]:
        for age, ids in enumerate(earlier, 1):
            past = [g for g in stored_groups(store, phase, ids) if all(map(store.has_screenshots, g.trajectories))]
            yield age, samples_from_groups([group.trajectories for group in past], config)
        yield len(earlier) + 1, own

    drawn = draw(buffer(), config.samples_per_iteration or len(own), config, f"{recipe.seed}/replay/{iteration}")
    return drawn or own


def stored_groups(store: RunStore, phase: str, ids: Sequence[str]) -> list[Group]:
    """Groups as the store has them, in the order of `ids`; members by their number, as they were collected."""
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


def trained_key(iteration: int) -> str:
    """Under which the store keeps the ids of the groups that an iteration trained on."""
    return f"trained groups {iteration}"
