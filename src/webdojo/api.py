"""The public functions: what a program needs to train, to evaluate, or to use one part alone.

They put the same parts together as the command line does, with defaults instead of a recipe where one is not needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from webdojo.agent.harness import Harness
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.env import Environment
from webdojo.envs.web import Web
from webdojo.recipe import Recipe, recipe_of
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.rollout import episode as rollout
from webdojo.store.images import MemoryImages
from webdojo.types import Engine, Task, Trajectory


@dataclass(frozen=True)
class Browser:
    """Sessions in Chromium; made by `open_browser`."""

    pool: BrowserPool
    images: MemoryImages
    """The screenshots of its sessions, by their hash; `clear` forgets them."""
    env: Environment

    async def open(self, url: str) -> BrowserSession:
        """Open a session at an address: observe it, act in it, close it.

        Raises:
            StartError: the address cannot be reached, or may not be.
            BrowserError: no browser can be had.
        """
        return await self.pool.open(url)


@asynccontextmanager
async def open_browser(config: BrowserConfig | None = None, env: Environment | None = None) -> AsyncIterator[Browser]:
    """Start Chromium, and the environment if one is given, until the block ends.

    Args:
        config: as the recipe's `browser` section; absent: its defaults.
        env: where episodes happen; absent: sites that are there already.

    Raises:
        BrowserError: there is no Chromium, or it does not start.

    Examples:
        >>> import asyncio, webdojo
        >>> from webdojo.envs.dojo import Dojo
        >>> from webdojo.types import ToolCall
        >>> async def look() -> str:
        ...     async with webdojo.open_browser(env=Dojo()) as browser:
        ...         session = await browser.open("http://shop-0.localhost/")
        ...         await session.act([ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})])
        ...         observation = await session.observe()
        ...         await session.close()
        ...         return observation.url
        >>> asyncio.run(look())
        'http://shop-0.localhost/'
    """
    images, env = MemoryImages(), env or Web()
    async with env, BrowserPool(config or BrowserConfig(), images, dict(env.hosts)) as pool:
        yield Browser(pool, images, env)


@dataclass(frozen=True)
class Policy:
    """A model that acts: an engine that samples, and the harness through which it sees and speaks."""

    engine: Engine
    harness: Harness
    recipe: Recipe
    """Limits of episodes (`rollout`) and how it samples (`evaluate`)."""


@asynccontextmanager
async def load_policy(
    model: str, browser: Browser, recipe: Recipe | str = "quickstart", overrides: Sequence[str] = ()
) -> AsyncIterator[Policy]:
    """Load a model, or connect to one, until the block ends.

    Args:
        model: `tiny`, a folder in Hugging Face layout, or a hub id.
        browser: whose screenshots it will see.
        recipe: its sections `model`, `engine`, `harness`, `rollout` and `evaluate` count; a name or a `.yaml` file.
        overrides: `section.key=value`, where `recipe` is a name.

    Raises:
        ModelError: the model cannot be loaded.
        ConfigError: the recipe is wrong.

    Example: see `run_episode`.
    """
    from webdojo.loops.models import open_engine
    from webdojo.policy.model.auto_processor import load_processor
    from webdojo.policy.model.folder import model_folder

    recipe = recipe_of(recipe, overrides)
    harness = recipe.build_harness(load_processor(model_folder(model)))
    recipe.engine.check(recipe.harness)
    async with open_engine(recipe, browser.images, model) as engine:
        yield Policy(engine, harness, recipe)


async def run_episode(
    task: Task, policy: Policy, browser: Browser, reward: RewardFunction | None = None, seed: str = ""
) -> Trajectory:
    """Let a policy do a task, to its end.

    Args:
        task: of the browser's environment.
        reward: scores the episode; absent: the environment's own verdict, if it has one, else it has no reward.
        seed: of what the environment draws for the episode.

    Returns:
        The trajectory. Whatever went wrong is its `termination` and `error`.

    Raises:
        TaskError: the task cannot be done or scored here.

    Examples:
        >>> import asyncio, webdojo
        >>> from webdojo.browser.config import BrowserConfig
        >>> from webdojo.envs.dojo import Dojo
        >>> async def play() -> webdojo.Trajectory:
        ...     env, size = Dojo(layout="compact", difficulties=[1]), BrowserConfig(viewport_px=(320, 320))
        ...     async with webdojo.open_browser(size, env) as browser, webdojo.load_policy("tiny", browser) as policy:
        ...         return await webdojo.run_episode(env.tasks("eval", 1, seed=0)[0], policy, browser)
        >>> trajectory = asyncio.run(play())
        >>> trajectory.steps > 0, trajectory.reward.valid
        (True, True)
    """
    recipe, env = policy.recipe, browser.env
    function = reward.resolved(env.reward, env.name) if reward is not None else env.reward
    env.check(task)
    if function is not None:
        function.check(task)
    trajectory = await rollout.run_episode(
        task,
        env=env,
        pool=browser.pool,
        harness=policy.harness,
        actor=lambda task, session: policy.engine,
        config=recipe.rollout,
        sampling=recipe.evaluate.sampling,
        max_steps=recipe.evaluate.horizon(task.difficulty),
        reward=function,
        seed=seed,
    )
    if function is not None:
        async with Scorer(function, browser.images) as scorer:
            await scorer.score(trajectory)
    return trajectory


def train(recipe: Recipe | str, run: str | Path, overrides: Sequence[str] = (), resume: bool = False) -> dict[str, Any]:
    """Run a recipe: warm start, online RL, evaluation.

    Args:
        recipe: a name, a `.yaml` file, or a `Recipe`.
        run: folder that keeps everything of the run.
        overrides: `section.key=value`, where `recipe` is a name or file.
        resume: go on with the run in that folder.

    Returns:
        What `result.json` of the run holds: success with interval by stage, the folder of the final model, and more.

    Raises:
        WebdojoError: what a user can act on, in one line.

    Examples:
        >>> import tempfile, webdojo
        >>> small = ["sft.demos=2", "sft.epochs=1", "train.iterations=0", "evaluate.tasks=2", "evaluate.max_steps=1"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result = webdojo.train("quickstart", f"{folder}/run", small)
        >>> result["success_sft"]["n"]
        2
    """
    from webdojo.cluster.connect import connected
    from webdojo.loops.start import train as train_recipe
    from webdojo.view.report import write_report

    return train_recipe(recipe_of(recipe, overrides), Path(run), resume, connected, write_report)


def evaluate(
    recipe: Recipe | str, model: str, overrides: Sequence[str] = (), run: str | Path | None = None
) -> dict[str, Any]:
    """Measure a model on the evaluation tasks of a recipe.

    Args:
        recipe: a name, a `.yaml` file, or a `Recipe`.
        model: `tiny`, a folder in Hugging Face layout, or a hub id.
        overrides: `section.key=value`, where `recipe` is a name or file.
        run: new folder that keeps the episodes and the result; absent: nothing is kept.

    Returns:
        Success with its 95 % interval, over all tasks and over valid episodes, by difficulty and by website.

    Raises:
        WebdojoError: what a user can act on, in one line.

    Examples:
        >>> import webdojo
        >>> webdojo.evaluate("quickstart", "tiny", ["evaluate.tasks=2", "evaluate.max_steps=1"])["n"]
        2
    """
    from webdojo.cluster.connect import connected
    from webdojo.loops.start import evaluate_model
    from webdojo.view.report import write_report

    with TemporaryDirectory(prefix="webdojo-eval-") as folder:
        place = Path(run or f"{folder}/run")
        result = evaluate_model(recipe_of(recipe, overrides), model, place, False, connected, write_report)
    return dict(result["success_eval"])
