"""A run of made-up episodes on ten sites, half of which were done, and a student that has learnt from it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.loops.judging.known import RECIPE, RIGHT, known
from webdojo.loops.distillation.distill import distill
from webdojo.loops.judging.audit import Choice
from webdojo.recipe import Recipe, load_recipe
from webdojo.reward.function import RewardFunction
from webdojo.store.run import RunStore
from webdojo.types import ImageSource, Reward, Termination, Trajectory

STUDENT = [
    *("reward=webvoyager", "reward.max_images=1", "reward.sampling.max_tokens=64", "seed=3"),
    *("model.freeze_trainable_layers=0", "sft.lr=1e-3", "sft.batch_size=2", "train.threads=1"),
]
SITES, OF_A_SITE = 10, 4

Student = Callable[..., Recipe]


class Terse(RewardFunction):
    """Knows the right answer, and gives no reasons."""

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        right = trajectory.answer == RIGHT
        return Reward(value=float(right), success=right)


TERSE = f"{__name__}:Terse"


def student(*overrides: str) -> Recipe:
    """The recipe of a student; every layer learns, because the tiny model knows none of the words of a judge."""
    return load_recipe("quickstart", [*STUDENT, *overrides])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


def make_run(folder: Path) -> Path:
    """Of each site two episodes with the right answer and two with wrong ones, and one that did not finish."""
    instructions = [task.instruction for task in load_recipe("quickstart").draw("train", SITES * OF_A_SITE)]
    with RunStore.create(folder, RECIPE, {}) as store:
        for number, instruction in enumerate(instructions):
            answer = (RIGHT, "done", RIGHT, str(number))[number % OF_A_SITE]
            said = {"site": number // OF_A_SITE, "answer": answer, "instruction": instruction}
            store.add_trajectory(known(f"e-{number}", store.images, answer == RIGHT, **said), "rl", 1)
        cut = known("cut", store.images, False, termination=Termination.MAX_STEPS, answer=None)
        store.add_trajectory(cut, "rl", 1)
    return folder


async def distilled(run: Path, recipe: Recipe, out: Path, judge: str = "rules", **more: Any) -> dict[str, Any]:
    """Distil with a third of the sites held out, unless `held_out` or `choice` says otherwise."""
    choice, held_out = more.get("choice", Choice(seed=3)), more.get("held_out", 0.3)
    return await distill(run, judge, recipe, out, choice, held_out, lambda total: lambda: None)


class Distilled(NamedTuple):
    run: Path
    recipe: Recipe
    out: Path
    report: dict[str, Any]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Distilled:
    folder = tmp_path_factory.mktemp("distilled")
    run, recipe, out = make_run(folder / "run"), student("sft.epochs=12"), folder / "judge"
    return Distilled(run, recipe, out, asyncio.run(distilled(run, recipe, out, TERSE)))


@pytest.fixture
def done(made_once: Distilled, tmp_path: Path) -> Distilled:
    """A distillation that has ended, as a copy that a test may change."""
    shutil.copytree(made_once.out, tmp_path / "judge")
    return made_once._replace(out=tmp_path / "judge")
