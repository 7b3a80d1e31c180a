"""From seeds, or from sites, to the file of a set and its report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from webdojo.loops.construction.attempt import attempt
from webdojo.loops.construction.construct import construct
from webdojo.loops.construction.crawl import Crawls
from webdojo.loops.construction.folder import finish, open_folder
from webdojo.loops.construction.propose import AT_ONCE, Options, propose
from webdojo.loops.construction.writer import LeftOut, Writer, open_writer
from webdojo.progress import progress
from webdojo.recipe import Recipe
from webdojo.store.images import MemoryImages
from webdojo.types import Task


def build_set(recipe: Recipe, model_path: str, seeds: Sequence[Task], out: Path) -> dict[str, Any]:
    """Build the set of all seeds (`construct`) by the model of a recipe's engine, and return its report (`finish`).

    Raises:
        StoreError: `out` is something else.
        EngineError: the model fails again and again; `BudgetError` where its budget is spent.
    """
    folder = open_folder(out)

    async def work() -> tuple[list[Task], LeftOut]:
        async with open_writer(recipe, model_path, folder) as writer:
            with _counting("seeds", len(seeds), writer) as count:
                return await construct(seeds, writer, count), writer.left_out

    return finish(out, *asyncio.run(work()), seeds=len(seeds))


def propose_set(
    recipe: Recipe,
    model_path: str,
    sites: Sequence[str],
    out: Path,
    options: Options,
    most_pages: int = 4,
    attempt_by: str = "",
) -> dict[str, Any]:
    """Propose tasks for sites (`propose`), which the recipe's environment and browser visit, and return the report.

    `attempt_by` names the recipe by which an agent attempts each (`attempt`); empty attempts none. Raises as
    `build_set`, and BrowserError where the browser is lost.
    """
    folder = open_folder(out)
    crawls = Crawls(folder, most_pages)

    async def work() -> tuple[list[Task], LeftOut]:
        from webdojo.browser.pool import BrowserPool

        async with (
            open_writer(recipe, model_path, folder) as writer,
            recipe.env as env,
            BrowserPool(recipe.browser, MemoryImages(AT_ONCE), dict(env.hosts)) as pool,
        ):
            with _counting("sites", len(sites), writer) as count:
                look = partial(crawls.look, env=env, pool=pool)
                return await propose(sites, writer, look, env.kind_of, options, count), writer.left_out

    tasks, left_out = asyncio.run(work())
    if attempt_by and tasks:
        tasks = attempt(attempt_by, tasks, folder, left_out)
    return finish(out, tasks, left_out, sites=len(sites))


@contextmanager
def _counting(what: str, total: int, writer: Writer) -> Iterator[Callable[[int], None]]:
    """A bar, and what is called after each seed or site with the number of its tasks."""
    made = 0
    with progress(what, total) as bar:

        def count(tasks: int) -> None:
            nonlocal made
            made += tasks
            bar.advance(1, tasks=made, left_out=len(writer.left_out))

        yield count
