"""The splits of the embedded web: streams of tasks for training and for three ways of being new.

| split | kinds | sites | phrasings |
|---|---|---|---|
| `train` | all but the held-out | seeds below `HELDOUT_SEED` | those of training |
| `valid` | as train | held-out | those of training |
| `test` | as train | held-out, others | those of training |
| `test_phrasings` | as train | held-out, others | held-out |
| `test_kinds` | held-out | all held-out | those of training |

No host is in two splits. A stream never ends and never repeats a task while its sites have new ones; the
same split, seed and options give the same stream.
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from webdojo.errors import TaskError
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.design.render import LAYOUTS
from webdojo.sites.instructions.templates import Phrasings
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.taskgen import MOST_FACTS, draw_task, levels_of
from webdojo.types import Task

HELDOUT_KINDS = ("admin", "places")
_BLOCK = 100_000
_SITES_AT_ONCE, _TASKS_OF_EACH = 4, 12
"""Making a site costs more than drawing a task, so a stream makes a few sites and draws several tasks from each."""


@dataclass(frozen=True)
class Split:
    """Which sites and phrasings a split's tasks are drawn from."""

    kinds: tuple[str, ...]
    seeds: range
    phrasings: Phrasings = "train"


def _seeds(block: int) -> range:
    return range(HELDOUT_SEED + block * _BLOCK, HELDOUT_SEED + (block + 1) * _BLOCK)


_TRAINED = tuple(kind for kind in KINDS if kind not in HELDOUT_KINDS)

SPLITS: dict[str, Split] = {
    "train": Split(_TRAINED, range(HELDOUT_SEED)),
    "valid": Split(_TRAINED, _seeds(1)),
    "test": Split(_TRAINED, _seeds(2)),
    "test_phrasings": Split(_TRAINED, _seeds(3), phrasings="heldout"),
    "test_kinds": Split(tuple(kind for kind in KINDS if kind in HELDOUT_KINDS), _seeds(4)),
}


def stream(
    split: str,
    *,
    seed: int = 0,
    kinds: Sequence[str] = (),
    difficulties: Sequence[int] = (),
    layout: Literal["auto", "compact"] = "auto",
) -> Iterator[Task]:
    """An endless stream of the tasks of a split.

    Args:
        split: a key of `SPLITS`.
        seed: the same seed draws the same tasks.
        kinds: kinds to draw from; by default all of the split's.
        difficulties: numbers of facts to draw from; by default 1 to the most that a kind has.
        layout: layout of the pages that the tasks are about.

    Raises:
        TaskError: unknown split or layout, or kinds or difficulties that the split does not have.
    """
    if split not in SPLITS:
        near = difflib.get_close_matches(split, SPLITS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"splits: {', '.join(SPLITS)}"
        raise TaskError(f"unknown split {split!r} of the embedded web; {hint}")
    if layout not in LAYOUTS:
        raise TaskError(f"unknown layout {layout!r}; layouts are {', '.join(LAYOUTS)}")
    chosen = tuple(kinds) or SPLITS[split].kinds
    for kind in chosen:
        if kind not in SPLITS[split].kinds:
            raise TaskError(f"split {split!r} has no sites of kind {kind!r}; it has {', '.join(SPLITS[split].kinds)}")
    levels = levels_of(chosen, difficulties or range(1, MOST_FACTS + 1), layout)
    return _stream(SPLITS[split], chosen, levels, layout, random.Random(f"{split}-{seed}"))


def _stream(
    split: Split, kinds: Sequence[str], levels: dict[str, list[int]], layout: str, rng: random.Random
) -> Iterator[Task]:
    known: set[int] = set()
    while True:
        seeds = [(kind, rng.choice(split.seeds)) for kind in kinds for _ in range(_SITES_AT_ONCE)]
        sites = [load_site(kind, seed, layout) for kind, seed in seeds]
        for _ in range(_TASKS_OF_EACH):
            for site in rng.sample(sites, len(sites)):
                task = draw_task(site, rng.choice(levels[site.kind]), rng, split.phrasings)
                if task is not None and hash(task.id) not in known:
                    known.add(hash(task.id))
                    yield task
