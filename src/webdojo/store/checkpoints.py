"""Checkpoints: folders that are complete or not there.

A checkpoint is written to `<name>.tmp`, flushed, and renamed to `<name>`; where one of that name is
there already, it steps aside as `<name>.old` until the new one has the name. `repair` puts right
what a killed process left between these steps. `checkpoint.json` inside a folder holds the caller's
`meta` and a running number, by which `latest` knows the newest. Names that end in .tmp or .old are
therefore not for callers.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from webdojo.errors import StoreError
from webdojo.store.files import sync

RECORD = "checkpoint.json"


class Checkpoint(NamedTuple):
    """A complete checkpoint: its folder, and what its writer said about it."""

    path: Path
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        return self.path.name


class CheckpointFolder:
    """The checkpoints of one run, inside `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, name: str, write: Callable[[Path], None], meta: dict[str, Any]) -> Checkpoint:
        """Let `write` fill an empty folder, then give it its name in one step.

        An older checkpoint of that name is replaced. If `write` raises, nothing changes.

        Raises:
            StoreError: a name that is no plain folder name, or the disk refuses.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or name.endswith((".tmp", ".old")):
            raise StoreError(
                f"checkpoint name {name!r} must be of letters, digits, '.', '_' and '-', and not end in .tmp or .old"
            )
        target, temporary, old = self.folder / name, self.folder / f"{name}.tmp", self.folder / f"{name}.old"
        number = 1 + max((_record(path)["number"] for path in self._complete()), default=0)
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
            write(temporary)
            record = {"number": number, "saved": time.time(), "meta": meta}
            (temporary / RECORD).write_text(json.dumps(record, indent=2))
            for path in temporary.rglob("*"):
                sync(path)
            sync(temporary)
            if target.exists():
                target.rename(old)
            temporary.rename(target)
            sync(self.folder)
        except OSError as error:
            raise StoreError(f"cannot write checkpoint {target}: {error.strerror}; free space or fix access") from None
        shutil.rmtree(old, ignore_errors=True)
        return Checkpoint(target, meta)

    def get(self, name: str) -> Checkpoint:
        """The checkpoint of that name; StoreError lists the names there are."""
        path = self.folder / name
        if path not in self._complete():
            names = ", ".join(c.name for c in self.all()) or "none yet"
            raise StoreError(f"no checkpoint {name!r} in {self.folder} (there: {names})")
        return Checkpoint(path, _record(path)["meta"])

    def all(self) -> list[Checkpoint]:
        """Complete checkpoints, oldest first."""
        records = sorted(((_record(path), path) for path in self._complete()), key=lambda pair: pair[0]["number"])
        return [Checkpoint(path, record["meta"]) for record, path in records]

    def remove(self, name: str) -> None:
        """Delete one; it leaves the list before its files go."""
        path = self.get(name).path
        trash = path.rename(self.folder / f"{name}.tmp")
        shutil.rmtree(trash)

    def repair(self) -> None:
        """Finish or undo what a killed writer left. Call it only while nobody else writes."""
        for old in self.folder.glob("*.old"):
            target = old.with_suffix("")
            if target.exists():
                shutil.rmtree(old)
            else:
                old.rename(target)
        for temporary in self.folder.glob("*.tmp"):
            shutil.rmtree(temporary)

    def _complete(self) -> list[Path]:
        return [r.parent for r in self.folder.glob(f"*/{RECORD}") if r.parent.suffix not in (".tmp", ".old")]


def _record(path: Path) -> dict[str, Any]:
    file = path / RECORD
    try:
        record: dict[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} cannot be read ({error}); the checkpoint is damaged: delete its folder") from None
    return record
