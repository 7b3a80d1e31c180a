"""Embeddings by a model of the library `sentence-transformers`, on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from webdojo.errors import ConfigError
from webdojo.tasks.embeddings.embedding import Embed, ModelEmbedding


class SentenceTransformerEmbedding(ModelEmbedding):
    """Any of its models, such as OpenWebRL's `Qwen/Qwen3-Embedding-8B` or OpenWebVoyager's `all-mpnet-base-v2`."""

    name: str = "sentence_transformers"
    model: str = ""
    """Name on the hub, or a folder."""
    revision: str = ""
    """Commit or tag of the hub; empty takes the newest."""
    device: str = ""
    """`cpu`, `cuda`, …; empty takes a GPU where there is one."""
    prompt: str = ""
    """What stands before each text."""

    @property
    def identity(self) -> str:
        return f"sentence_transformers {self.model} {self.revision} {self.prompt}"

    @contextmanager
    def open(self) -> Iterator[Embed]:
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError:
            raise ConfigError(
                "the embedding sentence_transformers needs that library: pip install 'webdojo[embeddings]'"
            ) from None
        if not self.model:
            raise ConfigError("model of the embedding is empty: name one, such as Qwen/Qwen3-Embedding-0.6B")
        try:
            model = SentenceTransformer(self.model, device=self.device or None, revision=self.revision or None)
        except (OSError, ValueError) as error:
            raise ConfigError(f"model {self.model!r} of the embedding cannot be loaded: {error}") from None

        yield lambda texts: model.encode(
            list(texts), prompt=self.prompt or None, batch_size=self.batch_size, show_progress_bar=False
        ).astype(np.float32)
