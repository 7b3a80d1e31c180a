"""What judges said afterwards about a run's episodes (`judgements/`), each verdict read when it is looked at."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from webdojo.loops.judging.verdicts import logs_of
from webdojo.types import Reward


class Place(NamedTuple):
    """Where a verdict stands in its log."""

    start: int
    end: int
    success: bool | None
    """None: the verdict is invalid."""


class Verdicts:
    """The verdicts in the logs of one run, by judge and episode. Calls are safe from any thread."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._places: dict[Path, dict[str, Place]] = {}
        self._ends: dict[Path, int] = {}

    @property
    def revision(self) -> int:
        """Grows with every verdict."""
        return sum(self._ends.values())

    def refresh(self) -> None:
        """Read where the verdicts stand that are new; a log that was replaced by a shorter one is read again."""
        with self._lock:
            for log in logs_of(self._run).values():
                if log.stat().st_size < self._ends.get(log, 0):
                    del self._ends[log], self._places[log]
                self._read(log, self._places.setdefault(log, {}))

    def _read(self, log: Path, places: dict[str, Place]) -> None:
        at = self._ends.get(log, 0)
        with log.open("rb") as file:
            file.seek(at)
            for line in file:
                if not line.endswith(b"\n"):  # it is being written
                    break
                found = json.loads(line)
                reward = found["reward"]
                success = bool(reward["success"]) if reward.get("valid", True) else None
                places[found["id"]] = Place(at, at + len(line), success)
                at += len(line)
        self._ends[log] = at

    def of(self, id: str) -> dict[str, Reward]:
        """The verdicts on an episode, by the judge's name and fingerprint."""
        logs = {file: judge for judge, file in logs_of(self._run).items()}
        found = {}
        for log, places in self._places.items():
            if id in places and log in logs:
                with log.open("rb") as file:
                    file.seek(places[id].start)
                    line = file.read(places[id].end - places[id].start)
                found[logs[log]] = Reward.model_validate(json.loads(line)["reward"])
        return found

    def disagreed(self, stored: dict[str, bool | None]) -> Iterator[str]:
        """The episodes on which two judges disagree; `stored` has the run's own verdicts, None where invalid."""
        verdicts: dict[str, set[bool]] = {}
        for each in ({id: place.success for id, place in places.items()} for places in self._places.values()):
            for id, success in each.items():
                if success is not None:
                    verdicts.setdefault(id, set()).add(success)
        return (id for id, said in verdicts.items() if len(said | ({stored.get(id)} - {None})) > 1)
