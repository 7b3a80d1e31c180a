"""Finds and deletes what a run folder holds and nothing needs: `webdojo runs gc`.

Invariants: nothing is touched while a process writes the run; a screenshot that a stored trajectory or an export in
the folder names stays, and so do the latest and the best checkpoint, and those of the warm start; a process that is
killed in between leaves a run that is as good as before.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from webdojo.loops.keep import surplus
from webdojo.recipe import load_recipe
from webdojo.store.files import write_error
from webdojo.store.run import RunStore

_SHA = re.compile(r"[0-9a-f]{64}")


def garbage(store: RunStore, keep: int | None = None) -> dict[str, list[Path]]:
    """Find the files and folders that can go from a run that nobody writes, by kind; this reads every trajectory.

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
    half_written = store.left_over()
    checkpoints = surplus(store, recipe.train.save_every, limit, recipe.rollout.max_staleness)
    return {
        "checkpoints": [checkpoint.path for checkpoint in checkpoints],
        "screenshots": [f for f in store.images.files() if f.stem not in needed and f not in half_written],
        "half-written": half_written,
    }


def remove(store: RunStore, found: dict[str, list[Path]]) -> None:
    """Delete what `garbage` has found.

    Raises:
        StoreFailure: the disk refuses; what is gone by then is gone.
    """
    for checkpoint in found["checkpoints"]:
        store.checkpoints.remove(checkpoint.name)
    for path in (*found["half-written"], *found["screenshots"]):
        try:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(path, error.strerror) from None


def bytes_on_disk(path: Path) -> int:
    """Bytes that a file, or a folder with all that is in it, takes; what vanishes meanwhile takes none."""
    total = 0
    for file in path.rglob("*") if path.is_dir() else [path]:
        try:
            total += file.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total
