"""Cycles of exploration, feedback and optimization (OpenWebVoyager §3.5, Algorithm 1), between warm start and RL.

    in each of `cycles.rounds` rounds
        draw `cycles.tasks` training tasks, by `tasks.sampler` and what became of those before
        let the policy try each up to `cycles.max_attempts` times, until the reward says success
        fine-tune that policy on these successes and on the demonstrations of the warm start
        measure it on the held-out tasks

Every episode counts as soon as it is stored, and tasks, attempts and training follow from the seed, so a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from statistics import fmean

from webdojo.browser.interface import Session
from webdojo.loops.collection.attempts import Collection
from webdojo.loops.collection.imitated import images_of, succeeded
from webdojo.loops.collection.teachers import model_teacher, oracle_teacher
from webdojo.loops.episodes import MAX_INVALID, EpisodeRunner
from webdojo.loops.fine_tune import fine_tune
from webdojo.loops.log import RunLog
from webdojo.loops.parts import Parts
from webdojo.loops.results.cycles import Cycle, explored, measured
from webdojo.loops.run_folder import CYCLE
from webdojo.progress import progress
from webdojo.rollout.config import CollectConfig
from webdojo.rollout.curriculum import Curriculum, TaskStream
from webdojo.rollout.episode import Actor
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.images import ImageStores
from webdojo.trainer.learner.checkpoint import check_checkpoint
from webdojo.types import Task, Trajectory

logger = logging.getLogger("webdojo")

Measure = Callable[[str, int], Awaitable[list[Trajectory]]]
"""Gives the episodes of a model on the held-out tasks; the number is the round that made it, 0 the warm start."""


async def cycles(
    runner: EpisodeRunner,
    tasks: Sequence[Task],
    demonstrations: Sequence[Trajectory],
    start: str,
    log: RunLog,
    measure: Measure,
    parts: Parts,
) -> tuple[str, list[Cycle]]:
    """Improve the model `start` by its own successes; the last model, and what each round did, the warm start first."""
    config, recipe = runner.recipe.cycles, runner.recipe
    curriculum = Curriculum(tasks, [], recipe.rollout, recipe.tasks.sampler, lambda: 1)
    stream = TaskStream(tasks, recipe.seed, chance=curriculum.chance)
    policy, before = start, list[Trajectory]()
    done = [Cycle(round=0, model=start, heldout=measured(await measure(start, 0), recipe))]
    for number in range(1, config.rounds + 1):
        drawn = [stream.at(stream.draw()) for _ in range(config.tasks)]
        episodes = await _explore(runner, parts, policy, drawn, number)
        curriculum.note(_outcomes(drawn, episodes))
        found = [each for each in episodes if succeeded(each)]
        taught = await _teach(runner, drawn, episodes, number) if config.demos_below else []
        before = [*(before if config.mix == "all" else []), *found, *taught]
        policy = await _optimize(runner, parts, [*demonstrations, *before], policy, log, number)
        exploration = explored(drawn, episodes, config.max_attempts)
        heldout = measured(await measure(policy, number), recipe)
        trained = {"demonstrations": len(demonstrations) + len(taught), "trained_on": len(demonstrations) + len(before)}
        done.append(Cycle(round=number, model=policy, heldout=heldout, exploration=exploration, **trained))
        log.write(CYCLE, number, exploration.metrics() | heldout.metrics())
    return policy, done


async def _explore(
    runner: EpisodeRunner, parts: Parts, policy: str, tasks: Sequence[Task], number: int
) -> list[Trajectory]:
    """The valid attempts of the policy at its tasks, in the order of tasks and attempts."""
    store, config = runner.store, runner.recipe.cycles
    phase, attempts = f"explore-{number}", CollectConfig(max_attempts=config.max_attempts)
    if _optimized(runner, number) is not None:  # all attempts are there
        with progress(phase, len(tasks)) as bar:
            collection = Collection(runner, _nobody, phase, attempts, bar, max_invalid=MAX_INVALID)
            collection.look()
            return [store.trajectory(id) for id in collection.valid_ids(tasks)]
    async with parts.open_engine(runner.recipe, store.images, policy, version=number - 1) as engine:
        with progress(phase, len(tasks)) as bar:
            collection = Collection(runner, model_teacher(engine), phase, attempts, bar, max_invalid=MAX_INVALID)
            return [store.trajectory(id) for id in await collection.run(tasks)]


async def _teach(
    runner: EpisodeRunner, tasks: Sequence[Task], episodes: Sequence[Trajectory], number: int
) -> list[Trajectory]:
    """Successes of the environment's oracle at unsolved tasks of web sites of which few were solved."""
    oracle, below = runner.recipe.env.oracle, runner.recipe.cycles.demos_below
    assert oracle is not None, "`Recipe.check` has seen to it"
    solved = {each.task.id for each in episodes if succeeded(each)}
    of_site = defaultdict[str, list[bool]](list)
    for task in tasks:
        of_site[task.website].append(task.id in solved)
    hard = [task for task in tasks if task.id not in solved and fmean(of_site[task.website]) < below]
    teacher = oracle_teacher(runner.harness, oracle)
    with progress(f"demonstrations of round {number}", len(hard)) as bar:
        collection = Collection(runner, teacher, f"demo-{number}", CollectConfig(), bar, max_invalid=MAX_INVALID)
        shown = [runner.store.trajectory(id) for id in await collection.run(hard)]
    return [each for each in shown if succeeded(each)]


async def _optimize(
    runner: EpisodeRunner, parts: Parts, trajectories: Sequence[Trajectory], policy: str, log: RunLog, number: int
) -> str:
    """Fine-tune the policy on trajectories (equation 7), and return the folder of the new one."""
    store, recipe = runner.store, runner.recipe
    if (checkpoint := _optimized(runner, number)) is not None:
        check_checkpoint(checkpoint.path)
        return str(checkpoint.path)
    if not trajectories:
        logger.warning("round %d has nothing to train on: no attempt succeeded, and nobody demonstrates", number)
        return policy
    images = ImageStores((store.images, *images_of(recipe).stores))
    meta = {"phase": CYCLE, "iteration": number}
    name = _name(number)
    return str((await fine_tune(recipe, trajectories, images, policy, store, log, name, parts, **meta)).path)


def _optimized(runner: EpisodeRunner, number: int) -> Checkpoint | None:
    """The checkpoint of a round, if an earlier attempt has finished it."""
    there = {checkpoint.name: checkpoint for checkpoint in runner.store.checkpoints.all()}
    return there.get(_name(number))


def _name(number: int) -> str:
    return f"{CYCLE}-{number:02d}"


def _outcomes(tasks: Sequence[Task], episodes: Sequence[Trajectory]) -> list[tuple[str, list[float]]]:
    """By task, whether each attempt succeeded, as samplers want it."""
    found: dict[str, list[float]] = {task.id: [] for task in tasks}
    for each in episodes:
        found[each.task.id].append(float(succeeded(each)))
    return list(found.items())


def _nobody(seed: str) -> Actor[Session]:
    raise AssertionError("no attempt is left to make")
