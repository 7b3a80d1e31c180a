"""Embeddings by a model behind an OpenAI-compatible `/embeddings`: OpenAI, vLLM, SGLang, Ollama, TEI, llama.cpp.

A fault that may pass is tried again after a growing pause, or after as long as the endpoint asks for: limits, server
errors, timeouts, dropped connections, answers that cannot be read. One that will not pass is one line. The key is sent
in the Authorization header and leaves this module nowhere else.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from pydantic import BaseModel, Field

from webdojo.errors import ConfigError, EngineError, Missing
from webdojo.tasks.embeddings.embedding import Embed, ModelEmbedding, Vectors

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
LONGEST_RETRY_AFTER_S = 600.0
"""An endpoint that asks to wait for longer is not waited for."""

logger = logging.getLogger("webdojo")


class _Row(BaseModel):
    index: int
    embedding: list[float]


class _Body(BaseModel):
    data: list[_Row]


class _Failed(Exception):
    """A try that brought no vectors, and may another time; `wait_s` is what the endpoint asked for."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


class EndpointEmbedding(ModelEmbedding):
    """Asks an endpoint; several batches at once."""

    name: str = "endpoint"
    base_url: str = ""
    """Address of an OpenAI-compatible API with its version, such as `http://127.0.0.1:8000/v1`."""
    model: str = ""
    """Name of the model there, such as `Qwen/Qwen3-Embedding-8B`."""
    api_key_env: str = Field(default="", pattern=r"^([A-Z_][A-Z0-9_]*)?$")
    """Environment variable that holds the key; empty sends none. The key itself is written nowhere."""
    dimensions: int = Field(default=0, ge=0)
    """Length of the vectors, for models that can shorten theirs; 0 takes what the model gives."""
    max_concurrency: int = Field(default=8, ge=1)
    """Requests at once."""
    timeout_s: float = Field(default=120, gt=0)
    """One try."""
    max_retries: int = Field(default=5, ge=0)
    """Further tries after a fault that may pass."""

    @property
    def identity(self) -> str:
        return f"endpoint {self.base_url.rstrip('/')} {self.model} {self.dimensions}"

    @property
    def concurrency(self) -> int:
        return self.max_concurrency

    @contextmanager
    def open(self) -> Iterator[Embed]:
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        local = urlsplit(self.base_url).hostname in ("localhost", "127.0.0.1", "::1")
        with httpx.Client(headers=headers, timeout=self.timeout_s, trust_env=not local) as http:
            yield lambda texts: self._ask(http, texts, key)

    def _key(self) -> str:
        """The key, once the options are right."""
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ConfigError(
                f"base_url of the embedding is {parts._replace(netloc=parts.hostname or '').geturl()!r}: give the "
                "address of an API alone, such as http://127.0.0.1:8000/v1"
            )
        if not self.model:
            raise ConfigError(f"model of the embedding is empty: name a model of {self.base_url}")
        key = os.environ.get(self.api_key_env, "").strip() if self.api_key_env else ""
        if self.api_key_env and not key:
            raise Missing(
                f"api_key_env of the embedding names {self.api_key_env}, which is not in the environment: set it"
            )
        return key

    def _ask(self, http: httpx.Client, texts: Sequence[str], key: str) -> Vectors:
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        body |= {"dimensions": self.dimensions} if self.dimensions else {}
        where = f"endpoint {self.base_url} ({self.model})"
        for tried in range(1, self.max_retries + 2):
            try:
                return self._once(http, body, len(texts))
            except _Failed as failed:
                reason = str(failed).replace(key, "[key]") if key else str(failed)
                if tried > self.max_retries or (failed.wait_s or 0) > LONGEST_RETRY_AFTER_S:
                    raise EngineError(f"{where} failed {tried} times (max_retries), last: {reason}") from None
                pause = min(FIRST_PAUSE_S * 2 ** (tried - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1)
                pause = pause if failed.wait_s is None else failed.wait_s
                logger.info("%s: %s; try %d in %.1f s", where, reason, tried + 1, pause)
                time.sleep(pause)
            except EngineError as error:
                raise EngineError(f"{where}: {str(error).replace(key, '[key]') if key else error}") from None
        raise AssertionError("the last try raises")

    def _once(self, http: httpx.Client, body: dict[str, Any], count: int) -> Vectors:
        """Send a request once; `_Failed` where it may be tried again, EngineError where that is no use."""
        try:
            response = http.post(f"{self.base_url.rstrip('/')}/embeddings", json=body)
        except httpx.HTTPError as error:
            raise _Failed(f"{type(error).__name__}: {error}") from None
        if response.status_code != 200:
            said = f"status {response.status_code}: {' '.join(response.text.split())[:300]}"
            if response.status_code in (408, 409, 429) or response.status_code >= 500:
                asked = response.headers.get("retry-after", "")
                raise _Failed(said, float(asked) if asked.replace(".", "", 1).isdigit() else None)
            raise EngineError(said)
        try:
            rows = sorted(_Body.model_validate(response.json()).data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        except ValueError as error:
            raise _Failed(f"no embeddings ({str(error).splitlines()[0]})") from None
        if [row.index for row in rows] != list(range(count)) or vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise _Failed(f"{len(rows)} embeddings came for {count} texts, or some are no finite numbers")
        return vectors
