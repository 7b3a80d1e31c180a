"""What makes vectors of texts: the base of every way to do it, and of those that ask a model.

A model may take hours for hundreds of thousands of texts, so each text is embedded once however often it stands there,
and what is done is kept in a file as it comes.
"""

from __future__ import annotations

import hashlib
import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, closing
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from webdojo.errors import TaskError
from webdojo.plugins import Plug
from webdojo.progress import progress

Vectors = NDArray[np.float32]
"""N × d, a row for each text."""
Embed = Callable[[Sequence[str]], Vectors]


class Embedding(Plug):
    """A way to make vectors of texts whose cosine similarity says how alike the texts are."""

    @abstractmethod
    def embed(self, texts: Sequence[str], part: Path | None = None) -> Vectors:
        """A vector for each text, in their order.

        `part` is a file that keeps what is done, so that a call which was killed goes on there; what takes seconds
        leaves it out.

        Raises:
            ConfigError: an option is wrong, or a library is missing.
            EngineError: an endpoint does not do it.
            TaskError: `part` is no such file, or vectors are of different lengths.
        """


class ModelEmbedding(Embedding):
    """A model that embeds texts in batches, each for itself."""

    batch_size: int = Field(default=64, ge=1)
    """Texts at once."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What a vector depends on besides its text: vectors of another identity are not taken from the file."""

    @property
    def concurrency(self) -> int:
        """Batches at once."""
        return 1

    @abstractmethod
    def open(self) -> AbstractContextManager[Embed]:
        """What embeds one batch, from several threads where `concurrency` says so; ends with the block."""

    def embed(self, texts: Sequence[str], part: Path | None = None) -> Vectors:
        keys = [hashlib.sha256(f"{self.identity}\0{text}".encode(errors="replace")).digest() for text in texts]
        with closing(_Kept(part)) as kept:
            known = kept.keys()
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                with self.open() as embed, progress("embedded", len(missing)) as bar:
                    for done in _at_once(embed, _batches([*missing.items()], self.batch_size), self.concurrency):
                        kept.add(done)
                        bar.advance(len(done))
            return kept.vectors(keys)


def _batches(items: Sequence[tuple[bytes, str]], size: int) -> Iterator[Sequence[tuple[bytes, str]]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _at_once(
    embed: Embed, batches: Iterator[Sequence[tuple[bytes, str]]], concurrency: int
) -> Iterator[list[tuple[bytes, Vectors]]]:
    """Key and vector of what is done, batch by batch as they come; after an error no further one begins."""

    def work(batch: Sequence[tuple[bytes, str]]) -> list[tuple[bytes, Vectors]]:
        vectors = embed([text for _, text in batch])
        return [(key, vector) for (key, _), vector in zip(batch, vectors, strict=True)]

    with ThreadPoolExecutor(concurrency) as threads:
        running: set[Future[list[tuple[bytes, Vectors]]]] = set()
        while running := running | {
            threads.submit(work, batch) for batch in islice(batches, concurrency - len(running))
        }:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                yield each.result()


class _Kept:
    """Vectors by key, in a file or in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._database = sqlite3.connect(path or ":memory:")
        try:
            self._database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise TaskError(f"{str(path)!r} cannot keep vectors ({error}): remove it, or name another file") from None

    def keys(self) -> set[bytes]:
        return {key for (key,) in self._database.execute("SELECT key FROM vectors")}

    def add(self, done: Iterable[tuple[bytes, Vectors]]) -> None:
        rows = [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in done]
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def vectors(self, keys: Sequence[bytes]) -> Vectors:
        found = np.empty((len(keys), 0), dtype=np.float32)
        for row, key in enumerate(keys):
            (data,) = self._database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            vector = np.frombuffer(data, dtype="<f4")
            if row == 0:
                found = np.empty((len(keys), len(vector)), dtype=np.float32)
            if len(vector) != found.shape[1]:
                raise TaskError(
                    f"text {row} has a vector of {len(vector)} numbers, and text 0 one of {found.shape[1]}: the model "
                    f"changed under its name; embed them again{f' without {str(self._path)!r}' if self._path else ''}"
                )
            found[row] = vector
        return found

    def close(self) -> None:
        self._database.close()
