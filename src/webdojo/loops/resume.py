"""What online training goes on from: its latest checkpoint, and the episodes that earlier attempts have stored.

An episode cannot train any more where its screenshots are gone, or where it was sampled by weights that the run does
not go on from, because somebody deleted their checkpoint. Such an episode is forgotten and runs again, and a group that
waited to train with it waits no more. What was measured of such weights is forgotten too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from webdojo.loops.keep import saved
from webdojo.loops.log import RunLog
from webdojo.loops.run_folder import EVALUATION, RL
from webdojo.recipe import Recipe
from webdojo.rollout.curriculum import Curriculum, TaskStream
from webdojo.rollout.groups import Group, in_order, number_of
from webdojo.rollout.pool import PoolState
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.trainer.batch import Sample, draw, samples_from_groups
from webdojo.trainer.learner.learner import Learner
from webdojo.types import Task, Trajectory


@dataclass
class ResumeState:
    store: RunStore
    iteration: int = 0
    """The last iteration that is finished, whose weights the learner holds."""
    position: int = 0
    pool: PoolState = field(default_factory=PoolState)
    members: dict[str, list[TrajectoryRow]] = field(default_factory=dict)
    """The stored episodes by group, oldest first."""

    def stored(self, group: Group) -> list[Trajectory]:
        """Hand out what earlier attempts stored of a group, once.

        Members that failed for no fault of the agent are forgotten, so that they run again, unless the group has ended.
        """
        ended = group.number in {*self.pool.waiting, *self.pool.finished}
        found: list[Trajectory] = []
        for row in self.members.pop(group.id, []):
            if row.valid or ended:
                found.append(self.store.trajectory(row.id))
            else:
                self.store.discard_trajectory(row.id)
        return found


def resume(store: RunStore, learner: Learner, log: RunLog, group_size: int) -> ResumeState:
    """Load the latest checkpoint, if there is one, into the learner, and forget what cannot train any more."""
    state = ResumeState(store)
    if (checkpoint := latest(store)) is not None:
        learner.load(checkpoint.path)
        state.iteration, state.position = checkpoint.meta["iteration"], checkpoint.meta["position"]
        state.pool = pool_of(checkpoint)
        if all(row["step"] != state.iteration for row in store.metrics(RL)):  # killed before it could write them
            log.write(RL, state.iteration, metrics_of(checkpoint))
    for phase in (RL, EVALUATION):
        store.discard_metrics(phase, after=state.iteration)
    for gone in {row.iteration for row in store.rows(EVALUATION) if row.iteration > state.iteration}:
        store.discard_trajectories(EVALUATION, gone)
    _forget_unusable(state, group_size)
    return state


def task_order(
    state: ResumeState,
    tasks: Sequence[Task],
    recipe: Recipe,
    blocked: Callable[[], Container[str]],
    iteration: Callable[[], int],
) -> tuple[Curriculum, TaskStream]:
    """The curriculum and the order of the training tasks, which go on where the state stands."""
    curriculum = Curriculum(tasks, recipe.train.stages, recipe.rollout, recipe.tasks.sampler, iteration)
    for past in range(1, state.iteration + 1):
        curriculum.note(state.store.get(outcomes_key(past), []))
    begun = {number_of(group_id) for group_id in state.members}
    return curriculum, TaskStream(tasks, recipe.seed, state.position, blocked, curriculum.chance, begun)


def latest(store: RunStore) -> Checkpoint | None:
    """The checkpoint of the last finished iteration, if any iteration is finished."""
    there = saved(store)
    return there[max(there)] if there else None


def pool_of(checkpoint: Checkpoint) -> PoolState:
    return PoolState(**_either(checkpoint, "pool", "unsettled"))


def metrics_of(checkpoint: Checkpoint) -> dict[str, float]:
    found: dict[str, float] = _either(checkpoint, "metrics", "figures")
    return found


def trained_key(iteration: int) -> str:
    """The key under which the store keeps the ids of the groups that an iteration trained on."""
    return f"trained groups {iteration}"


def outcomes_key(iteration: int) -> str:
    """The key under which the store keeps what became of the groups that ended before an iteration's update."""
    return f"outcomes {iteration}"


def _either(checkpoint: Checkpoint, name: str, in_0_1: str) -> Any:
    """A value of a checkpoint's meta, which has another name in runs of webdojo 0.1."""
    return checkpoint.meta[name if name in checkpoint.meta else in_0_1]


def _forget_unusable(state: ResumeState, group_size: int) -> None:
    """Find the stored episodes, and discard those that cannot train among the groups that come again: those that the
    checkpoint names, and all from its position on. A group with fewer than `group_size` members does not wait to train.
    """
    store, pool = state.store, state.pool
    members: defaultdict[str, list[TrajectoryRow]] = defaultdict(list)
    for row in store.rows(RL):
        members[row.group_id].append(row)
    whole: set[int] = set()
    for id, rows in members.items():
        number = number_of(id)
        if number < state.position and number not in {*pool.waiting, *pool.running}:
            continue
        for row in list(rows):
            found = store.trajectory(row.id)
            if max(found.versions, default=0) > state.iteration or not store.has_screenshots(found):
                store.discard_broken(found)
                rows.remove(row)
        if len(rows) >= group_size:
            whole.add(number)
    broken = set(pool.waiting) - whole
    state.members = {id: rows for id, rows in members.items() if rows}
    state.pool = pool._replace(
        waiting=[number for number in pool.waiting if number not in broken],
        running=[*pool.running, *(number for number in pool.waiting if number in broken)],
        finished=[number for number in pool.finished if number not in broken],
    )


def replayed(store: RunStore, phase: str, iteration: int, own: list[Sample], recipe: Recipe) -> list[Sample]:
    """The samples of an update that replays the last iterations; `own` where there is nothing to draw."""
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
    """Groups as the store has them, in the order of `ids`, and their members by number, as they were collected.

    A group of which it has nothing any more is left out.
    """
    members: dict[str, list[str]] = {id: [] for id in ids}
    for row in store.rows(phase):
        if row.group_id in members:
            members[row.group_id].append(row.id)
    groups = []
    for id, names in members.items():
        if not names:
            continue
        trajectories = [store.trajectory(name) for name in names]
        group = Group(id, trajectories[0].task, trajectories)
        in_order(group)
        groups.append(group)
    return groups
