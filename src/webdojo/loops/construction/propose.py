"""New tasks for web sites: self-instruct (OpenWebVoyager, arXiv 2410.19609, §3.3 and D).

    for each site
        what it shows             by a crawl, or as it was seen before
        queries                   by the model, from that and from examples
        those too similar to others of the site are left out, and more are asked for
        an easier and a harder variant of each, with fewer and with more facts

The paper takes 10 queries a site and cycle, compares them by sentence embeddings, and has people write easier ones.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, model_validator

from webdojo.errors import TaskError
from webdojo.gather import gather_or_cancel
from webdojo.loops.construction.crawl import Visited
from webdojo.loops.construction.writer import MATERIAL, Writer
from webdojo.reward.judges.case import quoted
from webdojo.reward.judges.verdict import record
from webdojo.tasks.novelty import THRESHOLD, Similarity, nearest, rouge_l
from webdojo.tasks.rubric import Group, Line, Rubric, same, with_rubric
from webdojo.types import Task

AT_ONCE = 8
"""Sites that are worked on together."""
ROUNDS = 3
"""So often a site's queries are asked for, where those that came were too few or too similar."""
OWN_EXAMPLES, OTHER_EXAMPLES = 5, 3
"""Examples that the model is shown: of the site itself, and of others."""
VARIANT_OF = "variant_of"
"""The key of `Task.metadata` with the id of the task that one is an easier or harder variant of."""
VARIANT = "variant"
"""The key of `Task.metadata` that says which: `easier` or `harder`."""

QUERIES = f"""\
You write tasks for a web agent: things that people want from one website, each of which the agent can do there today.
You are given the website, what some of its pages show, and examples of tasks.

Rules:
- Every task can be done on this website alone, without logging in, paying, or sending anything to anybody.
- Name what the pages show: products, places, articles, filters. Do not invent what may not exist.
- Whether a task is done can be checked: it asks for an answer, or for a page to be brought into a certain state.
- The tasks are of the same kind as the examples, differ from all of them and from one another, and use different parts
  of the website. Make some short and some with several conditions.
- `facts` are what must hold when the task is done, one thing that can be checked each; a task asks for each of them.

{MATERIAL}

Answer with one JSON object and nothing else:
{{"tasks": [{{"task": "...", "facts": ["...", "..."]}}]}}
"""

VARIANTS = f"""\
You vary a task for a web agent. You are given a website, what some of its pages show, and a task with the facts that
must hold when it is done. Write two other tasks of the same subject on the same website:
- an easier one, with fewer facts; null where the task has a single fact;
- a harder one, with one to three facts more, which must hold together and be possible on this website.
Both can be done without logging in, paying, or sending anything to anybody.

{MATERIAL}

Answer with one JSON object and nothing else:
{{"easier": {{"task": "...", "facts": ["..."]}}, "harder": {{"task": "...", "facts": ["...", "..."]}}}}
"""


class Query(BaseModel, frozen=True):
    """A task as the model proposes it."""

    task: Line
    facts: Annotated[list[Line], Field(min_length=1)]

    @model_validator(mode="after")
    def _no_fact_twice(self) -> Query:
        assert self.rubric
        return self

    @property
    def rubric(self) -> Rubric:
        return Rubric(groups=[Group(id=1, facts=self.facts)])


class Queries(BaseModel, frozen=True):
    tasks: Annotated[list[Query], Field(min_length=1)]


class Variants(BaseModel, frozen=True):
    easier: Query | None
    harder: Query

    def fit(self, query: Query) -> bool:
        """Whether the easier one has fewer facts and the harder one more, and both say something else."""
        facts, all_of_them = len(query.facts), [each for each in (self.easier, self.harder) if each is not None]
        easier = facts == 1 if self.easier is None else len(self.easier.facts) < facts
        texts = {same(query.task), *(same(each.task) for each in all_of_them)}
        return easier and len(self.harder.facts) > facts and len(texts) == len(all_of_them) + 1


@dataclass(frozen=True)
class Options:
    """What is wanted of each site."""

    per_site: int = 10
    """Queries, variants not counted."""
    variants: bool = True
    threshold: float = THRESHOLD
    """A query that is so similar to another one of its site is left out."""
    similarity: Similarity = rouge_l
    examples: Sequence[Task] = field(default_factory=list)
    seed: int = 0
    """Of the draw of examples."""


def read_sites(given: str) -> list[str]:
    """Addresses: one that is given itself, or those of a file with one a line.

    Raises:
        TaskError: the file cannot be read, or a line is no address.
    """
    lines = [given]
    if not given.startswith(("http://", "https://")):
        try:
            lines = Path(given).read_text().split()
        except (OSError, UnicodeDecodeError) as error:
            raise TaskError(
                f"sites {given!r} cannot be read: {error}; give one address, such as https://example.org/, or a file"
            ) from None
    sites = [line if "://" in line else f"https://{line}/" for line in dict.fromkeys(lines)]
    for site in sites:
        if urlsplit(site).scheme not in ("http", "https") or not urlsplit(site).hostname:
            raise TaskError(f"{site!r} in {given!r} is no address of a web site; give one such as https://example.org/")
    if not sites:
        raise TaskError(f"{given!r} has no sites: give one address a line")
    return sites


async def propose(
    sites: Sequence[str],
    writer: Writer,
    look: Callable[[str], Awaitable[Visited]],
    kind_of: Callable[[str], str],
    options: Options,
    on_site: Callable[[int], None],
) -> list[Task]:
    """The new tasks of all sites, each followed by its variants, in the order of the sites.

    Args:
        look: what a site shows (`Crawls.look`).
        kind_of: `Environment.kind_of` of the environment that will serve the tasks.
        on_site: is called after each site with the number of its tasks.

    Raises as `look` and `Writer.ask`.
    """
    found: dict[int, list[Task]] = {}
    left = iter(enumerate(sites))

    async def work() -> None:
        for number, site in left:
            found[number] = await _of_site(site, kind_of(site), writer, look, options)
            on_site(len(found[number]))

    await gather_or_cancel(work() for _ in range(AT_ONCE))
    return [task for _, tasks in sorted(found.items()) for task in tasks]


async def _of_site(
    site: str, kind: str, writer: Writer, look: Callable[[str], Awaitable[Visited]], options: Options
) -> list[Task]:
    visited = await look(site)
    if not visited.pages:
        writer.left_out.add("site: cannot be visited", f"{site}: {visited.why_not}")
        return []
    shows = [f"Website: {quoted(site)}", f"Pages: {quoted([page.model_dump() for page in visited.pages])}"]
    queries = await _queries(site, shows, writer, options)
    tasks = [_task(site, kind, query) for query in queries]
    if not options.variants:
        return tasks
    varied = await gather_or_cancel(
        _variants(task, query, shows, writer) for task, query in zip(tasks, queries, strict=True)
    )
    return [each for task, more in zip(tasks, varied, strict=True) for each in (task, *more)]


async def _queries(site: str, shows: Sequence[str], writer: Writer, options: Options) -> list[Query]:
    host = urlsplit(site).hostname or ""
    own = [task.instruction for task in options.examples if task.website == host]
    others = [task.instruction for task in options.examples if task.website != host]
    draw = random.Random(f"{options.seed}/{site}")
    examples = [draw.sample(each, min(len(each), n)) for each, n in ((own, OWN_EXAMPLES), (others, OTHER_EXAMPLES))]
    kept: list[Query] = []
    refused: list[str] = []
    for _ in range(ROUNDS):
        missing = options.per_site - len(kept)
        if not missing:
            break
        material = [
            *shows,
            f"Examples of this website: {quoted(examples[0])}",
            f"Examples of others: {quoted(examples[1])}",
            f"Already written: {quoted([query.task for query in kept])}",
            f"Refused, as too similar to others: {quoted(refused)}",
            f"Number of tasks wanted: {missing}",
        ]
        answer = await writer.ask("queries", site, QUERIES, material, lambda text: record(text, Queries))
        if answer is None:
            break
        for query in answer.tasks[:missing]:
            how, other = nearest(query.task, [*own, *(each.task for each in kept)], options.similarity)
            if how >= options.threshold:
                refused.append(query.task)
                writer.left_out.add("query: similar to another", f"{query.task} ({how:.2f}: {other})")
            else:
                kept.append(query)
    return kept


async def _variants(task: Task, query: Query, shows: Sequence[str], writer: Writer) -> list[Task]:
    def read(text: str) -> Variants | None:
        found = record(text, Variants)
        return found if found is not None and found.fit(query) else None

    material = [*shows, f"Task: {quoted(query.task)}", f"Facts: {quoted(query.facts)}"]
    found = await writer.ask("variants", task.id, VARIANTS, material, read)
    if found is None:
        return []
    named = {"easier": found.easier, "harder": found.harder}
    return [_variant(task, each, which) for which, each in named.items() if each is not None]


def _task(site: str, kind: str, query: Query) -> Task:
    host = urlsplit(site).hostname or ""
    digest = hashlib.sha256(f"{site} {query.model_dump_json()}".encode()).hexdigest()[:12]
    id = f"self_instruct:{host}:{digest}"
    return with_rubric(Task(id=id, instruction=query.task, start_url=site, website=host, kind=kind), query.rubric)


def _variant(task: Task, query: Query, which: str) -> Task:
    digest = hashlib.sha256(query.model_dump_json().encode()).hexdigest()[:8]
    metadata = {VARIANT_OF: task.id, VARIANT: which}
    named = {"id": f"{task.id}/{which}-{digest}", "instruction": query.task, "metadata": metadata}
    return with_rubric(task.model_copy(update=named), query.rubric)
