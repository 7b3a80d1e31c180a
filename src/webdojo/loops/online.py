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
import time
from collections.abc import Sequence
from typing import Any

from webdojo.loops.arena import Arena
from webdojo.loops.log import RunLog
from webdojo.policy.hf import HFEngine
from webdojo.progress import Progress
from webdojo.rollout.collector import Collected, GroupCollector
from webdojo.rollout.groups import Group, TaskStream
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore
from webdojo.train.batch import samples_from_groups
from webdojo.train.learner import Learner
from webdojo.types import Task

PHASE = "rl"


async def online(
    arena: Arena, learner: Learner, engine: HFEngine, tasks: Sequence[Task], log: RunLog, bar: Progress
) -> None:
    """Train until `train.iterations` iterations are done, from the store's last RL checkpoint if there is one.

    Args:
        learner: holds the warm-started weights; on resume they are replaced by the checkpoint's.
        engine: samples; gets the learner's weights at the start and after every update.
        tasks: the training tasks; their order is a seeded shuffle, pass after pass.
        bar: counts iterations.
    """
    recipe, store = arena.recipe, arena.store
    config, rollout = recipe.train, recipe.rollout
    done, position, surplus = 0, 0, list[Group]()
    if (checkpoint := latest(store)) is not None:
        learner.load(checkpoint.path)
        done, position = checkpoint.meta["iteration"], checkpoint.meta["position"]
        surplus = [_stored_group(store, id) for id in checkpoint.meta["surplus"]]
    bar.advance(done)
    stream = TaskStream(tasks, recipe.seed, position)
    engine.update_weights(learner.model.state_dict(), version=done)

    for iteration in range(done + 1, config.iterations + 1):
        store.discard_trajectories(PHASE, iteration)
        started = time.perf_counter()
        run = arena.runner(
            lambda task, session: engine, PHASE, iteration, rollout.sampling, rollout.max_steps, Progress("", None)
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
        collected = await collector.collect(engine.version)
        surplus = collector.surplus
        rolled_out = time.perf_counter()

        samples = samples_from_groups([group.trajectories for group in collected.groups], config)
        update = await asyncio.to_thread(learner.train_policy, samples, rollout.sampling.temperature)
        engine.update_weights(learner.model.state_dict(), version=iteration)
        updated = time.perf_counter()

        _save(store, learner, iteration, stream.position, surplus, config.save_every)
        figures = (
            _figures(collected)
            | update
            | {
                "version": iteration,
                "seconds_rollout": rolled_out - started,
                "seconds_update": updated - rolled_out,
                "seconds_total": time.perf_counter() - started,
            }
        )
        log.write(PHASE, iteration, figures)
        bar.advance(1, reward=figures["reward"], success=figures["success"])


def latest(store: RunStore) -> Checkpoint | None:
    """The checkpoint of the last finished iteration, if any iteration is finished."""
    found = [checkpoint for checkpoint in store.checkpoints() if checkpoint.meta["phase"] == PHASE]
    return max(found, key=lambda checkpoint: checkpoint.meta["iteration"], default=None)


def _save(
    store: RunStore, learner: Learner, iteration: int, position: int, surplus: Sequence[Group], save_every: int
) -> None:
    """Checkpoint this iteration; of the earlier ones only every `save_every`-th stays."""
    meta: dict[str, Any] = {
        "phase": PHASE,
        "iteration": iteration,
        "position": position,
        "surplus": [group.id for group in surplus],
    }
    before = latest(store)
    store.save_checkpoint(f"rl-{iteration:04d}", learner.save, meta)
    if before is not None and before.meta["iteration"] % save_every:
        store.remove_checkpoint(before.name)


def _stored_group(store: RunStore, id: str) -> Group:
    """A group that waited in the surplus when its run was stopped."""
    members = [store.trajectory(row.id) for row in store.rows(PHASE) if row.group_id == id]
    members.sort(key=lambda trajectory: int(trajectory.id.rpartition("-")[2]))
    return Group(id, members[0].task, members)


def _figures(collected: Collected) -> dict[str, float]:
    """What the iteration's episodes did, over all that finished in it and are valid."""
    episodes = [t for group in collected.finished for t in group.trajectories if t.reward is not None]
    rewards = [t.reward for t in episodes if t.reward is not None and t.reward.valid]
    turns = sum(t.steps for t in episodes)
    tokens = sum(len(turn.response.ids) for t in episodes for turn in t.turns)
    return {
        "reward": _mean([r.value for r in rewards]),
        "success": _mean([float(r.success) for r in rewards]),
        "effective_groups": len(collected.groups),
        "groups": len(collected.finished),
        "episodes": len(episodes),
        "invalid": len(episodes) - len(rewards),
        "steps": turns / max(len(episodes), 1),
        "response_tokens": tokens / max(turns, 1),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
