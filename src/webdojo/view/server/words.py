"""An index of the texts of a run's trajectories, and of the versions of the weights that acted in them.

Both stand only in the records, so a thread reads all records when somebody first asks, and later what is new. The
index lies in a temporary file of SQLite, which is gone with this process: nothing can go stale, and nothing is written
beside the run. Until all is read, answers cover what has been read so far, and say how much that is.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from webdojo.errors import StoreFailure
from webdojo.redact import redact
from webdojo.store.run import RunStore

BATCH = 200
REST = 0.5
"""The thread pauses so long for each second that it reads, because the machine may be training."""
_TEXT = re.compile(rb'"(?:text|url|title|instruction|reason|answer|error)":("(?:[^"\\]|\\.)+")')
"""A text of a record; inside a string of the record the quotes would be escaped."""
_SECRETS = re.compile(rb'"secrets":(\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])')
_VERSIONS = b'"versions":['

Numbers = NDArray[np.int64]


class Words:
    """The words and versions of one run."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._database = sqlite3.connect("", check_same_thread=False)
        self._clear()

    def _clear(self) -> None:
        self.read = 0
        """How many trajectories have been read."""
        self._last = 0
        self._generation = 0
        self._numbers: list[int] = []
        self._versions: list[int] = []
        self._database.executescript(
            "DROP TABLE IF EXISTS words; CREATE VIRTUAL TABLE words "
            "USING fts5(text, content='', columnsize=0, detail=none, tokenize='unicode61 remove_diacritics 2')"
        )

    def read_on(self, generation: int) -> None:
        """Let the thread read what is not read yet; another `generation` of the run means from the beginning."""
        with self._lock:
            if generation != self._generation:
                self._clear()
                self._generation = generation
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._read, daemon=True)
                self._thread.start()

    def find(self, text: str) -> Numbers:
        """The `seq` of trajectories with words that begin like each of these."""
        words = " ".join(f'"{word}"*' for word in re.findall(r"\w+", text))
        if not words:
            return np.empty(0, dtype=np.int64)
        with self._lock:
            found = self._database.execute("SELECT rowid FROM words WHERE words MATCH ?", (words,))
            return np.fromiter((number for (number,) in found), dtype=np.int64)

    def sampled_by(self, version: int) -> Numbers:
        """The `seq` of trajectories whose last response this version of the weights has sampled."""
        with self._lock:
            return np.array(self._numbers, dtype=np.int64)[np.array(self._versions, dtype=np.int64) == version]

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self._database.close()

    def _read(self) -> None:
        while not self._closed.is_set():
            began = time.monotonic()
            generation, last = self._generation, self._last
            try:
                found = self._store.query(
                    f"SELECT seq, record FROM trajectories WHERE seq > ? ORDER BY seq LIMIT {BATCH}", (last,)
                )
            except StoreFailure:  # whoever asks for a page of the run is told
                return
            texts = [(number, zlib.decompress(record)) for number, record in found]
            words = [(number, " ".join(texts_of(record))) for number, record in texts]
            versions = [version_of(record) for _, record in texts]
            with self._lock:
                if generation == self._generation and words:
                    self._database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", words)
                    self._numbers += [number for number, _ in words]
                    self._versions += versions
                    self._last = words[-1][0]
                    self.read += len(words)
            if len(found) < BATCH:
                return
            self._closed.wait(REST * (time.monotonic() - began))


def texts_of(record: bytes) -> Iterator[str]:
    """The texts of a record in JSON, with its secrets masked."""
    texts = (json.loads(match[1]) for match in _TEXT.finditer(record))
    secrets = _SECRETS.search(record)
    return texts if secrets is None else iter(redact(list(texts), json.loads(secrets[1])))


def version_of(record: bytes) -> int:
    """The version of the weights that sampled the last token; -1 where none was sampled."""
    at = record.rfind(_VERSIONS)
    versions = record[at + len(_VERSIONS) : record.find(b"]", at)] if at >= 0 else b""
    return int(versions.rpartition(b",")[2]) if versions else -1
