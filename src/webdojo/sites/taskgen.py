"""Draws tasks from sites: deterministic, balanced over kinds and difficulties, and fast."""

from __future__ import annotations

import random
from collections.abc import Sequence

from webdojo.config import Recipe, TasksConfig
from webdojo.errors import TaskError
from webdojo.sites import COMPACT_KINDS, HELDOUT_SEED, KINDS, catalog_goals
from webdojo.sites.goal import Goal
from webdojo.sites.phrasing import phrase, restate
from webdojo.sites.site import Site, load_site
from webdojo.sites.wording import Phrasings
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


def check_tasks(recipe: Recipe) -> None:
    """Whether there are tasks to evaluate on, to train on, and for each stage.

    Raises:
        TaskError: as `levels_of`, or a stage draws none of the difficulties that there are.
    """
    config = recipe.tasks
    levels_of(config.kinds, config.difficulties, config.layout)
    levels = levels_of(config.kinds, _drawn(config), config.layout)
    reached = sorted({level for of_kind in levels.values() for level in of_kind})
    for number, stage in enumerate(recipe.train.stages):
        if not any(stage.difficulty_sampling.get(level, 1) for level in reached):
            raise TaskError(
                f"train.stages.{number}.difficulty_sampling {stage.difficulty_sampling} leaves none of the "
                f"difficulties {reached} of the training tasks: give one of them a weight"
            )


def train_tasks(config: TasksConfig, n: int, seed: int) -> list[Task]:
    """Tasks on training sites: seeds 0..train_sites-1 of each kind, difficulties in the ratio of the recipe."""
    return make_tasks(config.kinds, range(config.train_sites), n, seed, _drawn(config), config.layout)


def _drawn(config: TasksConfig) -> list[int]:
    """The difficulties of training tasks, each as often as its weight."""
    return [d for d in config.difficulties for _ in range(config.difficulty_sampling.get(d, 1))]


def heldout_tasks(config: TasksConfig, n: int, seed: int) -> list[Task]:
    """Tasks on sites that training never sees."""
    seeds = range(HELDOUT_SEED, HELDOUT_SEED + config.heldout_sites)
    return make_tasks(config.kinds, seeds, n, seed, config.difficulties, config.layout)


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
