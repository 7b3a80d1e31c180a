"""A whole run: measure the base, warm-start it on demonstrations, train it online, measure again.

Each phase leaves what it made in the store and is skipped or continued when it is there already, so
`train` does a fresh run and a resumed one by the same code.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from webdojo.browser.find import find_chromium
from webdojo.config import Recipe, dump_recipe
from webdojo.evaluate.metrics import success
from webdojo.loops.arena import Arena, open_arena
from webdojo.loops.log import RunLog
from webdojo.loops.online import latest, online
from webdojo.policy.forward import vision_tower
from webdojo.policy.hf import HFEngine
from webdojo.policy.loading import load_model, model_folder
from webdojo.policy.processor import Processor
from webdojo.policy.scripted import scripted_actor
from webdojo.progress import progress
from webdojo.sites.oracle import Oracle
from webdojo.sites.taskgen import heldout_tasks, train_tasks
from webdojo.store.info import run_info
from webdojo.store.run import RunStore
from webdojo.train.batch import sft_samples
from webdojo.train.learner import Learner
from webdojo.train.sft import train_sft
from webdojo.types import Trajectory

SFT = "sft"
TRAIN_TASKS = 20_000
"""Training tasks drawn once; the demonstrations are the first of them."""


def train(recipe: Recipe, run: Path, resume: bool) -> dict[str, Any]:
    """Run a recipe in a run folder and return what `result.json` holds.

    Raises:
        StoreError: the folder holds a run and `resume` is not set, or holds none and it is.
        WebdojoError: anything else that the user can act on.
    """
    if recipe.model.threads:
        torch.set_num_threads(recipe.model.threads)
    processor = Processor.load(model_folder(recipe.model.path))  # a wrong path must not leave a run folder behind
    if resume:
        store = RunStore.open(run)
    else:
        info = run_info(recipe.seed, find_chromium(recipe.browser))
        store = RunStore.create(run, dump_recipe(recipe), info)
    with store, RunLog(store) as log:
        return asyncio.run(Pipeline(recipe, store, log).all(processor))


def evaluate_model(recipe: Recipe, model_path: str) -> dict[str, Any]:
    """Success of a model on the recipe's held-out tasks, as in `result.json`; leaves nothing on disk."""
    with TemporaryDirectory(prefix="webdojo-eval-") as folder:
        store = RunStore.create(Path(folder) / "run", dump_recipe(recipe), run_info(recipe.seed))
        with store, RunLog(store) as log:
            run = Pipeline(recipe, store, log)
            return asyncio.run(run.evaluate_alone("eval", model_path))


class Pipeline:
    """The phases of one run, in the order in which `all` calls them."""

    def __init__(self, recipe: Recipe, store: RunStore, log: RunLog) -> None:
        self.recipe, self.store, self.log = recipe, store, log
        self.tasks = train_tasks(recipe.tasks, TRAIN_TASKS, recipe.seed)
        self.heldout = heldout_tasks(recipe.tasks, recipe.evaluate.tasks, recipe.seed)

    async def all(self, processor: Processor) -> dict[str, Any]:
        """Every phase, and the result."""
        base = self.recipe.model.path
        async with open_arena(self.recipe, self.store, processor) as arena:
            with self._timed("evaluate_base"):
                result: dict[str, Any] = {"success_base": await self.evaluate(arena, "eval_base", base)}
            with self._timed("demonstrations"):
                demos = await self.demonstrate(arena)
            with self._timed("sft"):
                start = await asyncio.to_thread(self.warm_start, demos, base)
            with self._timed("evaluate_sft"):
                result["success_sft"] = await self.evaluate(arena, "eval_sft", start)
            with self._timed("rl"):
                final = await self.learn_online(arena, start)
            with self._timed("evaluate_rl"):
                result["success_rl"] = await self.evaluate(arena, "eval_rl", final)
        info = self.store.info
        result |= {"recipe": self.recipe.name, "seed": self.recipe.seed, "model": final}
        result |= {"seconds": self.store.get("seconds"), "versions": info["versions"], "machine": info["machine"]}
        self.store.write_result(result)
        return result

    async def evaluate(self, arena: Arena, phase: str, model_path: str) -> dict[str, Any]:
        """Success on the held-out tasks; episodes that the store has of this phase count as they are."""
        config = self.recipe.evaluate
        engine = self._engine(model_path, version=0)
        try:
            with progress(phase.replace("_", " "), len(self.heldout)) as bar:
                episodes = await arena.run_tasks(
                    self.heldout, lambda task, session: engine, phase, config.sampling, config.max_steps, bar
                )
        finally:
            engine.close()
        return success(episodes).model_dump(mode="json")

    async def evaluate_alone(self, phase: str, model_path: str) -> dict[str, Any]:
        """`evaluate` in an arena of its own."""
        processor = Processor.load(model_folder(model_path))
        async with open_arena(self.recipe, self.store, processor) as arena:
            return await self.evaluate(arena, phase, model_path)

    async def demonstrate(self, arena: Arena) -> list[Trajectory]:
        """The oracle's successful episodes on the first `sft.demos` training tasks."""
        tasks = self.tasks[: self.recipe.sft.demos]
        with progress("demonstrations", len(tasks)) as bar:
            actor = scripted_actor(arena.harness, Oracle)
            config = self.recipe.rollout
            shown = await arena.run_tasks(tasks, actor, "demo", config.sampling, config.max_steps, bar)
        return [demo for demo in shown if demo.reward is not None and demo.reward.value == 1]

    def warm_start(self, demos: list[Trajectory], base: str) -> str:
        """SFT on demonstrations; returns the model that RL starts from."""
        if not demos:
            return base
        if any(checkpoint.name == SFT for checkpoint in self.store.checkpoints()):
            return str(self.store.checkpoint(SFT).path)
        learner = self._learner(base)
        order = {task.id: index for index, task in enumerate(self.tasks)}
        samples = sft_samples(sorted(demos, key=lambda demo: order[demo.task.id]))
        with progress("sft", self.recipe.sft.epochs * len(samples)) as bar:

            def advance(step: int, steps: int, figures: dict[str, float]) -> None:
                bar.advance(self.recipe.sft.epochs * len(samples) / steps, loss=figures["loss"])
                self.log.write(SFT, step, figures, line=False)

            train_sft(learner, samples, self.recipe.sft, advance)
        return str(self.store.save_checkpoint(SFT, learner.save, {"phase": SFT}).path)

    async def learn_online(self, arena: Arena, start: str) -> str:
        """Online RL from `start`; returns the folder of the final policy."""
        learner, engine = self._learner(start), self._engine(start, version=0)
        try:
            with progress("rl iterations", self.recipe.train.iterations) as bar:
                await online(arena, learner, engine, self.tasks, self.log, bar)
        finally:
            engine.close()
        checkpoint = latest(self.store)
        return start if checkpoint is None else str(checkpoint.path)

    def _engine(self, model_path: str, version: int) -> HFEngine:
        model, processor = load_model(model_path)
        threads = self.recipe.model.threads
        return HFEngine(model, processor, self.store.images, version, seed=self.recipe.seed, threads=threads)

    def _learner(self, model_path: str) -> Learner:
        model, processor = load_model(model_path)
        if self.recipe.model.freeze_vision:
            vision_tower(model).requires_grad_(False)
        return Learner(model, processor, self.store.images, self.recipe.train, seed=self.recipe.seed)

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        """Add the wall seconds of the block to those of its phase, over all attempts of the run."""
        started = time.perf_counter()
        try:
            yield
        finally:
            seconds = self.store.get("seconds", {})
            seconds[phase] = round(seconds.get(phase, 0.0) + time.perf_counter() - started, 1)
            self.store.set("seconds", seconds)
