"""Draws tasks from sites: deterministic, balanced over kinds and difficulties, and fast."""

from __future__ import annotations

import random
from collections.abc import Sequence

from webdojo.errors import TaskError
from webdojo.sites import COMPACT_KINDS, catalog_goals
from webdojo.sites.goal import Goal
from webdojo.sites.instructions.phrasing import phrase, restate
from webdojo.sites.instructions.templates import Phrasings
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.site import Site
from webdojo.types import Task

DIFFICULTIES = (1, 2, 3, 4)
"""Difficulties of the goals on the grid of the compact layout."""
MOST_FACTS = 9
"""Most facts of all other goals."""
_TRIES = 30
"""Draws until a task is new; a small site may have no new one left."""


def make_tasks(
    kinds: Sequence[str],
    site_seeds: dict[str, Sequence[int]] | Sequence[int],
    n: int,
    seed: int,
    difficulties: Sequence[int] = DIFFICULTIES,
    layout: str = "auto",
) -> list[Task]:
    """Draw `n` tasks; kinds alternate, and difficulties alternate within a kind.

    Tasks differ from one another as long as the sites have enough of them; after that they repeat.

    Args:
        kinds: kinds of site to draw from.
        site_seeds: seeds of the sites, for all kinds alike or by kind.
        n: how many.
        seed: the same arguments and seed give the same tasks.
        difficulties: from 1..9, for compact shops and wikis 1..4; one that stands there twice is drawn twice as often.
        layout: of the pages that the tasks are about, `auto` or `compact`; only some kinds tell them apart.

    Raises:
        TaskError: no kinds, sites or difficulties, or ones that do not exist.
    """
    seeds = dict(site_seeds) if isinstance(site_seeds, dict) else dict.fromkeys(kinds, site_seeds)
    levels = levels_of(kinds, difficulties, layout)
    for kind in kinds:
        if not seeds.get(kind):
            raise TaskError(f"no site seeds for kind {kind!r}")
    rng = random.Random(f"tasks-{seed}")
    tasks: list[Task] = []
    known: set[str] = set()
    for i in range(n):
        kind = kinds[i % len(kinds)]
        difficulty = levels[kind][i // len(kinds) % len(levels[kind])]
        for _ in range(_TRIES):
            task = draw_task(load_site(kind, rng.choice(seeds[kind]), layout), difficulty, rng)
            if task.id not in known:
                break
        known.add(task.id)
        tasks.append(task)
    return tasks


def levels_of(kinds: Sequence[str], difficulties: Sequence[int], layout: str) -> dict[str, list[int]]:
    """The difficulties that each kind of site has in a layout, of those that are wanted.

    Raises:
        TaskError: there is no such kind, or a kind has none of them.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise TaskError(f"unknown kind of site {kind!r}; kinds are {', '.join(KINDS)}")
    levels = {kind: [d for d in difficulties if 1 <= d <= hardest(kind, layout)] for kind in kinds}
    if not kinds or not all(levels.values()):
        most = {kind: hardest(kind, layout) for kind in kinds}
        raise TaskError(f"difficulties {list(difficulties)}: each kind needs one, from 1 to that of {most}")
    return levels


def hardest(kind: str, layout: str) -> int:
    """The most facts that a goal of a kind of site has in a layout."""
    return DIFFICULTIES[-1] if layout == "compact" and kind in COMPACT_KINDS else MOST_FACTS


def draw_task(site: Site, difficulty: int, rng: random.Random, phrasings: Phrasings = "plain") -> Task:
    """Draw one task of a site."""
    goal = draw_goal(site, difficulty, rng)
    instruction, phrasing = phrase(goal, rng, phrasings)
    layout = {"layout": site.layout} if site.layout == "auto" else {}
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


def draw_goal(site: Site, difficulty: int, rng: random.Random) -> Goal:
    """Draw one goal of a site."""
    return site.own_goal(difficulty, rng) or catalog_goals.draw_goal(site, difficulty, rng)
