"""Online multimodal multi-turn GRPO (OpenWebRL §4.4), the loop itself, synchronous and asynchronous (AsyncWebRL).

    until all iterations are done:
        take N groups of G episodes that have both better and worse members, from a pool that rolls out for ever
        advantage of an episode: its reward against its group
        clipped policy update on every response token of every turn
        checkpoint, then publish the weights to the engine, under which running episodes go on
        every so many updates, measure the policy on held-out tasks before it changes again

`rollout.max_staleness` bounds how many versions a token may be older than the weights that it trains, unless it is
replayed. At 0 the pool rests while the learner steps; above 0 it goes on.

A checkpoint names the place in the task order and the groups before it that no update has had yet, so a run
that is killed at any moment goes on from its last finished iteration with every episode that it has stored.
No weights serve before their checkpoint is complete, so each version that a stored token names is one that
the run still goes on from.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

from webdojo.loops import figures
from webdojo.loops.arena import Arena
from webdojo.loops.evaluations import Evaluations
from webdojo.loops.keep import remove_others
from webdojo.loops.lap import Laps
from webdojo.loops.log import RunLog
from webdojo.loops.models import asleep, learn
from webdojo.loops.phases import RL
from webdojo.loops.replay import samples_of_update
from webdojo.loops.reuse import forget_figures, forget_unusable
from webdojo.progress import Progress, progress
from webdojo.rollout.groups import Group, TaskStream, number_of
from webdojo.rollout.mixture import Mixture
from webdojo.rollout.pool import RolloutPool, Unsettled
from webdojo.rollout.requests import Requests
from webdojo.rollout.slots import make_slots
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.train.learner import Learner
from webdojo.types import Task, TrainableEngine, Trajectory

PHASE = RL


async def online(
    arena: Arena,
    learner: Learner,
    engine: TrainableEngine,
    tasks: Sequence[Task],
    log: RunLog,
    heldout: Sequence[Task] = (),
) -> None:
    """Train until `train.iterations` iterations are done, from the store's last RL checkpoint if there is one.

    Args:
        learner: holds the warm-started weights; on resume they are replaced by the checkpoint's.
        engine: samples; gets the learner's weights at the start and after every update.
        tasks: the training tasks; their order is a seeded shuffle, pass after pass.
        heldout: what `evaluate.every` measures policies on.

    Raises:
        TrainError: no groups that can train, or an update with figures that are not finite.
        EngineError, BrowserError: the engine or the browser is dead.
        ModelError: the checkpoint to go on from is corrupt.
    """
    recipe, store = arena.recipe, arena.store
    config, rollout = recipe.train, recipe.rollout
    done, position, unsettled = 0, 0, Unsettled()
    if (checkpoint := latest(store)) is not None:
        learner.load(checkpoint.path)
        done, position = checkpoint.meta["iteration"], checkpoint.meta["position"]
        unsettled = Unsettled(**checkpoint.meta["unsettled"])
        if all(row["step"] != done for row in store.metrics(PHASE)):  # killed before it could write them
            log.write(PHASE, done, checkpoint.meta["figures"])
    forget_figures(store, done)
    members, unsettled = forget_unusable(store, _stored_members(store), unsettled, position, done, rollout.group_size)

    def begins_in() -> int:
        """The first iteration that may train what begins now."""
        return engine.health().version + 1

    mixture = Mixture(recipe, begins_in)
    for rows in members.values():
        mixture.remember(rows[0].task_id, [row.reward for row in rows if row.valid and row.reward is not None])
    begun = {number_of(group_id) for group_id in members}
    stream = TaskStream(tasks, recipe.seed, position, arena.blocked, mixture, begun)
    await engine.update_weights(await asyncio.to_thread(learner.state_dict), version=done)

    requests = Requests(engine, arena.rest)
    slots = make_slots(rollout, requests, engine.health, lambda: arena.places, arena.rest)
    pool = RolloutPool(
        arena.runner(
            lambda task, session: requests,
            PHASE,
            begins_in,
            rollout.sampling,
            lambda difficulty: recipe.horizon(begins_in(), difficulty),
        ),
        stream,
        group_size=rollout.group_size,
        slots=slots,
        groups=config.groups_per_iteration,
        max_groups=config.max_groups_per_iteration,
        max_staleness=rollout.max_staleness,
        updates=config.iterations,
        version=done,
        unsettled=unsettled,
        stored=_reusing(store, members, unsettled),
        on_end=mixture.note,
    )
    async with pool, Evaluations(arena, requests, heldout, pool, log) as evaluations:
        laps = Laps(slots, requests, store, PHASE)
        evaluations.begin(done)
        for iteration in range(done + 1, config.iterations + 1):
            laps.begin(iteration)
            async with AsyncExitStack() as until_published:
                with progress(f"iteration {iteration}/{config.iterations}, groups", config.groups_per_iteration) as bar:
                    with laps.phase("wait"):
                        taken = await pool.take(_shower(bar, pool))
                        if not rollout.max_staleness:  # nothing runs while the learner steps
                            await evaluations.end()
                    with laps.phase("assemble"):
                        groups = taken.groups
                        samples = await asyncio.to_thread(samples_of_update, store, PHASE, iteration, groups, recipe)
                    bar.advance(config.groups_per_iteration - bar.done, updating_on=f"{len(samples)} turns")
                    with laps.phase("update"):
                        await until_published.enter_async_context(asleep(engine, arena.rest))
                        temperature = rollout.sampling.temperature
                        update = await learn(learner, learner.train_policy, samples, temperature, iteration - 1)
                        if evaluations.running or not engine.updates_asleep:
                            await until_published.aclose()
                    if evaluations.running:
                        with laps.phase("wait"):
                            await evaluations.end()
                meta: dict[str, Any] = {
                    "phase": PHASE,
                    "iteration": iteration,
                    "position": stream.position,
                    "unsettled": pool.unsettled()._asdict(),
                    "figures": figures.of_episodes(taken)
                    | figures.of_slots(taken.finished)
                    | figures.of_staleness(samples, iteration - 1)
                    | update
                    | {"version": iteration}
                    | laps.lap(),
                }
                with laps.phase("save"):
                    await asyncio.to_thread(store.save_checkpoint, f"rl-{iteration:04d}", learner.save, meta)
                    log.write(PHASE, iteration, meta["figures"])
                    kept = (config.save_every, config.save_total_limit, rollout.max_staleness)
                    await asyncio.to_thread(remove_others, store, PHASE, *kept)
                with laps.phase("publish"):
                    await engine.update_weights(await asyncio.to_thread(learner.state_dict), version=iteration)
            pool.advance(iteration)
            evaluations.begin(iteration)


def latest(store: RunStore) -> Checkpoint | None:
    """The checkpoint of the last finished iteration, if any iteration is finished."""
    found = [checkpoint for checkpoint in store.checkpoints() if checkpoint.meta["phase"] == PHASE]
    return max(found, key=lambda checkpoint: checkpoint.meta["iteration"], default=None)


def _stored_members(store: RunStore) -> dict[str, list[TrajectoryRow]]:
    """By group, the oldest first."""
    members: defaultdict[str, list[TrajectoryRow]] = defaultdict(list)
    for row in store.rows(PHASE):
        members[row.group_id].append(row)
    return dict(members)


def _reusing(
    store: RunStore, members: dict[str, list[TrajectoryRow]], unsettled: Unsettled
) -> Callable[[Group], list[Trajectory]]:
    """What an earlier attempt stored of a group; unless it has ended, members that failed for no fault of the agent
    are left out and forgotten, so that they run again."""
    ended = {*unsettled.waiting, *unsettled.finished}

    def of(group: Group) -> list[Trajectory]:
        found: list[Trajectory] = []
        for row in members.pop(group.id, []):
            if row.valid or group.number in ended:
                found.append(store.trajectory(row.id))
            else:
                store.discard_trajectory(row.id)
        return found

    return of


def _shower(bar: Progress, pool: RolloutPool) -> Callable[[], None]:
    """Moves the bar to the number of groups that can train, and shows how many episodes have ended."""
    ended_before = pool.episodes
    return lambda: bar.advance(len(pool.waiting) - bar.done, episodes=pool.episodes - ended_before)
