"""Online multimodal multi-turn GRPO (OpenWebRL §4.4), the loop itself.

    until all iterations are done:
        roll out groups of G episodes until N of them have both better and worse members
        advantage of an episode: its reward against its group
        clipped policy update on every response token of every turn
        publish the weights to the engine

Surplus groups wait for the next iteration within `rollout.max_staleness` versions. Every iteration
ends in a checkpoint that names the surplus and the place in the task order, so a run that is killed
goes on from its last finished iteration.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from webdojo.agent.prefix import shared_fraction
from webdojo.loops.arena import Arena
from webdojo.loops.keep import remove_others
from webdojo.loops.log import RunLog
from webdojo.loops.models import asleep, learn
from webdojo.loops.replay import samples_of_update, stored_groups
from webdojo.progress import Progress, progress
from webdojo.rollout.collector import Collected, GroupCollector
from webdojo.rollout.groups import Group, TaskStream
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore
from webdojo.train.learner import Learner
from webdojo.types import Task, TrainableEngine, Trajectory

PHASE = "rl"


async def online(arena: Arena, learner: Learner, engine: TrainableEngine, tasks: Sequence[Task], log: RunLog) -> None:
    """Train until `train.iterations` iterations are done, from the store's last RL checkpoint if there is one.

    Args:
        learner: holds the warm-started weights; on resume they are replaced by the checkpoint's.
        engine: samples; gets the learner's weights at the start and after every update.
        tasks: the training tasks; their order is a seeded shuffle, pass after pass.

    Raises:
        TrainError: no groups that can train, or an update with figures that are not finite.
        EngineError, BrowserError: the engine or the browser is dead.
        ModelError: the checkpoint to go on from is corrupt.
    """
    recipe, store = arena.recipe, arena.store
    config, rollout = recipe.train, recipe.rollout
    done, position, surplus = 0, 0, list[Group]()
    if (checkpoint := latest(store)) is not None:
        learner.load(checkpoint.path)
        done, position = checkpoint.meta["iteration"], checkpoint.meta["position"]
        surplus = stored_groups(store, PHASE, checkpoint.meta["surplus"])
        if all(row["step"] != done for row in store.metrics(PHASE)):  # killed before it could write them
            log.write(PHASE, done, checkpoint.meta["figures"])
    stream = TaskStream(tasks, recipe.seed, position, arena.blocked)
    await engine.update_weights(learner.state_dict(), version=done)

    for iteration in range(done + 1, config.iterations + 1):
        store.discard_trajectories(PHASE, iteration)
        started = time.perf_counter()
        with progress(f"iteration {iteration}/{config.iterations}, groups", config.groups_per_iteration) as bar:
            run = arena.runner(
                lambda task, session: engine, PHASE, iteration, rollout.sampling, rollout.horizon, _counter(bar)
            )
            collector = GroupCollector(
                run,
                stream,
                group_size=rollout.group_size,
                concurrency=rollout.concurrency,
                groups=config.groups_per_iteration,
                max_groups=config.max_groups_per_iteration,
                max_staleness=rollout.max_staleness,
            )
            collector.surplus = surplus
            collected = await collector.collect(engine.health().version, _filler(bar))
            surplus = collector.surplus
            rolled_out = time.perf_counter()

            samples = await asyncio.to_thread(samples_of_update, store, PHASE, iteration, collected.groups, recipe)
            bar.advance(0, updating_on=f"{len(samples)} turns")
            async with asleep(engine):
                update = await learn(learner, learner.train_policy, samples, rollout.sampling.temperature)
            await engine.update_weights(learner.state_dict(), version=iteration)
            updated = time.perf_counter()

        figures = (
            _figures(collected)
            | update
            | {
                "version": iteration,
                "seconds_rollout": rolled_out - started,
                "seconds_update": updated - rolled_out,
                "seconds_total": updated - started,
            }
        )
        _save(store, learner, iteration, stream.position, surplus, figures)
        log.write(PHASE, iteration, figures)
        remove_others(store, PHASE, config.save_every, config.save_total_limit)


def latest(store: RunStore) -> Checkpoint | None:
    """The checkpoint of the last finished iteration, if any iteration is finished."""
    found = [checkpoint for checkpoint in store.checkpoints() if checkpoint.meta["phase"] == PHASE]
    return max(found, key=lambda checkpoint: checkpoint.meta["iteration"], default=None)


def _counter(bar: Progress) -> Callable[[Trajectory], None]:
    """Shows beside the bar how many episodes have ended."""
    episodes = itertools.count(1)
    return lambda trajectory: bar.advance(0, episodes=next(episodes))


def _filler(bar: Progress) -> Callable[[int], None]:
    """Moves the bar to the number of groups that can train."""
    return lambda effective: bar.advance(effective - bar.done)


def _save(
    store: RunStore,
    learner: Learner,
    iteration: int,
    position: int,
    surplus: Sequence[Group],
    figures: dict[str, float],
) -> None:
    """Checkpoint this iteration."""
    meta: dict[str, Any] = {
        "phase": PHASE,
        "iteration": iteration,
        "position": position,
        "surplus": [group.id for group in surplus],
        "figures": figures,
    }
    store.save_checkpoint(f"rl-{iteration:04d}", learner.save, meta)


def _figures(collected: Collected) -> dict[str, float]:
    """What the iteration's episodes did, over all that finished in it; means over none are left out."""
    episodes = [t for group in collected.finished for t in group.trajectories]
    rewards = [t.reward for t in episodes if t.reward is not None and t.reward.valid]
    turns = [turn for t in episodes for turn in t.turns]
    figures: dict[str, float] = {}
    if rewards:
        figures["reward"] = fmean(r.value for r in rewards)
        figures["success"] = fmean(r.success for r in rewards)
    figures |= {
        "effective_groups": len(collected.groups),
        "groups": len(collected.finished),
        "episodes": len(episodes),
        "invalid": len(episodes) - len(rewards),
    }
    if turns:
        figures["steps"] = len(turns) / len(episodes)
        figures["response_tokens"] = fmean(len(turn.response.ids) for turn in turns)
        figures["prefix_shared"] = fmean(shared_fraction(t.turns) for t in episodes)
    return figures
