"""Answers of endpoints by request, on disk: what was paid for once is not paid for again.

The key is a digest of the whole request (address, model, messages with their images, sampling).
Requests that may be answered differently each time, because they sample without a seed, also count
how often this process has asked them: the k-th time gets the k-th answer, so the members of a group
stay different, and a run that is done again gets the same answers in the same order.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webdojo.errors import StoreError
from webdojo.policy.chat.answer import Answer


class AnswerCache:
    """A file of answers, which several processes may share.

    Raises:
        StoreError: the file is something else, or cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._asked: Counter[str] = Counter()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, timeout=30, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"cannot use {file} as cache ({error}): name another file in engine.cache") from None

    def key(self, url: str, body: dict[str, Any], repeatable: bool) -> str:
        """Return the name of a request's answer.

        Args:
            repeatable: the same request is to get the same answer, however often it is asked.
        """
        digest = hashlib.sha256(json.dumps([url, body], sort_keys=True).encode()).hexdigest()
        if repeatable:
            return digest
        self._asked[digest] += 1
        return f"{digest}/{self._asked[digest]}"

    def get(self, key: str) -> Answer | None:
        """Return the answer of that name, if there is one.

        Raises:
            StoreError: the file is damaged.
        """
        try:
            row = self._database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            return None if row is None else Answer.model_validate_json(row[0])
        except (sqlite3.Error, ValidationError) as error:
            reason = " ".join(str(error).split())
            raise StoreError(f"the cache {self._file} is damaged ({reason}): delete it") from None

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; the first one of a name stays."""
        try:
            self._database.execute(
                "INSERT INTO answers (key, answer) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (key, answer.model_dump_json()),
            )
        except sqlite3.Error as error:
            raise StoreError(f"cannot write to the cache {self._file} ({error}): check disk and access") from None

    def close(self) -> None:
        """Release the file."""
        self._database.close()
