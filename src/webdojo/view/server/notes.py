"""What the reader writes about trajectories: notes and tags, in a file of their own in the run folder.

The file is read again before each change, so that two viewers on one run keep one another's notes.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from webdojo.errors import ConfigError, StoreFailure, one_line
from webdojo.store.files import write_atomic
from webdojo.types import Record

FILE = "notes.json"


class Note(Record):
    """What the reader says about one trajectory."""

    text: str = Field(default="", max_length=20_000)
    tags: list[str] = Field(default_factory=list, max_length=20)


class Notes:
    """The notes of one run. Calls are safe from any thread."""

    def __init__(self, run: Path) -> None:
        self._path = run / FILE
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._notes: dict[str, Note] = {}

    @property
    def stamp(self) -> tuple[int, int] | None:
        """Changes with the file."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino

    def all(self) -> dict[str, Note]:
        """The notes by the id of their trajectory.

        Raises:
            StoreFailure: the file holds something else.
        """
        with self._lock:
            return self._read()

    def _read(self) -> dict[str, Note]:
        if (stamp := self.stamp) != self._stamp:
            try:
                found = json.loads(self._path.read_text()) if stamp is not None else {}
                self._notes = {id: Note.model_validate(note) for id, note in found.items()}
            except (ValueError, AttributeError) as error:
                raise StoreFailure(f"{self._path} holds no notes ({one_line(error)}): mend or remove it") from None
            self._stamp = stamp
        return self._notes

    def of(self, id: str) -> Note:
        return self.all().get(id, Note())

    def write(self, id: str, given: Any) -> Note:
        """Keep a note, or forget it where it is empty.

        Raises:
            ConfigError: `given` is no note.
            StoreFailure: the disk refuses it.
        """
        try:
            note = Note.model_validate(given)
        except ValidationError as error:
            raise ConfigError(f"this is no note: {one_line(error)}") from None
        note.tags = list(dict.fromkeys(filter(None, map(str.strip, note.tags))))
        with self._lock:
            notes = dict(self._read())
            notes.pop(id, None)
            if note.text or note.tags:
                notes[id] = note
            content = {key: each.model_dump() for key, each in notes.items()}
            write_atomic(self._path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        return note

    def tags(self) -> list[str]:
        """All tags that are in use."""
        return sorted({tag for note in self.all().values() for tag in note.tags})
