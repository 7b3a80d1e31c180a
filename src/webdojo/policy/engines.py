"""The engines by the name that a recipe gives them, and how each starts.

What an engine is made of, torch above all, is imported when it opens.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing
from pathlib import Path

from webdojo.agent.harness import HarnessConfig
from webdojo.errors import ConfigError
from webdojo.plugins import Registry, derived_from
from webdojo.policy.engine import (
    MAX_NUM_SEQS,
    ChatConfig,
    EngineConfig,
    Footprint,
    MessageModel,
    ServedModel,
    VLLMConfig,
)
from webdojo.types import Engine

logger = logging.getLogger("webdojo")


class HF(EngineConfig):
    """The embedded engine: a `transformers` model inside this process, which serves many episodes at once."""

    name: str = "hf"

    def memory(self, held: Footprint, gpu: int) -> tuple[int, int]:
        full = held.weights + min(held.concurrency, MAX_NUM_SEQS) * held.context
        return full, full

    @asynccontextmanager
    async def open(self, model: ServedModel) -> AsyncIterator[Engine]:
        from webdojo.policy.hf.engine import HFEngine
        from webdojo.policy.model.loading import device_of, engine_dtype, load_model

        config = model.config
        loaded, processor = load_model(model.path, dtype=engine_dtype(config))
        loaded.to(device_of(config))  # type: ignore[arg-type]
        engine = HFEngine(loaded, processor, model.images, model.version, seed=model.seed, threads=config.threads)
        with closing(engine):
            yield engine


class VLLM(VLLMConfig):
    """vLLM servers, started here or by somebody else."""

    @asynccontextmanager
    async def open(self, model: ServedModel) -> AsyncIterator[Engine]:
        from webdojo.policy.vllm.engine import VLLMEngine

        async with aclosing(VLLMEngine(model, self)) as engine:
            yield engine


class Chat(ChatConfig):
    """A model behind an API."""

    def check(self, harness: HarnessConfig) -> None:
        from webdojo.policy.chat.endpoint import Endpoint

        Endpoint(self)
        if self.native_tools and not harness.native_tools:
            raise ConfigError(
                f"engine.tool_calls is 'native', but the harness {harness.name!r} has tools of its own: "
                "set harness.name=openwebrl or engine.tool_calls=text"
            )

    @asynccontextmanager
    async def open(self, model: ServedModel) -> AsyncIterator[Engine]:
        from webdojo.policy.chat.client import ChatClient
        from webdojo.policy.chat.engine import ChatEngine
        from webdojo.policy.model.auto_processor import load_processor
        from webdojo.policy.model.folder import model_folder

        codec = load_processor(model_folder(model.path))
        async with ChatClient(self, model.account) as client:
            yield ChatEngine(client, codec, model.images)
            logger.info("%s", client.totals())

    def check_messages(self) -> None:
        from webdojo.policy.chat.endpoint import Endpoint

        Endpoint(self)

    def silence(self) -> str:
        from webdojo.policy.chat.endpoint import Endpoint

        async def ask() -> str:
            endpoint = Endpoint(self)
            try:
                return await endpoint.silence()
            finally:
                await endpoint.http.aclose()

        return asyncio.run(ask())

    @asynccontextmanager
    async def open_messages(self, model: ServedModel, account: Path | None = None) -> AsyncIterator[MessageModel]:
        from webdojo.policy.chat.client import ChatClient

        config = self
        if account is not None and not self.cache:
            config = self.model_copy(update={"cache": str(account.with_suffix(".answers.sqlite"))})
        async with ChatClient(config, account) as client:
            yield client
            logger.info("%s's %s", account.stem if account is not None else "judge", client.totals())


ENGINES: Registry[type[EngineConfig]] = Registry(
    "webdojo.engines", "engine", *derived_from(EngineConfig), {"hf": HF, "vllm": VLLM, "chat": Chat}
)
"""What `engine.name` of a recipe may be."""
