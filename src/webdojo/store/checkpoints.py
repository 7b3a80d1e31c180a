"""Checkpoints: folders that are either complete or absent.

A checkpoint is written to `<name>.tmp`, flushed, and renamed to `<name>`; an older one of that name is renamed to
`<name>.old` first and deleted last. `repair` cleans up what a killed process left between these steps.
`checkpoint.json` inside a folder holds the caller's `meta` and a running number, the order of `all`.
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
from webdojo.store.files import sync, writing

RECORD = "checkpoint.json"


class Checkpoint(NamedTuple):
    """A complete checkpoint: its folder, and what its writer stored about it."""

    path: Path
    meta: dict[str, Any]
    number: int

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
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or name.endswith((".tmp", ".old")):
            raise StoreError(
                f"checkpoint name {name!r} must be of letters, digits, '.', '_' and '-', and not end in .tmp or .old"
            )
        target, temporary, old = self.folder / name, self.folder / f"{name}.tmp", self.folder / f"{name}.old"
        number = 1 + max((checkpoint.number for checkpoint in self.all()), default=0)
        with writing(target):
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
            try:
                write(temporary)
                record = {"number": number, "saved": time.time(), "meta": meta}
                (temporary / RECORD).write_text(json.dumps(record, indent=2))
                for path in temporary.rglob("*"):
                    sync(path)
                sync(temporary)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)  # a full disk needs the room
                raise
            if target.exists():
                target.rename(old)
            temporary.rename(target)
            sync(self.folder)
        shutil.rmtree(old, ignore_errors=True)
        return Checkpoint(target, meta, number)

    def get(self, name: str) -> Checkpoint:
        """The checkpoint of that name; the StoreError for an unknown name lists those that exist."""
        found = {checkpoint.name: checkpoint for checkpoint in self.all()}
        if name not in found:
            raise StoreError(f"no checkpoint {name!r} in {self.folder} (there: {', '.join(found) or 'none yet'})")
        return found[name]

    def all(self) -> list[Checkpoint]:
        """Complete checkpoints, oldest first, except those that another process removes meanwhile."""
        found = []
        for file in self.folder.glob(f"*/{RECORD}"):
            if file.parent.suffix in (".tmp", ".old"):
                continue
            try:
                record = json.loads(file.read_text())
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                raise StoreError(
                    f"{file} cannot be read ({error}); the checkpoint is damaged: delete its folder"
                ) from None
            found.append(Checkpoint(file.parent, record["meta"], record["number"]))
        return sorted(found, key=lambda checkpoint: checkpoint.number)

    def remove(self, name: str) -> None:
        """Delete one; it is renamed first, so that no other process sees it half deleted."""
        path = self.get(name).path
        with writing(path):
            shutil.rmtree(path.rename(self.folder / f"{name}.tmp"))

    def repair(self) -> None:
        """Finish or undo what a killed writer left. Only the process that holds the lock may call it."""
        for path in self.left_over():
            shutil.rmtree(path)
        for old in self.folder.glob("*.old"):
            old.rename(old.with_suffix(""))

    def left_over(self) -> list[Path]:
        """Folders that a killed writer left and that `repair` would delete."""
        replaced = [old for old in self.folder.glob("*.old") if old.with_suffix("").exists()]
        return [*replaced, *self.folder.glob("*.tmp")]
