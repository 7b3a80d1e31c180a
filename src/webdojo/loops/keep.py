"""What of a run stays on the disk, and what nothing needs (`webdojo runs gc`).

The best checkpoint is the one whose policy succeeded most often on the held-out tasks. Where no checkpoint was measured
on them (`evaluate.every`), it goes by the training episodes that began under a policy: they are of other tasks each
time and not equally many, so the lower end of the 95 % interval decides. They have ended `rollout.max_staleness`
updates later, so as many checkpoints wait for that. The best so far is never removed, so a run that is killed at any
point goes on with the same one.

Invariants of `garbage` and `remove`: a screenshot that a stored trajectory or an export in the folder names stays, and
so do the checkpoints of the warm start; a process that is killed in between leaves a run that is as good as before.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from webdojo.evaluation.metrics import wilson95
from webdojo.loops.run_folder import EVALUATION, RL
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.checkpoints import Checkpoint
from webdojo.store.files import writing
from webdojo.store.run import RunStore

_SHA = re.compile(r"[0-9a-f]{64}")


class Scored(NamedTuple):
    checkpoint: Checkpoint
    success: float
    """Share of the held-out tasks, or else of the valid training episodes."""
    heldout: bool


def saved(store: RunStore) -> dict[int, Checkpoint]:
    """The checkpoints of online training by iteration."""
    return {found.meta["iteration"]: found for found in store.checkpoints.all() if found.meta["phase"] == RL}


def best(store: RunStore, wait: int = 0) -> Scored | None:
    """The checkpoint of the most successful policy, the later of equals, without the last `wait`."""
    there = saved(store)
    for iteration in sorted(there, reverse=True)[:wait]:
        del there[iteration]
    measured = {int(row["step"]): row["success"] for row in store.metrics(EVALUATION)}
    if heldout := not there.keys().isdisjoint(measured):
        success = by = measured
    else:
        outcomes = rolled_out(store)
        success = {iteration: fmean(each) for iteration, each in outcomes.items()}
        by = {iteration: wilson95(sum(each), len(each))[0] for iteration, each in outcomes.items()}
    known = [iteration for iteration in sorted(there, reverse=True) if iteration in success]
    found = max(known, key=lambda iteration: by[iteration], default=None)
    return None if found is None else Scored(there[found], success[found], heldout)


def rolled_out(store: RunStore) -> dict[int, list[bool]]:
    """Whether the valid training episodes that began under each policy succeeded, by the iteration that made it."""
    outcomes: defaultdict[int, list[bool]] = defaultdict(list)
    for row in store.rows(RL):
        if row.valid:
            outcomes[row.iteration - 1].append(bool(row.success))
    return outcomes


def surplus(store: RunStore, recipe: Recipe, limit: int | None = None) -> list[Checkpoint]:
    """The checkpoints that need not stay (`staying`), oldest first; `limit` replaces `train.save_total_limit`."""
    config, max_staleness = recipe.train, recipe.rollout.max_staleness
    there, found = saved(store), best(store, wait=1 + max_staleness)
    iteration = None if found is None else found.checkpoint.meta["iteration"]
    limit = config.save_total_limit if limit is None else limit
    stay = staying(there, iteration, config.save_every, limit, max_staleness)
    return [there[iteration] for iteration in sorted(there.keys() - stay)]


def staying(saved: Collection[int], best: int | None, every: int, limit: int, max_staleness: int) -> set[int]:
    """Which of the iterations that are saved stay saved: the latest, the `best`, and multiples of `every`.

    `limit` bounds how many may stay because of `every`, together with the others, the last ones first; 0 is any number.
    So many as `max_staleness` before the latest stay until their episodes have ended.
    """
    stay = set(sorted(saved)[-1 - max_staleness :]) | ({best} if best is not None else set())
    for iteration in sorted(saved, reverse=True):
        if iteration % every == 0 and (not limit or len(stay) < limit):
            stay.add(iteration)
    return stay


def remove_surplus(store: RunStore, recipe: Recipe) -> None:
    for checkpoint in surplus(store, recipe):
        store.checkpoints.remove(checkpoint.name)


def garbage(store: RunStore, keep: int | None = None) -> dict[str, list[Path]]:
    """Find what can go from a run that nobody writes, by kind; `keep` replaces `train.save_total_limit`."""
    recipe = load_recipe(str(store.path / "recipe.yaml"), migrate=True)
    needed = store.image_hashes()
    for export in store.path.glob("*.jsonl"):
        with export.open() as lines:
            needed.update(sha for line in lines for sha in _SHA.findall(line))
    half_written = store.left_over()
    return {
        "checkpoints": [checkpoint.path for checkpoint in surplus(store, recipe, keep)],
        "screenshots": [f for f in store.images.files() if f.stem not in needed and f not in half_written],
        "half-written": half_written,
    }


def remove(store: RunStore, found: dict[str, list[Path]]) -> None:
    """Delete what `garbage` has found; where the disk refuses, what is gone by then is gone."""
    for checkpoint in found["checkpoints"]:
        store.checkpoints.remove(checkpoint.name)
    for path in (*found["half-written"], *found["screenshots"]):
        with writing(path):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def bytes_on_disk(path: Path) -> int:
    """Bytes that a file, or a folder with all that is in it, takes; what vanishes meanwhile takes none."""
    total = 0
    for file in path.rglob("*") if path.is_dir() else [path]:
        try:
            total += file.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total
