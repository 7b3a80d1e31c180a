"""Supervised fine-tuning on trajectories, from a model to a checkpoint: of the warm start, of a cycle, of a judge."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from webdojo.loops.log import RunLog
from webdojo.loops.models import learn
from webdojo.loops.parts import HERE, Parts
from webdojo.loops.run_folder import SFT
from webdojo.progress import progress
from webdojo.recipe import Recipe
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.run import RunStore
from webdojo.trainer.batch import sft_samples
from webdojo.trainer.sft import train_sft
from webdojo.types import ImageSource, Trajectory


async def fine_tune(
    recipe: Recipe,
    shown: Sequence[Trajectory],
    images: ImageSource,
    base: str,
    store: RunStore,
    log: RunLog,
    name: str = SFT,
    parts: Parts = HERE,
    **meta: Any,
) -> Checkpoint:
    """Teach a model the responses of trajectories by the recipe's section `sft`.

    It becomes the checkpoint `name`, with `meta` in what is told of it; its metrics are those of a phase of that name.
    """
    samples = sft_samples(shown)
    turns = recipe.sft.epochs * len(samples)
    opening = closing(parts.make_learner(recipe, images, base, kl=False))
    with opening as learner, progress(f"{name}, turns", turns) as bar:

        def advance(step: int, steps: int, metrics: dict[str, float]) -> None:
            bar.advance(turns / steps, loss=metrics["loss"])
            log.write(name, step, metrics)

        metrics = await learn(learner, train_sft, learner, samples, recipe.sft, advance)
        return store.checkpoints.save(name, learner.save, {"phase": SFT, **meta, "metrics": metrics})
