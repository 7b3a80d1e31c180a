"""Finds and deletes what a run folder holds and nothing needs: `webdojo runs gc`.

Invariants: nothing is touched while a process writes the run; a screenshot that a stored trajectory or an export in
the folder names stays, and so do the latest and the best checkpoint, and those of the warm start; a process that is
killed in between leaves a run that is as good as before.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from webdojo.loops.keep import surplus
from webdojo.recipe import load_recipe
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.files import write_error
from webdojo.store.run import RunStore

_SHA = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Garbage:
    """What can go from one run."""

    checkpoints: list[Checkpoint]
    screenshots: list[Path]
    temporary: list[Path]
    """Files and folders that a killed process left half-written."""

    @property
    def paths(self) -> dict[str, list[Path]]:
        """Files and folders by kind."""
        checkpoints = [checkpoint.path for checkpoint in self.checkpoints]
        return {"checkpoints": checkpoints, "screenshots": self.screenshots, "half-written": self.temporary}


def garbage(store: RunStore, keep: int | None = None) -> Garbage:
    """Find what can go from a run that nobody writes; this reads every trajectory.

    Args:
        keep: checkpoints of online training that stay, instead of the recipe's `train.save_total_limit`.

    Raises:
        ConfigError: the recipe of the run cannot be read.
    """
    recipe = load_recipe(str(store.path / "recipe.yaml"), migrate=True)
    limit = recipe.train.save_total_limit if keep is None else keep
    needed = store.image_hashes()
    for export in store.path.glob("*.jsonl"):
        with export.open() as lines:
            needed.update(sha for line in lines for sha in _SHA.findall(line))
    temporary = store.left_over()
    half_written = set(temporary)
    screenshots = [file for file in store.images.files() if file.stem not in needed and file not in half_written]
    checkpoints = surplus(store, recipe.train.save_every, limit, recipe.rollout.max_staleness)
    return Garbage(checkpoints, screenshots, temporary)


def remove(store: RunStore, found: Garbage) -> None:
    """Delete what `garbage` has found.

    Raises:
        StoreFailure: the disk refuses; what is gone by then is gone.
    """
    for checkpoint in found.checkpoints:
        store.checkpoints.remove(checkpoint.name)
    for path in (*found.temporary, *found.screenshots):
        try:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(path, error.strerror) from None


def bytes_on_disk(path: Path) -> int:
    """Bytes that a file, or a folder with all that is in it, takes; what vanishes meanwhile takes none."""
    files: Iterable[Path] = path.rglob("*") if path.is_dir() else [path]
    total = 0
    for file in files:
        try:
            total += file.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total
