"""A whole run: measure the base, warm-start it on demonstrations, train it online, measure again.

Each phase leaves what it made in the store and is skipped or continued when it is there already, so
`run_recipe` does a fresh run and a resumed one by the same code.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, closing, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import torch

from webdojo.browser.chromium import find_chromium
from webdojo.dry_run.prompts import check_prompts
from webdojo.dry_run.unused import without_effect
from webdojo.evaluation.metrics import success
from webdojo.loops.collection.attempts import Collection
from webdojo.loops.collection.imitated import images_of, imitated, succeeded
from webdojo.loops.collection.teachers import oracle_teacher
from webdojo.loops.cycles import cycles
from webdojo.loops.episodes import MAX_INVALID, EpisodeRunner, open_episodes
from webdojo.loops.fine_tune import fine_tune
from webdojo.loops.keep import best
from webdojo.loops.log import RunLog
from webdojo.loops.metrics import evaluation_metrics
from webdojo.loops.missing import warn_of_missing
from webdojo.loops.models import check_learner
from webdojo.loops.online.image_contract import check_images
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.loops.parts import HERE, Parts
from webdojo.loops.results.by_version import stored_evaluations
from webdojo.loops.results.cost import cost
from webdojo.loops.results.cycles import Cycle
from webdojo.loops.results.kit import write_kit
from webdojo.loops.results.protocol import differs
from webdojo.loops.resume import latest, metrics_of
from webdojo.loops.run_folder import (
    DEMO,
    ENGINE_ACCOUNT,
    EVAL,
    EVAL_BASE,
    EVAL_CYCLE,
    EVAL_SFT,
    EVALUATION,
    KIT,
    PLANNED,
    SFT,
)
from webdojo.loops.tracking.trackers import Trackers, WriteReport
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.progress import progress
from webdojo.recipe import Recipe, dump_recipe
from webdojo.recipe_paths import whole_path
from webdojo.rollout.config import CollectConfig
from webdojo.store.files import writing
from webdojo.store.info import run_info
from webdojo.store.run import RunStore
from webdojo.store.spans import RUN, Span, SpanLog
from webdojo.store.storage import Mirror, mirrored
from webdojo.trainer.learner.checkpoint import check_checkpoint
from webdojo.types import Task, Termination, TrainableEngine, Trajectory

logger = logging.getLogger("webdojo")

MANY_LATE = 0.1
"""The share of the episodes of an evaluation that may run out of time before somebody is told."""


def run_recipe(
    recipe: Recipe, run: Path, resume: bool, parts: Parts = HERE, report: WriteReport | None = None
) -> dict[str, Any]:
    """Run a recipe that was checked in a run folder and return what `result.json` holds; trackers get its `report`."""
    if recipe.model.threads:
        torch.set_num_threads(recipe.model.threads)
    # What the model cannot do must not leave a run folder behind.
    processor = load_processor(model_folder(recipe.model.path))
    check_learner(recipe)
    for line in [*without_effect(recipe), *check_prompts(recipe, processor, trains=True)]:
        logger.warning("%s", line)
    with (
        opened(recipe, run, resume, {}) as store,
        Trackers(recipe, store, report) as trackers,
        RunLog(store, trackers) as log,
    ):
        if resume:
            note_resumed(recipe, store)
            warn_of_missing(store)
        with closing(Pipeline(recipe, store, log, parts).all(processor)) as work:  # Ctrl-C may come before it begins
            return asyncio.run(work)


def measure_model(
    recipe: Recipe,
    model_path: str,
    run: Path,
    resume: bool,
    parts: Parts = HERE,
    report: WriteReport | None = None,
) -> dict[str, Any]:
    """Measure a model on the held-out tasks of a recipe that was checked, in a run folder; trackers get its
    `report`."""
    processor = load_processor(model_folder(model_path))
    for line in check_prompts(recipe, processor, trains=False):
        logger.warning("%s", line)
    measured = {"model": recipe.engine.serves(model_path), "processor": whole_path(model_path)}
    with (
        opened(recipe, run, resume, measured) as store,
        Trackers(recipe, store, report) as trackers,
        RunLog(store, trackers) as log,
    ):
        if resume:
            note_resumed(recipe, store)
        with closing(Pipeline(recipe, store, log, parts).evaluate_alone(processor, model_path)) as work:
            return asyncio.run(work)


@contextmanager
def opened(recipe: Recipe, run: Path, resume: bool, more: dict[str, Any]) -> Iterator[RunStore]:
    """The store of a new run, with `more` in its info, or of one that goes on, which is as it was (`note_resumed`)."""
    info = _info(recipe) | more
    mirror = _mirror(recipe, run, resume)  # what it refuses leaves no run folder behind
    with ExitStack() as stack:
        opening = RunStore.open(run) if resume else RunStore.create(run, dump_recipe(recipe, whole_paths=True), info)
        store = stack.enter_context(opening)
        if mirror is not None:
            stack.enter_context(mirrored(mirror))
        yield store


def _mirror(recipe: Recipe, run: Path, resume: bool) -> Mirror | None:
    """What copies a run to `storage_path`, if the recipe has one."""
    if not recipe.storage_path:
        return None
    return Mirror(run, f"{recipe.storage_path.rstrip('/')}/{run.absolute().name}", resume)


def note_resumed(recipe: Recipe, store: RunStore) -> None:
    """Note that a run goes on, and with which recipe; its earlier result is gone then."""
    info = _info(recipe)
    again = {key: info[key] for key in ("created", "command", "git")}
    noted = store.info | {"resumed": [*store.info.get("resumed", []), again]}
    store.write_start(dump_recipe(recipe, whole_paths=True), noted)
    with writing(store.path / KIT):
        (store.path / KIT).unlink(missing_ok=True)


def _info(recipe: Recipe) -> dict[str, Any]:
    return run_info(recipe.seed, "" if recipe.browser.servers else find_chromium(recipe.browser))


class Pipeline:
    """The phases of one run, in the order in which `all` calls them."""

    def __init__(self, recipe: Recipe, store: RunStore, log: RunLog, parts: Parts = HERE) -> None:
        self.recipe, self.store, self.log, self.parts = recipe, store, log, parts
        self._spans = SpanLog(store, RUN)
        self.heldout = [*recipe.draw("eval", recipe.evaluate.tasks)] * recipe.evaluate.runs
        """Each task as often as it is measured."""
        self._evaluated: dict[str, tuple[str, int]] = {}
        """Phase and iteration of the evaluation of each model."""

    @cached_property
    def tasks(self) -> Sequence[Task]:
        """The training tasks, drawn on first use, because that takes seconds and an evaluation needs none."""
        return self.recipe.training_tasks()

    async def all(self, processor: Processor) -> dict[str, Any]:
        base = self.recipe.model.path
        async with self._episodes(processor) as runner:
            await runner.score_left()
            with self._timed("evaluate_base"):
                result: dict[str, Any] = {"success_base": await self.evaluate(runner, EVAL_BASE, base)}
            with self._timed("demonstrations"):
                demos = [] if self._is_warm() else await self.demonstrate(runner)
            with self._timed("sft"):
                start = await self.warm_start(demos, base)
            if start != base:
                result["sft"] = metrics_of(self.store.checkpoints.get(SFT))
            with self._timed("evaluate_sft"):
                result["success_sft"] = await self.evaluate(runner, EVAL_SFT, start)
                self._note_evaluation(0, result["success_sft"])
            if self.recipe.cycles.rounds:
                with self._timed("cycles"):
                    start, rounds = await self.cycle(runner, start)
                result["cycles"] = [each.model_dump(mode="json") for each in rounds]
            with self._timed("rl"):
                final, iteration = await self.learn_online(runner, start)
            with self._timed("evaluate_rl"):
                result["success_rl"] = await self.evaluate(runner, EVALUATION, final, iteration)
                self._note_evaluation(iteration, result["success_rl"])
        if (found := best(self.store)) is not None:
            where = {"model": str(found.checkpoint.path), "iteration": found.checkpoint.meta["iteration"]}
            result["best"] = where | {"success": found.success, "heldout": found.heldout}
        if self.recipe.evaluate.every:
            result["evaluations"] = stored_evaluations(self.store)
        return self._finish(result, final)

    async def evaluate_alone(self, processor: Processor, model_path: str) -> dict[str, Any]:
        """Measure a model that this run does not train."""
        async with self._episodes(processor) as runner:
            await runner.score_left()
            with self._timed("evaluate"):
                episodes = await self.measure(runner, EVAL, model_path)
        measured = success(episodes).model_dump(mode="json")
        result = self._finish({"success_eval": measured, "cost": cost(episodes, self.store.path)}, model_path)
        write_kit(self.store, self.recipe, result, episodes)
        return result

    def _episodes(self, processor: Processor) -> AbstractAsyncContextManager[EpisodeRunner]:
        return open_episodes(self.recipe, self.store, processor, open_rollouts=self.parts.open_rollouts)

    @property
    def _attempt(self) -> int:
        """How often the run was resumed."""
        return len(self.store.info.get("resumed", []))

    def _finish(self, result: dict[str, Any], model_path: str) -> dict[str, Any]:
        """Store the result, with what it depends on."""
        info = self.store.info
        result |= {"recipe": self.recipe.name, "seed": self.recipe.seed}
        result |= {"protocol": self.recipe.name, "differs": differs(self.recipe)}
        result |= {"model": self.recipe.engine.serves(model_path)}
        result |= {"seconds": self.store.get("seconds"), "versions": info["versions"], "machine": info["machine"]}
        self.store.write_result(result)
        return result

    async def evaluate(self, runner: EpisodeRunner, phase: str, model_path: str, iteration: int = 0) -> dict[str, Any]:
        """Success on the held-out tasks."""
        return success(await self.measure(runner, phase, model_path, iteration)).model_dump(mode="json")

    async def measure(self, runner: EpisodeRunner, phase: str, model_path: str, iteration: int = 0) -> list[Trajectory]:
        """The episodes of a model on the held-out tasks.

        Their stored episodes of this phase and `iteration`, which is the policy's, count as they are; so do those of
        another phase that measured the same model.
        """
        phase, iteration = self._evaluated.setdefault(model_path, (phase, iteration))
        episodes, left = runner.stored(self.heldout, phase, iteration)
        self.store.set(PLANNED, len(self.heldout))
        if left:  # an engine may take minutes to start
            config = self.recipe.evaluate
            # Runs of a task that come after a restart draw other numbers than those before it.
            attempt = self._attempt if config.runs > 1 else 0
            account = self.store.path / ENGINE_ACCOUNT
            async with self.parts.open_engine(
                self.recipe, self.store.images, model_path, attempt, version=iteration, account=account
            ) as engine:
                with progress(phase.replace("eval", "evaluation").replace("_", ", "), len(self.heldout)) as bar:
                    episodes = await runner.run_tasks(
                        self.heldout,
                        lambda task, session: engine,
                        phase,
                        iteration,
                        config,
                        bar,
                        max_invalid=config.max_invalid,
                    )
            self.log.show(phase, iteration, episodes)
        late = sum(episode.termination is Termination.TIMEOUT for episode in episodes)
        if late > MANY_LATE * len(episodes):
            logger.warning(
                "%d of %d episodes ran past rollout.task_timeout_s=%g and count as failures: lower "
                "rollout.concurrency=%d, which may be too much for this machine, or raise the limit",
                *(late, len(episodes), self.recipe.rollout.task_timeout_s, self.recipe.rollout.concurrency),
            )
        return episodes

    async def demonstrate(self, runner: EpisodeRunner) -> list[Trajectory]:
        """The trajectories of `sft.data`, else the oracle's successful episodes on the first `sft.demos` tasks."""
        oracle = self.recipe.env.oracle
        if self.recipe.sft.data:
            return imitated(self.recipe)
        if not self.recipe.sft.demos or oracle is None:
            return []
        tasks = self.tasks[: self.recipe.sft.demos]
        teacher = oracle_teacher(runner.harness, oracle)
        with progress("demonstrations", len(tasks)) as bar:
            collection = Collection(runner, teacher, DEMO, CollectConfig(), bar, max_invalid=MAX_INVALID)
            shown = [self.store.trajectory(id) for id in await collection.run(tasks)]
        good = [demo for demo in shown if succeeded(demo)]
        if tasks and not good:
            logger.warning(
                "none of the %d demonstrations succeeded, so there is no warm start: see why they ended with "
                "`webdojo runs export RUN --phase demo`; rollout.max_steps, max_context_tokens and sampling.max_tokens "
                "bound them as well",
                len(tasks),
            )
        return good

    async def warm_start(self, demos: list[Trajectory], base: str) -> str:
        """Fine-tune on the demonstrations and return the model that RL starts from."""
        if self._is_warm():
            done = self.store.checkpoints.get(SFT).path
            check_checkpoint(done)
            return str(done)
        if not demos:
            return base
        images = images_of(self.recipe) if self.recipe.sft.data else self.store.images
        return str((await fine_tune(self.recipe, demos, images, base, self.store, self.log, parts=self.parts)).path)

    def _is_warm(self) -> bool:  # by an earlier attempt
        return any(checkpoint.name == SFT for checkpoint in self.store.checkpoints.all())

    async def cycle(self, runner: EpisodeRunner, start: str) -> tuple[str, list[Cycle]]:
        """Improve the model `start` by cycles of exploration, feedback and optimization; the last model, and what each
        round did."""

        async def measure(model_path: str, number: int) -> list[Trajectory]:
            return await self.measure(runner, EVAL_CYCLE, model_path, number)

        demonstrations = await self.demonstrate(runner)
        return await cycles(runner, self.tasks, demonstrations, start, self.log, measure, self.parts)

    async def learn_online(self, runner: EpisodeRunner, start: str) -> tuple[str, int]:
        """Train online from the model `start`; the folder of the final policy, and the iteration that made it."""
        make = partial(self.parts.make_learner, self.recipe, self.store.images, start)
        with closing(Learning(make, self.store)) as learning:
            async with self.parts.open_engine(self.recipe, self.store.images, start, self._attempt) as engine:
                trainable = cast(TrainableEngine, engine)  # `Recipe.check` has seen to it
                check = partial(check_images, trainable, images=self.store.images, recipe=self.recipe)
                await online(runner, learning, trainable, self.tasks, self.log, self.heldout, check)
        final = latest(self.store)
        return (start, 0) if final is None else (str(final.path), final.meta["iteration"])

    def _note_evaluation(self, iteration: int, found: dict[str, Any]) -> None:
        """Add the first or the last point to the curve of evaluations during online training, if there is one."""
        if self.recipe.evaluate.every:
            self.log.write(EVALUATION, iteration, evaluation_metrics(found))

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        """Add the wall seconds of the block to those of its phase, over all attempts, and keep when it was."""
        began, started = time.time(), time.perf_counter()
        try:
            yield
        finally:
            seconds, spent = self.store.get("seconds", {}), time.perf_counter() - started
            seconds[phase] = round(seconds.get(phase, 0.0) + spent, 1)
            self.store.set("seconds", seconds)
            self._spans.add(Span(phase, began, spent))
