"""A training set from seed questions: WebGym's Algorithm 1 (arXiv 2601.02439, §3.2, E.5, E.6).

    for each seed
        rubric, and website where it has none    by the model       lines 4 and 5
        difficulty = number of facts                                line 6
        for each part of the rubric              `tasks.decompose`  lines 7 and 8
            its text                             by the model       line 9

Beyond the paper the model must count its facts, and quote for each fact of a part the words that ask for it; so an
answer that lost some of them is asked for again. A seed that has a rubric keeps it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from webdojo.envs.task_sets import load_tasks
from webdojo.errors import TaskError
from webdojo.gather import gather_or_cancel
from webdojo.loops.construction.writer import MATERIAL, Writer
from webdojo.reward.judges.case import quoted
from webdojo.reward.judges.verdict import record
from webdojo.tasks.decompose import Wording, part_task, parts
from webdojo.tasks.domains import DOMAIN, DOMAIN_OF, SUBDOMAIN
from webdojo.tasks.rubric import MOST_GROUPS, ProposedRubric, Rubric, rubric_of, same, with_rubric
from webdojo.tasks.sources.open_web import Address
from webdojo.types import Task

AT_ONCE = 32
"""Seeds that are worked on together; `engine.max_concurrency` bounds the requests."""

RUBRIC = f"""\
You write the rubric by which a web agent's work on a task is checked. You are given the task, and its website where
that is known.

Rules:
- A fact is one thing that can be checked by itself on the pages that the agent sees. Split the task as far as it goes.
- Facts about the same thing make a group. Number the groups from 1, and describe each in a few words. There are at most
  {MOST_GROUPS} groups.
- The task is done when all facts hold. Where it leaves a choice, the alternatives are one fact, with OR between them.
- Only what the task says becomes a fact. An example that it gives ("such as") is none. What it names in general
  ("contact details") stays general: do not list parts of it that the task does not name.
- A calculation is one fact, its result. A question how something is done is one fact, the instructions. Do not split
  either into steps.
- No fact stands there twice.

{MATERIAL}

Answer with one JSON object and nothing else. `difficulty` is the number of all facts, `website` the address of the site
on which to do the task, if none is given, and `subdomain` what the task is about, one of: {"; ".join(DOMAIN_OF)}.
{{"fact_groups": [{{"id": 1, "description": "...", "facts": ["...", "..."]}}], "difficulty": 2, "subdomain": "...",
"website": "https://..."}}
"""

WORDING = f"""\
You word a task for a web agent that is a part of another task. You are given the other task, and the facts that the new
one must ask for, in groups.

Rules:
- Ask for every fact, and for nothing else. A condition that only the other task names does not belong into the new one.
- The new task stands by itself: who reads it does not know the other one. It keeps its subject and its website.
- Write it as a person would, in one or two sentences, without a list of facts.

{MATERIAL}

Answer with one JSON object and nothing else. `words` has one entry for each fact, in their order: the words of the new
task that ask for it, exactly as they stand there:
{{"task": "...", "words": ["...", "..."]}}
"""


class Proposal(ProposedRubric, frozen=True):
    """What a model says of a seed."""

    subdomain: str = ""
    """One of the taxonomy; another one is not kept."""
    website: Address | Literal[""] = ""


def read_seeds(path: Path, source: str) -> list[Task]:
    """The seeds of a file: tasks as `source` reads them, or the lines of a `.txt` file, questions without a website.

    Raises:
        TaskError: the file cannot be read, or has none.
    """
    if path.suffix != ".txt":
        seeds = list(load_tasks(source, path=path))
    else:
        try:
            lines = [" ".join(line.split()) for line in path.read_text().splitlines()]
        except (OSError, UnicodeDecodeError) as error:
            raise TaskError(f"seeds {str(path)!r} cannot be read: {error}") from None
        seeds = [question(line) for line in dict.fromkeys(lines) if line]
    if not seeds:
        raise TaskError(f"{str(path)!r} has no seeds: give one question a line, or a file of tasks")
    return seeds


def question(text: str) -> Task:
    """A seed whose website nobody has said: its `start_url` is empty."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Task(id=f"question:{digest}", instruction=text, start_url="", website="")


async def construct(seeds: Sequence[Task], writer: Writer, on_seed: Callable[[int], None]) -> list[Task]:
    """The tasks of all seeds, each followed by its parts, in the order of the seeds.

    `on_seed` is called after each with the number of its tasks. Raises as `Writer.ask`.
    """
    families: dict[int, list[Task]] = {}
    left = iter(enumerate(seeds))

    async def work() -> None:
        for number, seed in left:
            families[number] = await family(seed, writer)
            on_seed(len(families[number]))

    await gather_or_cancel(work() for _ in range(AT_ONCE))
    return [task for _, tasks in sorted(families.items()) for task in tasks]


async def family(seed: Task, writer: Writer) -> list[Task]:
    """A seed with its rubric, and its parts; what the model has no usable answer to is left out."""
    try:
        rubric = rubric_of(seed)
    except TaskError as error:
        writer.left_out.add("rubric: of the seed itself", str(error))
        return []
    if rubric is None or not seed.start_url:
        if (proposal := await _proposal(seed, writer)) is None:
            return []
        seed, rubric = _settled(seed, proposal), rubric or proposal.rubric
    whole = with_rubric(seed, rubric)
    found = await gather_or_cancel(_part(whole, part, writer) for part in parts(rubric))
    return [whole, *(part for part in found if part is not None)]


async def _proposal(seed: Task, writer: Writer) -> Proposal | None:
    def read(text: str) -> Proposal | None:
        found = record(text, Proposal)
        return found if found is not None and (seed.start_url or found.website) else None

    material = [f"Task: {quoted(seed.instruction)}", f"Website: {quoted(seed.start_url) if seed.start_url else 'none'}"]
    return await writer.ask("rubric", seed.id, RUBRIC, material, read)


def _settled(seed: Task, proposal: Proposal) -> Task:
    """The seed with the website and what it is about, where it lacks them."""
    url = seed.start_url or proposal.website
    about = proposal.subdomain
    known = {DOMAIN: DOMAIN_OF[about], SUBDOMAIN: about} if about in DOMAIN_OF and DOMAIN not in seed.metadata else {}
    website = seed.website or urlsplit(url).hostname or ""
    return seed.model_copy(update={"start_url": url, "website": website, "metadata": known | seed.metadata})


async def _part(whole: Task, part: Rubric, writer: Writer) -> Task | None:
    def read(text: str) -> str | None:
        found = record(text, Wording)
        if found is None or not found.asks_for(part) or same(found.task) == same(whole.instruction):
            return None
        return found.task

    facts = [{"description": group.description, "facts": group.facts} for group in part.groups]
    material = [f"Other task: {quoted(whole.instruction)}", f"Groups of facts: {quoted(facts)}"]
    about = f"{whole.id}/{'+'.join(str(group.id) for group in part.groups)}"
    text = await writer.ask("text", about, WORDING, material, read)
    return None if text is None else part_task(whole, part, text)
