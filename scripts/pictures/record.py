"""Episodes that pictures show: the oracle's on one task of the quickstart, in a real browser, with wrong turns.

`episodes.jsonl` holds a group of trajectories as a run stores them, without times; the screenshots of the first member
lie beside it by their hash.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from webdojo.agent.harness import Harness
from webdojo.browser.pool import BrowserPool
from webdojo.loops.collection.teachers import oracle_teacher
from webdojo.loops.request import task_at
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.recipe import Recipe, load_recipe
from webdojo.reward.gate import Scorer
from webdojo.rollout.episode import run_episode
from webdojo.store.images import MemoryImages
from webdojo.types import ImageRef, Task, Trajectory

FOLDER = Path(__file__).parent / "recorded"
FILE = FOLDER / "episodes.jsonl"
NOISES = (0.0, 0.35, 0.35)
"""The chance of a wrong turn at each step, for each member of the group."""
SEED = 3
ASKED = ("I want Bold Hat in my Basket.", "http://shop-1000073.localhost/")
"""Of the held-out tasks: it needs pages to be found and something to be changed."""


async def group() -> tuple[list[Trajectory], MemoryImages]:
    """The group, and the screenshots of it."""
    recipe = load_recipe("quickstart")
    images, env = MemoryImages(), recipe.env
    harness = recipe.build_harness(load_processor(model_folder(recipe.model.path)))
    task = task_at(env, *ASKED)
    async with env, BrowserPool(recipe.browser, images, dict(env.hosts)) as pool:
        members = await asyncio.gather(*(_episode(recipe, task, harness, pool, at) for at in range(len(NOISES))))
    async with Scorer(recipe.reward_function, images) as scorer:
        for member in members:
            await scorer.score(member)
    return list(members), images


async def _episode(recipe: Recipe, task: Task, harness: Harness, pool: BrowserPool, number: int) -> Trajectory:
    oracle = recipe.env.oracle
    assert oracle is not None, "the embedded web has one"
    return await run_episode(
        task,
        env=recipe.env,
        pool=pool,
        harness=harness,
        actor=oracle_teacher(harness, oracle, NOISES[number])(f"{SEED}-{number}"),
        config=recipe.rollout,
        sampling=recipe.rollout.sampling,
        max_steps=recipe.rollout.max_steps,
        group="group",
        trajectory_id=f"member-{number}",
    )


async def record() -> None:
    """Play the group, and write it to `FOLDER`."""
    members, images = await group()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    FILE.write_text("".join(f"{json.dumps(_timeless(member))}\n" for member in members))
    for turn in members[0].turns:
        shown = turn.observation.screenshot
        _file_of(shown).write_bytes(images.get(shown))


def recorded() -> list[Trajectory]:
    return [Trajectory.model_validate_json(line) for line in FILE.read_text().splitlines()]


def screenshot(image: ImageRef) -> bytes:
    """A screenshot of the first member."""
    return _file_of(image).read_bytes()


def _file_of(image: ImageRef) -> Path:
    return FOLDER / f"{image.sha[:12]}.{image.mime.rpartition('/')[2]}"


def _timeless(trajectory: Trajectory) -> Any:
    """A trajectory as JSON without times."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(each) for key, each in value.items() if key not in ("seconds", "began")}
        return [kept(each) for each in value] if isinstance(value, list) else value

    return kept(trajectory.model_dump(mode="json", exclude_defaults=True))


def lasting(trajectory: Trajectory) -> Any:
    """What is the same each time an episode is played: all but times, and images by when they first came."""
    names: dict[str, str] = {}

    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: names.setdefault(each, f"screen {len(names) + 1}") if key == "sha" else named(each)
                for key, each in value.items()
            }
        return [named(each) for each in value] if isinstance(value, list) else value

    return named(_timeless(trajectory))
