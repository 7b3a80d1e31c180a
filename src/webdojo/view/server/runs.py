"""The runs that are looked at, each opened when somebody asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from webdojo.errors import StoreError
from webdojo.loops.runs import runs_in
from webdojo.redact import redact
from webdojo.store.lock import writer
from webdojo.store.run import DATABASE, RunStore, TrajectoryRow
from webdojo.types import Trajectory
from webdojo.view.page import visible
from webdojo.view.server.index import Index, Mask, Selection, outcome
from webdojo.view.server.notes import Note, Notes
from webdojo.view.server.query import Query
from webdojo.view.server.tokens import tokenizer_of
from webdojo.view.server.verdicts import Verdicts
from webdojo.view.server.words import Words

LOOK_EVERY_S = 2.0
MOST_ROWS = 200
LOAD_S = 0.05
"""How long the first list waits for the columns of all trajectories; those of a few thousand are read by then."""


class NotFound(StoreError):
    """The address names something that is not there."""


class ViewedRun:
    """One run with what is kept in memory to look at it."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.store = RunStore.open(path, readonly=True)
        self.index = Index(self.store)
        self.words = Words(self.store)
        self.verdicts = Verdicts(path)
        self.notes = Notes(path)
        self._loader: threading.Thread | None = None

    def close(self) -> None:
        if self._loader is not None:
            self._loader.join()
        self.words.close()
        self.store.close()

    def revision(self) -> list[int | bool]:
        """Changes whenever a process writes to the run, or begins or ends to."""
        ((version,),) = self.store.query("PRAGMA data_version")
        return [version, writer(self.store.path).alive]

    @cached_property
    def tokenizer(self) -> Tokenizer | None:
        """That of the run's model, if it is on this machine."""
        return tokenizer_of(self.store)

    def select(self, query: Query) -> Selection:
        """What a query finds; one of words or versions finds what has been read so far."""
        self.index.refresh()
        if query.text or query.version is not None:
            self.words.read_on(self.index.reset)
        if query.disagree:
            self.verdicts.refresh()
        key = (
            self.index.generation,
            self.words.read if query.text or query.version is not None else 0,
            self.verdicts.revision if query.disagree else 0,
            self.notes.stamp if query.tag else None,
        )
        return self.index.select(query, key, lambda: self._masks(query))

    def _masks(self, query: Query) -> list[Mask]:
        masks = []
        if query.text:
            masks.append(self.index.mask_of_numbers(self.words.find(query.text)))
        if query.version is not None:
            masks.append(self.index.mask_of_numbers(self.words.sampled_by(query.version)))
        if query.disagree:
            stored = {row.id: row.success if row.valid else None for row in self.index.rows}
            masks.append(self.index.mask_of(self.verdicts.disagreed(stored)))
        if query.tag:
            masks.append(self.index.mask_of(id for id, note in self.notes.all().items() if query.tag in note.tags))
        return masks

    def listed(self, query: Query, offset: int, limit: int) -> dict[str, Any]:
        """Some of the trajectories that a query finds, as a JSON object.

        `reading` is how many trajectories the answer covers, null where it covers all: words and versions are being
        read, or, before the first answer, the columns themselves; then the newest are shown at once.
        """
        limit = min(limit, MOST_ROWS)
        reading: int | None = 0
        if query == Query() and not self._load():
            total = every = sum(self.store.count().values())
            rows, facets = self.index.newest(offset, limit), {}
        else:
            found = self.select(query)
            rows = found.part(offset, limit)
            total, every, facets = len(found.order), len(self.index), found.facets
            unread = (query.text or query.version is not None) and self.words.read < every
            reading = self.words.read if unread else None
        notes = self.notes.all()
        return {
            "total": total,
            "all": every,
            "reading": reading,
            **({} if offset or not limit else {"facets": facets, "tags": self.notes.tags()}),
            "rows": [
                _row(row, instruction, notes.get(row.id))
                for (_, row), instruction in zip(rows, self.index.instructions(rows), strict=True)
            ],
        }

    def _load(self) -> bool:
        """Whether the columns have been read; a thread reads them when this is asked for the first time."""
        if self._loader is None:
            self._loader = threading.Thread(target=self.index.refresh, daemon=True)
            self._loader.start()
            self._loader.join(LOAD_S)
        return self.index.generation > 0

    def trajectory(self, id: str) -> Trajectory:
        """One trajectory with its secrets masked.

        Raises:
            NotFound: there is none.
        """
        if not self.store.query("SELECT 1 FROM trajectories WHERE id = ?", (id,)):
            raise NotFound(f"no trajectory {id!r} in {self.name}")
        found = self.store.trajectory(id)
        return redact(found, found.secrets)

    def neighbours(self, query: Query, id: str) -> tuple[int, int, str, str]:
        """Where a trajectory stands in what a query finds, from 1; of how many; and the ids before and after it.

        Where the query does not find it, its place is 0.
        """
        order, _, rows, _ = self.select(query)
        position = self.index.position(id)
        found = [] if position is None else (order == position).nonzero()[0].tolist()
        if not found:
            return 0, len(order), "", ""
        place = found[0]
        ids = [rows[order[k]].id if 0 <= k < len(order) else "" for k in (place - 1, place + 1)]
        return place + 1, len(order), ids[0], ids[1]


def _row(row: TrajectoryRow, instruction: str, note: Note | None) -> dict[str, Any]:
    shown = {name: visible(value) for name, value in row._asdict().items()}
    return shown | {
        "id": row.id,
        "outcome": outcome(row),
        "instruction": visible(instruction[:300]),
        "tags": note.tags if note is not None else [],
        "noted": note is not None and bool(note.text),
    }


class Runs:
    """All runs in some folders, by a name that stands in addresses. Calls are safe from any thread."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self.stopping = threading.Event()
        """Set when the server ends, so that streams of events end, too."""
        self._lock = threading.Lock()
        self._open: dict[str, ViewedRun] = {}
        self._looked = 0.0
        self._paths: dict[str, Path] = {}
        for folder in folders:  # an error for a folder that is not there, or holds no run
            runs_in(folder)

    def paths(self) -> dict[str, Path]:
        """The folders of all runs by name; the second of a name has that of its folder before it."""
        with self._lock:
            return self._look()

    def _look(self) -> dict[str, Path]:
        if time.monotonic() - self._looked >= LOOK_EVERY_S:
            found: dict[str, Path] = {}
            for folder in self._folders:
                for path in [folder] if (folder / DATABASE).is_file() else sorted(folder.glob("*")):
                    if (path / DATABASE).is_file() and path.resolve() not in found.values():
                        found[_new_name(path.resolve(), found)] = path.resolve()
            self._paths, self._looked = found, time.monotonic()
        return self._paths

    def run(self, name: str) -> ViewedRun:
        """A run by its name, opened at the first call.

        Raises:
            NotFound: there is none.
        """
        with self._lock:
            path = self._look().get(name)
            if path is None:
                raise NotFound(f"no run {name!r} here")
            if name not in self._open:
                self._open[name] = ViewedRun(name, path)
            return self._open[name]

    def close(self) -> None:
        for run in self._open.values():
            run.close()
        self._open.clear()


def _new_name(path: Path, taken: dict[str, Path]) -> str:
    """The folder's name, with as many names of the folders above it as make it unlike the others."""
    for count in range(1, len(path.parts)):
        name = "~".join(path.parts[-count:])
        if name not in taken:
            return name
    raise AssertionError("two runs in one folder")
