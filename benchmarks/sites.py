"""Is the embedded web solvable, unguessable, hard to cheat, and cheap?

    python benchmarks/sites.py [--tasks 2000] [--perturbed-tasks 500] [--clicker-tasks 300] [--answers 5000]

| part | what it does |
|---|---|
| `oracle` | solves sampled tasks of all kinds and difficulties in real Chromium, without and with heavy perturbations |
| `null_agent` | says `done` at once |
| `closed_book` | answers from the instruction alone |
| `random_clicker` | clicks for a while, then says some text of the page |
| `answers` | adversarial answers on right endings, and right answers on wrong endings (`adversary.py`) |
| `cost` | tasks drawn a second, CPU-ms to answer a page |

Failures of the oracle and false accepts are in the rows, one by one. Where it was stopped, the same commit goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field
from itertools import islice
from statistics import median
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import record
from adversary import adversarial_answers, asks_for_answer, right_answer, right_ending, wrong_endings

from webdojo import load_tasks
from webdojo.browser.config import BrowserConfig
from webdojo.browser.page.world import until_read
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.errors import WebdojoError
from webdojo.progress import Progress, progress
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.design.render import render
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.oracle import Oracle
from webdojo.sites.perturbations.schedule import LEVELS, Perturbations
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.site import Overlay, Page, Request
from webdojo.sites.taskgen import make_tasks
from webdojo.sites.verdict import evaluate
from webdojo.store.images import MemoryImages
from webdojo.types import Task, ToolCall

VIEWPORTS = {"auto": (1280, 1000), "compact": (320, 320)}
"""By layout."""
MOST_STEPS = 80
CLICKS = 12

WIDGETS = {
    "autocomplete": "[data-suggest]",
    "board with cards to drag": "[data-card]",
    "calendar drawn by the page": "[data-calendar]",
    "checkbox": "input[type=checkbox]",
    "colour input": "input[type=color]",
    "context menu": "[data-offers]",
    "date input": "input[type=date]",
    "dialog before a form is sent": "[data-confirm], [data-prompt]",
    "editable text": "[contenteditable]",
    "file input": "input[type=file]",
    "frame": "iframe",
    "hover menu": "[data-menu]",
    "list that grows": "[data-more]",
    "map to drag and zoom": "[data-map]",
    "new-tab link": "main a[target=_blank]",
    "part that comes late": "[data-late]",
    "radio": "input[type=radio]",
    "scroll area in the page": ".nested .filters.inline",
    "select": "select",
    "slider": "input[type=range]",
    "sticky header": ".sticky .top",
    "time input": "input[type=time]",
    "toast": ".toast",
}
"""What real sites have beside links, fields and buttons, and how it is found on embedded pages."""


@dataclass
class Played:
    """What an agent did."""

    answer: str | None
    steps: int
    tools: set[str] = field(default_factory=set)
    widgets: set[str] = field(default_factory=set)
    """Of `WIDGETS`, those on the pages that it came by."""


Agent = Callable[[Task, BrowserSession], Coroutine[Any, Any, Played]]


def sampled(n: int, seed: int) -> list[Task]:
    """Tasks over all kinds alike and over all difficulties that they have."""
    return make_tasks(list(KINDS), range(HELDOUT_SEED, HELDOUT_SEED + 10_000), n, seed, range(1, 10))


async def by_oracle(task: Task, session: BrowserSession) -> Played:
    oracle, played = Oracle(task), Played(None, 0)
    while played.answer is None and played.steps < MOST_STEPS:
        move = await oracle.step(session)
        met = await widgets_of(session)
        played.answer = (await session.act(move.calls)).answer
        played.steps += 1
        played.tools |= {call.name for call in move.calls}
        played.widgets |= set(met)
    return played


async def widgets_of(session: BrowserSession) -> list[str]:
    """Names of those of `WIDGETS` that the page at hand has."""
    present = "widgets => Object.keys(widgets).filter(name => document.querySelector(widgets[name]))"
    found: list[str] = await until_read(lambda: session.page.evaluate(present, WIDGETS))
    return found


async def by_chance(task: Task, session: BrowserSession) -> Played:
    """Click links, buttons and fields at random, then answer with a line of the page."""
    rng = random.Random(task.id)
    for _ in range(CLICKS):
        await session.act([await random_click(session, rng)])
    return Played(await random_line(session, rng), CLICKS)


async def random_click(session: BrowserSession, rng: random.Random) -> ToolCall:
    """A click on one of the links, buttons and fields in view, or anywhere where there are none."""
    script = """() => [...document.querySelectorAll('a, button, input, select')].map(e => e.getBoundingClientRect())
        .filter(b => b.width && b.top >= 0 && b.bottom < innerHeight && b.right < innerWidth)
        .map(b => [(b.left + b.right) / 2 / innerWidth, (b.top + b.bottom) / 2 / innerHeight])"""
    points = await until_read(lambda: session.page.evaluate(script))
    x, y = rng.choice(points) if points else (rng.random(), rng.random())
    return ToolCall(name="click", arguments={"x": round(1000 * x), "y": round(1000 * y)})


async def random_line(session: BrowserSession, rng: random.Random) -> str:
    """A line of the page's text; `done` where it has none."""
    script = r"() => document.body.innerText.split('\n').filter(line => line.trim())"
    lines: list[str] = await until_read(lambda: session.page.evaluate(script))
    return rng.choice(lines) if lines else "done"


async def by_nobody(task: Task, session: BrowserSession) -> Played:
    return Played("done", 1)


async def by_guess(task: Task, session: BrowserSession) -> Played:
    """Answer from the question: one of its names or numbers, or a likely value."""
    rng = random.Random(task.id)
    named = re.findall(r"[A-Z][\w']*(?: [A-Z0-9][\w']*)*|\d+", task.instruction)
    return Played(rng.choice([*named, str(rng.randint(1, 12)), "yes", "Impossible: it does not exist."]), 1)


@dataclass(frozen=True)
class Episode:
    """How an agent did in a task."""

    part: str
    number: int
    """Of the task in `sampled`."""
    success: bool
    steps: int
    reason: str
    """The verdict's, or what went wrong with the system."""
    tools: tuple[str, ...] = ()
    widgets: tuple[str, ...] = ()


async def episodes(
    part: str, tasks: list[Task], agent: Agent, level: int, sessions: int, kept: record.Part, bar: Progress
) -> list[Episode]:
    """One episode of each task; those that were kept are not run again."""
    done = {entry["number"]: Episode(**entry) for entry in kept.entries() if entry["part"] == part}
    bar.advance(len(done))
    config = BrowserConfig(viewport_px=VIEWPORTS["auto"], sessions_per_browser=sessions)
    gate = asyncio.Semaphore(sessions)
    with SiteServer() as server:
        async with BrowserPool(config, MemoryImages(capacity=8), server.hosts) as pool:

            async def run(number: int, task: Task) -> None:
                async with gate:
                    done[number] = await episode(part, number, task, agent, level, pool, server)
                kept.add(asdict(done[number]))
                bar.advance(1)

            await asyncio.gather(*(run(number, task) for number, task in enumerate(tasks) if number not in done))
    return [done[number] for number in range(len(tasks))]


async def episode(
    part: str, number: int, task: Task, agent: Agent, level: int, pool: BrowserPool, server: SiteServer
) -> Episode:
    name, played = f"{number}-{task.id}", Played(None, 0)
    try:
        session = await pool.open(task.start_url, server.headers(name, "auto", Perturbations(level=level, seed=name)))
        try:
            played = await agent(task, session)
            url = session.active.url
        finally:
            await session.close()
        verdict = evaluate(task, played.answer, url, server.state(name))
        used, met = tuple(sorted(played.tools)), tuple(sorted(played.widgets))
        return Episode(part, number, verdict.success, played.steps, verdict.reason, used, met)
    except WebdojoError as error:
        return Episode(part, number, False, played.steps, str(error))
    finally:
        server.end(name)


def rows_of(tasks: list[Task], done: list[Episode], expected: bool) -> list[dict[str, Any]]:
    """Success and steps by kind and by difficulty, the episodes in which each tool was used and each widget met, then
    each episode that ended otherwise than expected."""
    part, rows = done[0].part, []
    for by, keys in (("kind", [task.kind for task in tasks]), ("difficulty", [task.difficulty for task in tasks])):
        for value in dict.fromkeys(sorted(keys)):
            found = [each for each, key in zip(done, keys, strict=True) if key == value]
            steps = round(sum(each.steps for each in found) / len(found), 2)
            rows.append({"part": part, by: value, "n": len(found), "success": success(found), "steps": steps})
    for what, found_in in (("tools", [each.tools for each in done]), ("widgets", [each.widgets for each in done])):
        if counts := Counter(name for names in found_in for name in names):
            rows.append({"part": part, what: dict(sorted(counts.items()))})
    odd = [(task, each) for task, each in zip(tasks, done, strict=True) if each.success != expected]
    return rows + [{"part": part, **_about(task), "steps": each.steps, "reason": each.reason} for task, each in odd]


def _about(task: Task) -> dict[str, Any]:
    return {"task": task.id, "difficulty": task.difficulty, "instruction": task.instruction}


def success(done: list[Episode]) -> float:
    return round(sum(each.success for each in done) / len(done), 4)


def false_accepts(n: int, rng: random.Random) -> tuple[int, int, list[dict[str, Any]]]:
    """Accepted and tried endings that are wrong, and the rows of those accepted."""
    tried, rows = 0, []
    for task in sampled(n, seed=77):
        right = right_ending(task)
        wrong = [(answer, right) for answer in (adversarial_answers(task, rng) if asks_for_answer(task) else [])]
        wrong += [(right_answer(task), ending) for ending in wrong_endings(task, rng)]
        for answer, ending in rng.sample(wrong, min(len(wrong), 20)):
            tried += 1
            if evaluate(task, answer, ending.url, ending.state).success:
                rows.append(
                    {"part": "answers", "task": task.id, "instruction": task.instruction, "answer": answer[:200]}
                )
            if tried == n:
                return len(rows), tried, rows
    return len(rows), tried, rows


def page_cpu_ms() -> tuple[float, list[dict[str, Any]]]:
    """Median CPU-ms of answering and drawing a page, over all kinds and both layouts; sites are made beforehand."""
    rows, all_of_them = [], []
    for kind in KINDS:
        found = []
        for layout in VIEWPORTS:
            site = load_site(kind, HELDOUT_SEED, layout)
            paths = list(site.paths())
            for path in random.Random(kind).sample(paths, min(60, len(paths))):
                parts, overlay = urlsplit(path), Overlay()
                began = time.process_time()
                page = site.respond(Request("GET", parts.path, dict(parse_qsl(parts.query))), overlay)
                assert isinstance(page, Page)
                render(site, page, overlay, layout)
                found.append(1000 * (time.process_time() - began))
        began = time.process_time()
        type(site)(HELDOUT_SEED + 1).respond(Request("GET", "/", {}), Overlay())
        made_ms = 1000 * (time.process_time() - began)
        rows.append(
            {"part": "cost", "kind": kind, "page_cpu_ms": round(median(found), 2), "site_cpu_ms": round(made_ms, 1)}
        )
        all_of_them += found
    return round(median(all_of_them), 2), rows


def tasks_per_s(n: int = 10_000) -> float:
    began = time.perf_counter()
    assert len({task.id for task in islice(load_tasks("dojo:train"), n)}) == n
    return round(n / (time.perf_counter() - began), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=2000, help="of the oracle without perturbations")
    parser.add_argument("--perturbed-tasks", type=int, default=500)
    parser.add_argument("--idle-tasks", type=int, default=500, help="of the null agent and the guesser")
    parser.add_argument("--clicker-tasks", type=int, default=300)
    parser.add_argument("--answers", type=int, default=5000)
    parser.add_argument("--sessions", type=int, default=3, help="at once (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    headline: dict[str, float | None] = {"kinds": len(KINDS)}
    rows: list[dict[str, Any]] = []
    headline["page_cpu_ms"], costs = page_cpu_ms()
    headline["tasks_per_s"] = tasks_per_s()
    accepted, tried, accepts = false_accepts(arguments.answers, random.Random(arguments.seed))
    headline["false_accepts"] = accepted
    rows += [*costs, {"part": "answers", "tried": tried, "accepted": accepted}, *accepts]
    plan: list[tuple[str, Agent, int, int, bool]] = [
        ("oracle", by_oracle, arguments.tasks, 0, True),
        ("oracle_perturbed", by_oracle, arguments.perturbed_tasks, max(LEVELS), True),
        ("null_agent", by_nobody, arguments.idle_tasks, 0, False),
        ("closed_book", by_guess, arguments.idle_tasks, 0, False),
        ("random_clicker", by_chance, arguments.clicker_tasks, 0, False),
    ]
    kept = record.Part("sites")
    with progress("sites", sum(n for _, _, n, _, _ in plan)) as bar:
        for part, agent, n, level, expected in plan:
            tasks = sampled(n, arguments.seed)
            done = asyncio.run(episodes(part, tasks, agent, level, arguments.sessions, kept, bar))
            headline[part] = success(done)
            rows += rows_of(tasks, done, expected)
            bar.advance(0, **{part: headline[part]})
    record.record("sites", headline, rows)
    kept.end()


if __name__ == "__main__":
    main()
