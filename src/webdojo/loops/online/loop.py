"""Online multimodal multi-turn GRPO (OpenWebRL §4.4), the loop itself, synchronous and asynchronous (AsyncWebRL).

    until all iterations are done:
        wait for N groups of G episodes that the filter keeps, from a pool that rolls out for ever
        compute each episode's advantage from its reward and those of its group
        weigh every response token of every turn, and update the policy on them
        save a checkpoint, then publish the weights to the engine, under which running episodes go on
        every so many updates, measure the policy on held-out tasks before it changes again

`rollout.max_staleness` bounds how many versions a token may be older than the weights that it trains, unless it is
replayed. At 0 no episode runs while the learner steps; above 0 both go on at once.

A checkpoint names the place in the task order and the groups before it that no update has had yet, so a run that is
killed at any moment goes on from its last finished iteration with every episode that it has stored (`resume.py`). No
weights serve before their checkpoint is complete, so each version that a stored token names is one that the run still
goes on from.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from webdojo.loops.episodes import EpisodeRunner
from webdojo.loops.keep import remove_surplus
from webdojo.loops.log import RunLog, iteration_line
from webdojo.loops.metrics import StepTimer, batch_metrics, staleness_metrics
from webdojo.loops.missing import ended_for_good
from webdojo.loops.models import asleep, learn
from webdojo.loops.online.evaluations import Evaluations
from webdojo.loops.online.learning import Learning
from webdojo.loops.resume import outcomes_key, replayed, resume, task_order, trained_key
from webdojo.loops.run_folder import RL
from webdojo.progress import Progress, progress
from webdojo.recipe import Recipe
from webdojo.rollout.curriculum import outcomes
from webdojo.rollout.groups import Group, GroupFilter, dynamic_sampling, every_group
from webdojo.rollout.pool import RolloutPool
from webdojo.rollout.scheduler import Scheduler
from webdojo.store.learner_logprobs import write_learner_logprobs
from webdojo.store.run import RunStore
from webdojo.trainer.batch import Sample, advantages_of, weighted_samples
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.losses import LOSSES
from webdojo.types import Task, TrainableEngine, Trajectory

logger = logging.getLogger("webdojo")


async def nothing_to_check(learner: Learner) -> dict[str, float]:
    return {}


async def online(
    runner: EpisodeRunner,
    learning: Learning,
    engine: TrainableEngine,
    tasks: Sequence[Task],
    log: RunLog,
    heldout: Sequence[Task] = (),
    check_engine: Callable[[Learner], Awaitable[dict[str, float]]] = nothing_to_check,
) -> None:
    """Train until `train.iterations` iterations are done, from the store's last RL checkpoint if there is one.

    The learner holds the warm-started weights; on resume they are replaced by the checkpoint's. The `engine` gets its
    weights at the start and after every update, and `check_engine` then makes sure that it answers with them as the
    learner would, and says how far both are apart. `evaluate.every` measures policies on the `heldout` tasks.
    """
    recipe, store = runner.recipe, runner.store
    config, rollout = recipe.train, recipe.rollout
    state = resume(store, learning.learner, log, rollout.group_size)
    await engine.update_weights(await learning.does(_weights), version=state.iteration)
    gaps = await learning.does(check_engine)

    def iteration_now() -> int:
        """The first iteration that may train an episode that begins now."""
        return engine.health().version + 1

    async def episode(task: Task, group: str, trajectory_id: str) -> Trajectory:
        """Roll out, score and store one episode; the pool runs as many at once as the scheduler lets start."""
        begun_in = iteration_now()
        trajectory = await runner.rollout(
            task,
            group,
            trajectory_id,
            actor=lambda task, session: scheduler.engine,
            sampling=rollout.sampling,
            max_steps=curriculum.horizon(task.difficulty),
            clock=scheduler.clock,
        )
        await runner.finish(trajectory, RL, begun_in)
        return trajectory

    scheduler = Scheduler(rollout, engine, lambda: runner.rollouts.places)
    curriculum, stream = task_order(state, tasks, recipe, runner.blocked, iteration_now)
    pool = RolloutPool(
        episode,
        stream,
        scheduler,
        group_size=rollout.group_size,
        groups=config.groups_per_iteration,
        max_groups=config.most_groups,
        max_staleness=rollout.max_staleness,
        updates=config.iterations,
        version=state.iteration,
        earlier=state.pool,
        stored=state.stored,
        keep=group_filter(config),
    )
    evaluations = Evaluations(runner, scheduler, heldout, pool, log)
    timer = StepTimer(scheduler, store)

    async with pool, evaluations, AsyncExitStack() as sleep:
        for iteration in range(state.iteration + 1, config.iterations + 1):
            timer.begin(iteration)
            evaluations.begin(iteration - 1)
            step = f"iteration {iteration}/{config.iterations}"
            with timer.measure("wait"), progress(f"{step}, groups", config.groups_per_iteration, stays=False) as bar:
                batch = await pool.next_batch(_shown_on(bar, pool))
                bar.advance(config.groups_per_iteration - bar.done)
                if not rollout.max_staleness:  # nothing runs while the learner steps
                    await evaluations.end()
            ended = outcomes(batch.finished)
            curriculum.note(ended)
            store.set(outcomes_key(iteration), ended)
            with timer.measure("assemble"):
                samples = await asyncio.to_thread(assemble, batch.groups, iteration, recipe, store)
            with timer.measure("update"), progress(f"{step}, turns", len(samples), stays=False) as bar:
                await sleep.enter_async_context(asleep(engine, scheduler.clock))
                temperature = rollout.sampling.temperature
                train = partial(_train, store, samples=samples, temperature=temperature, version=iteration - 1)
                update = await learning.does(train)
                bar.advance(len(samples))
                if evaluations.running or not engine.updates_asleep:
                    await sleep.aclose()  # it wakes up
            if evaluations.running:
                with timer.measure("wait"):
                    await evaluations.end()
            metrics = batch_metrics(batch) | staleness_metrics(samples, iteration - 1) | update
            metrics |= {"version": iteration} | gaps | timer.metrics()
            with timer.measure("save"):
                meta = {"phase": RL, "iteration": iteration, "position": stream.position, "metrics": metrics}
                begun = pool.state()
                meta |= {"pool": begun._asdict(), "stored": ended_for_good(store, stream.position, begun)}
                await asyncio.to_thread(store.flush)
                await learning.does(partial(_save, store=store, name=f"rl-{iteration:04d}", meta=meta), redo=train)
                log.write(RL, iteration, metrics)
                evaluation_s = store.get("seconds", {}).get("evaluate_sft", 0.0)
                logger.info("%s", iteration_line(store.metrics(RL), config.iterations, evaluation_s))
                await asyncio.to_thread(remove_surplus, store, recipe)
            with timer.measure("publish"):
                await engine.update_weights(await learning.does(_weights), version=iteration)
                await sleep.aclose()
                gaps = await learning.does(check_engine)
            pool.advance(iteration)


async def _train(
    store: RunStore, learner: Learner, samples: Sequence[Sample], temperature: float, version: int
) -> dict[str, float]:
    def keep(scored: Sequence[Sample], logprobs: Sequence[Tensor]) -> None:
        found = {
            (sample.trajectory, sample.turn): np.where(
                np.array(sample.versions) == version, lp.numpy(), np.float32("nan")
            )
            for sample, lp in zip(scored, logprobs, strict=True)
            if version in sample.versions
        }
        write_learner_logprobs(store.path, version + 1, found)

    return await learn(learner, learner.train_policy, samples, temperature, version, keep)


async def _weights(learner: Learner) -> Mapping[str, Tensor]:
    return await asyncio.to_thread(learner.state_dict)


async def _save(learner: Learner, store: RunStore, name: str, meta: dict[str, Any]) -> None:
    await asyncio.to_thread(store.checkpoints.save, name, learner.save, meta)


def assemble(groups: Sequence[Group], iteration: int, recipe: Recipe, store: RunStore) -> list[Sample]:
    """The samples of an update, which the learner packs into rows: a sample for each turn, a weight for each token."""
    trajectories = [group.trajectories for group in groups]
    advantages = advantages_of(trajectories, recipe.train)
    samples = weighted_samples(trajectories, advantages, recipe.train)
    store.set(trained_key(iteration), [group.id for group in groups])
    if recipe.train.replay_buffer_capacity > 1:
        samples = replayed(store, RL, iteration, samples, recipe)
    if not samples:
        logger.warning("iteration %d takes no step: none of its turns teaches anything", iteration)
    return samples


def group_filter(config: TrainConfig) -> GroupFilter:
    """The filter that decides which groups an update gets."""
    if not config.dynamic_sampling:
        return every_group
    return partial(dynamic_sampling, positives_only=LOSSES.get(config.policy_loss).positives_only)


def _shown_on(bar: Progress, pool: RolloutPool) -> Callable[[], None]:
    """Returns what moves the bar to the number of groups that can train, and shows how many episodes have ended."""
    ended_before = pool.episodes
    return lambda: bar.advance(len(pool.waiting) - bar.done, episodes=pool.episodes - ended_before)
