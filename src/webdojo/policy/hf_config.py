"""Options of the engine `hf`, which runs the model inside this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from webdojo.policy.engine import EngineConfig, ServedModel
from webdojo.types import Engine


class HFConfig(EngineConfig):
    """The embedded engine: a `transformers` model that serves many episodes at once."""

    name: str = "hf"

    @asynccontextmanager
    async def open(self, model: ServedModel) -> AsyncIterator[Engine]:
        from webdojo.policy.devices import device_of, engine_dtype
        from webdojo.policy.hf import HFEngine
        from webdojo.policy.loading import load_model

        config = model.config
        loaded, processor = load_model(model.path, dtype=engine_dtype(config))
        loaded.to(device_of(config))  # type: ignore[arg-type]
        engine = HFEngine(loaded, processor, model.images, model.version, seed=model.seed, threads=config.threads)
        try:
            yield engine
        finally:
            engine.close()
