"""Draws tasks from sites, balanced over kinds and difficulties, and the splits of the embedded web.

A split is a stream of tasks for training, or for one of three ways of being new:

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
from webdojo.sites import HELDOUT_SEED, LAYOUTS, layout_of
from webdojo.sites.catalog_goals import draw_goal
from webdojo.sites.instructions.phrasing import Phrasings, phrase, restate
from webdojo.sites.kinds import KINDS, load_site, parse_host
from webdojo.sites.pages import CatalogSite
from webdojo.types import Task

DIFFICULTIES = (1, 2, 3, 4)
"""Difficulties of the goals on the grid of the compact layout."""
MOST_FACTS = 9
"""Most facts of all other goals."""
_TRIES = 30
"""Draws until a task is new; a small site may have no new one left."""

_DRAWS = 300
"""Draws of each difficulty in which a task is looked for by its instruction; they take less than a second."""

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
    "test_kinds": Split(HELDOUT_KINDS, _seeds(4)),
}


def make_tasks(
    kinds: Sequence[str],
    site_seeds: dict[str, Sequence[int]] | Sequence[int],
    n: int,
    seed: int,
    difficulties: Sequence[int] = DIFFICULTIES,
    layout: str = "auto",
    one_per_site: bool = False,
) -> list[Task]:
    """Draw `n` tasks; kinds alternate, and difficulties alternate within a kind.

    Tasks differ from one another as long as the sites have enough of them; after that they repeat. The seeds of sites
    are for all kinds alike or by kind; a difficulty that stands there twice is drawn twice as often. With
    `one_per_site` no two tasks are on the same site, and too few sites are a TaskError.
    """
    return list(draw_tasks(kinds, site_seeds, n, seed, difficulties, layout, one_per_site))


def draw_tasks(
    kinds: Sequence[str],
    site_seeds: dict[str, Sequence[int]] | Sequence[int],
    n: int,
    seed: int,
    difficulties: Sequence[int],
    layout: str,
    one_per_site: bool,
) -> Iterator[Task]:
    """The tasks of `make_tasks` one by one; whatever is wrong with the arguments is raised before the first."""
    seeds = dict(site_seeds) if isinstance(site_seeds, dict) else dict.fromkeys(kinds, site_seeds)
    levels = levels_of(kinds, difficulties, layout)
    for kind in kinds:
        if not seeds.get(kind):
            raise TaskError(f"no site seeds for kind {kind!r}")
    rng = random.Random(f"tasks-{seed}")
    apart = {kind: rng.sample(seeds[kind], len(seeds[kind])) for kind in kinds} if one_per_site else {}
    for i, kind in enumerate(kinds):
        wanted = -(-(n - i) // len(kinds))
        if one_per_site and wanted > len(apart[kind]):
            raise TaskError(
                f"{n} tasks on as many sites need {wanted} of kind {kind!r}, and there are {len(apart[kind])}"
            )
    known: set[str] = set()
    for i in range(n):
        kind = kinds[i % len(kinds)]
        difficulty = levels[kind][i // len(kinds) % len(levels[kind])]
        for _ in range(_TRIES):
            site_seed = apart[kind][i // len(kinds)] if one_per_site else rng.choice(seeds[kind])
            task = draw_task(load_site(kind, site_seed, layout), difficulty, rng)
            if task.id not in known:
                break
        known.add(task.id)
        yield task


def stream(
    split: str,
    *,
    seed: int = 0,
    kinds: Sequence[str] = (),
    difficulties: Sequence[int] = (),
    layout: Literal["auto", "compact", "grid"] = "auto",
) -> Iterator[Task]:
    """An endless stream of the tasks of a split, by default of all its kinds and all difficulties that they have."""
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
    rng = random.Random(f"{split}-{seed}")

    def tasks() -> Iterator[Task]:
        known: set[int] = set()
        while True:
            seeds = [(kind, rng.choice(SPLITS[split].seeds)) for kind in chosen for _ in range(_SITES_AT_ONCE)]
            sites = [load_site(kind, each, layout) for kind, each in seeds]
            for _ in range(_TASKS_OF_EACH):
                for site in rng.sample(sites, len(sites)):
                    task = draw_task(site, rng.choice(levels[site.kind]), rng, SPLITS[split].phrasings)
                    if hash(task.id) not in known:
                        known.add(hash(task.id))
                        yield task

    return tasks()


def task_that_says(instruction: str, host: str, layout: str) -> Task | None:
    """A task of a site with this instruction, whatever its capitals and its last stop; None where no draw has it."""
    site = load_site(*parse_host(host), layout)
    levels = range(1, hardest(site.kind, layout) + 1)
    rng, wanted = random.Random(host), _plain(instruction)
    drawn = (draw_task(site, level, rng) for _ in range(_DRAWS) for level in levels)
    return next((task for task in drawn if _plain(task.instruction) == wanted), None)


def _plain(instruction: str) -> str:
    return " ".join(instruction.casefold().rstrip(" .!?").split())


def levels_of(kinds: Sequence[str], difficulties: Sequence[int], layout: str) -> dict[str, list[int]]:
    """The difficulties that each kind of site has in a layout, of those that are wanted."""
    for kind in kinds:
        if kind not in KINDS:
            raise TaskError(f"unknown kind of site {kind!r}; kinds are {', '.join(KINDS)}")
    most = {kind: hardest(kind, layout) for kind in kinds}
    levels = {kind: [d for d in difficulties if 1 <= d <= most[kind]] for kind in kinds}
    if not kinds or not all(levels.values()):
        raise TaskError(f"difficulties {list(difficulties)}: each kind needs one, from 1 to that of {most}")
    return levels


def hardest(kind: str, layout: str) -> int:
    """The most facts that a goal of a kind of site has in a layout."""
    return DIFFICULTIES[-1] if layout_of(kind, layout) in ("compact", "grid") else MOST_FACTS


def draw_task(site: CatalogSite, difficulty: int, rng: random.Random, phrasings: Phrasings = "plain") -> Task:
    goal = draw_goal(site, difficulty, rng)
    instruction, phrasing = phrase(goal, rng, phrasings)
    layout = {"layout": site.layout} if site.layout in ("auto", "grid") else {}
    return Task(
        id=f"{site.host}:{goal.name}:{goal.key.lower().replace(' ', '-')}:{phrasing}",
        instruction=instruction,
        start_url=site.url(),
        website=site.host,
        kind=site.kind,
        difficulty=goal.difficulty,
        evaluator=goal.evaluator,
        metadata={
            "goal": goal.name,
            "restated": restate(goal),
            "phrasing": phrasing,
            "plan": goal.plan,
            "rubric": goal.rubric,
            **layout,
        },
    )
