"""Engines on a cluster: replicas of the recipe's engine, each in a process of its own, as one engine.

A request goes to the least busy replica that has the current weights. One that dies takes nothing with it: its requests
are asked again of another, once, and it serves again when Ray has started it elsewhere and it has those weights.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from webdojo.cluster.images import AskedImages
from webdojo.cluster.replica import Lost, Replica, Replicas
from webdojo.cluster.roles import actor_of, image_server, received, sent
from webdojo.cluster.weights import Version, publish
from webdojo.errors import EngineLost
from webdojo.loops.models import open_engine as open_here
from webdojo.policy.engine import ServedModel, VLLMConfig
from webdojo.policy.model.loading import engine_dtype, load_model
from webdojo.recipe import Recipe
from webdojo.store.images import ImageStore
from webdojo.types import Engine, EngineHealth, Prompt, Response, Sampling, TrainableEngine

TRIES = 2
"""How often a request is asked in all where replicas die under it."""

logger = logging.getLogger("webdojo")


@dataclass(frozen=True)
class Habits:
    """What a `TrainableEngine` says of itself."""

    sleeps_during_update: bool
    updates_asleep: bool


class EngineServer:
    """The process of one replica; it holds the recipe's engine."""

    def __init__(self, recipe: str, images: Any, seed: int) -> None:
        self._recipe = received(recipe)
        self._images = AskedImages(images)
        self._seed = seed
        self._engine: TrainableEngine | None = None
        self._exit = AsyncExitStack()

    async def start(self) -> Habits:
        """Open the engine with the weights that `model.path` names."""
        if self._engine is None:
            recipe = self._recipe
            model = ServedModel(
                path=recipe.model.path,
                config=recipe.model,
                images=self._images,
                max_context_tokens=recipe.rollout.max_context_tokens,
                seed=self._seed,
            )
            self._engine = cast(TrainableEngine, await self._exit.enter_async_context(recipe.engine.open(model)))
        return Habits(self._engine.sleeps_during_update, self._engine.updates_asleep)

    def _open(self) -> TrainableEngine:
        if self._engine is None:
            raise EngineLost("this process was started again and has no engine yet")
        return self._engine

    async def ping(self) -> EngineHealth | None:
        return None if self._engine is None else self._engine.health()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        return await self._open().generate(prompt, sampling)

    async def update_weights(self, version: Version) -> None:
        weights = await asyncio.to_thread(version.weights)
        await self._open().update_weights(weights, version.version)

    async def sleep(self) -> None:
        await self._open().sleep()

    async def wake_up(self) -> None:
        await self._open().wake_up()


@dataclass(frozen=True)
class _Member:
    """One replica, asked by itself."""

    engine: ClusterEngine
    replica: Replica

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        return await self.engine.ask(self.replica, prompt, sampling)


class ClusterEngine:
    """All replicas as one engine, a `TrainableEngine`. It answers when the first `update_weights` has come."""

    def __init__(self, actors: Sequence[Any], dtype: torch.dtype, heartbeat_timeout_s: float) -> None:
        self.replicas = Replicas(
            Replica(f"engine {n + 1} of {len(actors)}", actor, self._prepare, heartbeat_timeout_s)
            for n, actor in enumerate(actors)
        )
        self._habits = Habits(sleeps_during_update=False, updates_asleep=False)
        self._dtype = dtype
        self._published: Version | None = None
        self._told: set[Replica] = set()
        """Those that have the published weights, and sleep where the others do."""
        self._asleep = False
        self._telling = asyncio.Lock()
        self.again = 0
        """Requests that were asked again."""

    async def __aenter__(self) -> ClusterEngine:
        await self.replicas.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.replicas.__aexit__()

    @property
    def sleeps_during_update(self) -> bool:
        return self._habits.sleeps_during_update

    @property
    def updates_asleep(self) -> bool:
        return self._habits.updates_asleep

    @property
    def members(self) -> Sequence[Engine]:
        return [_Member(self, replica) for replica in self.replicas.up]

    def health(self) -> EngineHealth:
        """The replicas together, as their last heartbeats told."""
        known = [each.status for each in self.replicas.up if each.status is not None]
        waiting = sum(health.waiting for health in known)
        errors = [f"{each.name}: {each.error}" for each in self.replicas.all if each.error]
        return EngineHealth(
            alive=len(errors) < len(self.replicas.all),
            version=self._published.version if self._published is not None else 0,
            running=sum(each.busy for each in self.replicas.all) - waiting,
            waiting=waiting,
            error="; ".join(errors),
        )

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """Sample a response. A replica that dies over it costs a second try, and EngineLost says that both died."""
        for tried in range(TRIES):
            replica = await self.replicas.least_busy()
            try:
                return await self.ask(replica, prompt, sampling)
            except EngineLost:
                if tried + 1 == TRIES:
                    raise
                self.again += 1
        raise AssertionError("a request has one try at least")

    async def ask(self, replica: Replica, prompt: Prompt, sampling: Sampling) -> Response:
        replica.busy += 1
        try:
            return cast(Response, await replica.call("generate", prompt, sampling))
        except Lost as lost:
            raise EngineLost(str(lost)) from None
        finally:
            replica.busy -= 1

    async def update_weights(self, weights: Mapping[str, torch.Tensor], version: int) -> None:
        """Serve other weights from now on; returns when every replica that lives does.

        One that is lost meanwhile, or does not take them where others do, answers nothing before it has them.
        """
        published = await asyncio.to_thread(publish, weights, version, self._dtype)
        async with self._telling:
            before, self._published = self._published, published
            try:
                await self._tell("update_weights", published)
            except Exception:
                self._published = before
                raise

    async def sleep(self) -> None:
        async with self._telling:
            self._asleep = True
            await self._tell("sleep")

    async def wake_up(self) -> None:
        async with self._telling:
            self._asleep = False
            await self._tell("wake_up")

    def close(self) -> None:
        """Its replicas end with the `async with` block."""

    async def _prepare(self, replica: Replica) -> None:
        """Tell a process that has just started what the others were told."""
        self._told.discard(replica)
        self._habits = await replica.call("start")
        async with self._telling:
            if self._published is not None:
                await replica.call("update_weights", self._published)
            if self._asleep:
                await replica.call("sleep")
            self._told.add(replica)

    async def _tell(self, method: str, *args: Any) -> None:
        """Call a method of all replicas. One that fails where others do not is started again; where all do, it
        raises."""
        told = [*self._told]
        done = await asyncio.gather(*(each.call(method, *args) for each in told), return_exceptions=True)
        failed = {each: error for each, error in zip(told, done, strict=True) if isinstance(error, Exception)}
        refused = [error for error in failed.values() if not isinstance(error, Lost)]
        if refused and len(failed) == len(told):
            raise refused[0]
        for replica, error in failed.items():
            self._told.discard(replica)
            if not isinstance(error, Lost):
                logger.warning("%s is started again: %s", replica.name, error)
                replica.end()


@asynccontextmanager
async def open_engine(
    recipe: Recipe,
    images: ImageStore,
    model_path: str,
    attempt: int = 0,
    version: int = 0,
    account: Path | None = None,
) -> AsyncIterator[Engine]:
    """The recipe's engine on the cluster, with the arguments of `loops.models.open_engine`.

    Each replica opens `model.path` where it runs; weights of another folder, which may be on this machine alone, are
    sent. An engine that only asks servers which are there already is opened here.
    """
    engine_config = recipe.engine
    if not engine_config.can_train or (isinstance(engine_config, VLLMConfig) and engine_config.urls):
        async with open_here(recipe, images, model_path, attempt, version, account) as here:
            yield here
        return
    role, server, dtype = recipe.cluster.engines, image_server(images.folder), engine_dtype(recipe.model)
    seeds = [recipe.seed + (attempt << 32) + (n << 48) for n in range(role.replicas)]
    actors = [actor_of(EngineServer, role, sent(recipe), server, seed) for seed in seeds]
    async with ClusterEngine(actors, dtype, recipe.cluster.heartbeat_timeout_s) as engine:
        model, _ = await asyncio.to_thread(load_model, model_path, dtype)
        await engine.update_weights(model.state_dict(), version)
        del model
        yield engine
