"""One task in a browser of this machine, by a model or an endpoint, told step by step.

The first Ctrl-C ends the episode where the agent is asked next; what was done by then is kept like any
episode. A second one ends the program.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from webdojo.agent.harnesses import make_harness
from webdojo.browser.find import find_chromium
from webdojo.browser.pool import BrowserPool
from webdojo.config import Recipe, dump_recipe
from webdojo.errors import ConfigError, EngineError, SiteError
from webdojo.loops.models import make_engine
from webdojo.loops.phases import ACT
from webdojo.policy.chat.address import Address
from webdojo.policy.chat.client import ChatClient
from webdojo.policy.chat.engine import ChatEngine
from webdojo.policy.chat.spending import Totals
from webdojo.policy.model.loading import TINY, model_folder
from webdojo.policy.model.processor import Processor
from webdojo.rollout.episode import run_episode
from webdojo.sites import parse_host
from webdojo.sites.server import SiteServer
from webdojo.store.info import run_info
from webdojo.store.run import RunStore
from webdojo.types import Engine, Prompt, Response, Sampling, Task, Trajectory, Turn

PHASE = ACT


def check_display(headless: bool) -> None:
    """Raise ConfigError where a window is wanted and there is no screen to show it on."""
    shown = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not headless and not shown:
        raise ConfigError(
            "--headful shows a window, and there is no display (DISPLAY and WAYLAND_DISPLAY are empty): "
            "leave it out, or put `xvfb-run` before the command"
        )


def task_at(instruction: str, url: str) -> Task:
    """A task on any page, embedded sites included.

    Raises:
        ConfigError: no instruction, or not an http address.
    """
    if not instruction.strip():
        raise ConfigError("the task is empty: say what is to be done")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname if parts.scheme in ("http", "https") else None), parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise ConfigError(f"--url is {url!r}: give the address to start at, such as https://example.org/")
    try:
        kind, _ = parse_host(host) if parts.scheme == "http" and port in (None, 80) else ("", 0)
    except SiteError:
        kind = ""
    return Task(id=f"act-{uuid4().hex[:8]}", instruction=instruction, start_url=url, website=host, kind=kind)


def recipe_of(model: str) -> str:
    """Which recipe says how a model sees and speaks: that of the run whose checkpoint it is, else a usual one.

    Args:
        model: as `load_model`; empty is an endpoint.
    """
    if model and (trained := Path(model).resolve().parent.parent / "recipe.yaml").is_file():
        return str(trained)
    return "quickstart" if model == TINY else "openwebrl"


@dataclass
class Acted:
    """What came of it."""

    trajectory: Trajectory | None
    """None where Ctrl-C came before the first turn."""
    totals: Totals | None
    """What the endpoint was asked and paid, where there is one."""
    interrupted: bool


async def act(task: Task, recipe: Recipe, model: str, folder: Path, on_turn: Callable[[Turn], None]) -> Acted:
    """Run one episode and store it, with its screenshots, in a new run folder.

    Args:
        recipe: its sections `browser`, `harness`, `rollout` (limits), `evaluate` (sampling, steps) and, where
            `model` is empty, `endpoint` count.
        model: as `load_model`; empty asks the endpoint. `top_k`, which most endpoints refuse, is not sent there.
        on_turn: told of each turn.

    Raises:
        ConfigError: no display for a window, or an endpoint that cannot be used.
        WebdojoError: the folder, the model or the browser cannot be had.
    """
    check_display(recipe.browser.headless)
    sampling = recipe.evaluate.sampling
    if not model:
        _check_endpoint(recipe)
        sampling = sampling.model_copy(update={"top_k": 0})
    harness = make_harness(recipe.harness, Processor.load(model_folder(model or TINY)))
    info = run_info(recipe.seed, find_chromium(recipe.browser)) | {"model": model or TINY}
    async with AsyncExitStack() as stack:
        store = stack.enter_context(RunStore.create(folder, dump_recipe(recipe), info))
        sites = stack.enter_context(SiteServer())
        client = None
        if model:
            local = make_engine(recipe, store.images, model)
            stack.callback(local.close)
            watched = Watched(local)
        else:
            client = await stack.enter_async_context(ChatClient(recipe.endpoint))
            watched = Watched(ChatEngine(client, harness.codec, store.images))
        pool = await stack.enter_async_context(BrowserPool(recipe.browser, store.images, sites.hosts))
        episode = asyncio.create_task(
            run_episode(
                task,
                pool=pool,
                harness=harness,
                actor=lambda task, session: watched,
                config=recipe.rollout,
                sampling=sampling,
                max_steps=recipe.evaluate.max_steps,
                server=sites,
                layout=recipe.tasks.layout,
                on_turn=on_turn,
            )
        )
        trajectory = None
        with _interruptible(watched, episode):
            try:
                trajectory = await episode
            except asyncio.CancelledError:
                if not watched.stopped:
                    raise
        if trajectory is not None:
            store.add_trajectory(trajectory, PHASE, 0)
        return Acted(trajectory, client.totals() if client is not None else None, watched.stopped)


class Watched:
    """An engine that ends its episode when it is told to stop, also in the middle of an answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stop = asyncio.Event()
        self.answered = 0

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """Answer no more."""
        self._stop.set()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """As the engine; EngineError once stopped."""
        asking = asyncio.create_task(self._engine.generate(prompt, sampling))
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if self.stopped:
                raise EngineError("interrupted")
            self.answered += 1
            return asking.result()
        finally:
            asking.cancel()
            stopping.cancel()
            await asyncio.gather(asking, stopping, return_exceptions=True)


def _check_endpoint(recipe: Recipe) -> None:
    """Raise ConfigError for what would leave a run folder behind if it were found later."""
    Address(recipe.endpoint)
    if recipe.endpoint.tool_calls == "native" and recipe.harness.name != "openwebrl":
        raise ConfigError(
            f"endpoint.tool_calls is 'native', but the harness {recipe.harness.name!r} has tools of its own: "
            "set harness.name=openwebrl or endpoint.tool_calls=text"
        )


@contextmanager
def _interruptible(watched: Watched, episode: asyncio.Task[Trajectory]) -> Iterator[None]:
    """The first Ctrl-C inside the block stops the agent; before its first answer there is nothing to keep."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        watched.stop()
        if not watched.answered:
            episode.cancel()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
