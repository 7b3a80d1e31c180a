"""How many odd pages does a browser environment handle, beside BrowserGym and plain Playwright?

    python benchmarks/gauntlet.py [--ways webdojo playwright browsergym] [--only NAME …] [--times 3]

The trials are those of `tests/browser/gauntlet`, the rule is the same for all: the session goes on, what the agent is
told is true, and the next step works. `sessions_lost` and `canary_hits` are webdojo's: sessions that ended, and trials
in which something reached an address that the guard keeps out. A trial counts as handled where it was so every time.
What is done is in `results/gauntlet.part.jsonl` until all is; where it was stopped, the same commit goes on. Peers that
are not tried again keep their rows of the record, where it has the same trials.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import browser_peers
import record
from gauntlet_peers import BrowserGymSession, PlaywrightSession
from playwright.async_api import async_playwright

from tests.browser.gauntlet.ours import CONFIG, open_session
from tests.browser.gauntlet.pages import FAMILIES, Trial, trials
from tests.browser.gauntlet.run import Open, Outcome, attempt
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.progress import progress
from webdojo.store.images import MemoryImages

WAYS = ("webdojo", "playwright", "browsergym")


@asynccontextmanager
async def opened(way: str, python: str) -> AsyncIterator[Open]:
    """A fresh browser of an environment, so that one trial does not suffer from another."""
    executable = find_chromium(BrowserConfig())
    if way == "webdojo":
        images = MemoryImages()
        async with BrowserPool(CONFIG, images) as pool:
            yield partial(open_session, pool, images)
    elif way == "playwright":
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=executable)
            yield partial(PlaywrightSession.open, browser)
            await browser.close()
    else:
        yield partial(BrowserGymSession.open, python, executable)


async def once(way: str, trial: Trial, python: str) -> Outcome:
    async with opened(way, python) as open_at:
        return await attempt(trial, open_at)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--only", nargs="+", default=[], help="names of trials")
    parser.add_argument("--times", type=int, default=3, help="of webdojo; the peers try once (default %(default)s)")
    parser.add_argument("--concurrency", type=int, default=1, help="trials at once (default %(default)s)")
    arguments = parser.parse_args()
    chosen = [trial for trial in trials() if not arguments.only or trial.name in arguments.only]
    python = browser_peers.prepare(browser_peers.VENV) if "browsergym" in arguments.ways else ""
    part = record.Part("gauntlet")
    before = {(row["way"], row["time"], row["trial"]): row for row in part.entries()}

    def row_of(way: str, time: int, trial: Trial) -> dict[str, Any]:
        if (way, time, trial.name) in before:
            return before[way, time, trial.name]
        outcome = asyncio.run(once(way, trial, python))
        return {
            "way": way,
            "time": time,
            "family": trial.family,
            "trial": trial.name,
            "handled": not outcome.failures,
            "lost": outcome.lost,
            "canary_hits": outcome.canary_hits,
            "failures": outcome.failures[:3],
        }

    rounds = [(way, time) for way in arguments.ways for time in range(arguments.times if way == "webdojo" else 1)]
    tries = [(way, time, trial) for way, time in rounds for trial in chosen]
    rows: list[dict[str, Any]] = []
    with progress("gauntlet", len(tries)) as bar, ThreadPoolExecutor(arguments.concurrency) as threads:
        for row in threads.map(lambda each: row_of(*each), tries):
            if (row["way"], row["time"], row["trial"]) not in before:
                part.add(row)
            rows.append(row)
            bar.advance(1, now=f"{row['way']} {row['trial']}")
    kept = [row for row in record.recorded("gauntlet") if row["way"] not in arguments.ways]
    if {row["trial"] for row in kept} == {trial.name for trial in chosen}:
        rows += kept
    failed = {way: {row["trial"] for row in rows if row["way"] == way and not row["handled"]} for way in WAYS}
    tried = Counter(trial.family for trial in chosen)
    measured = {row["way"] for row in rows}
    for way in (each for each in WAYS if each in measured):
        for name in FAMILIES:
            lost = sum(trial.family == name and trial.name in failed[way] for trial in chosen)
            print(f"{way:10} {name:16} {tried[name] - lost:4} of {tried[name]}")
        print(f"{way:10} failed: {', '.join(sorted(failed[way])) or 'none'}")
    ours = [row for row in rows if row["way"] == "webdojo"]
    done = {way: len(chosen) - len(failed[way]) if way in measured else None for way in WAYS}
    headline = {
        "tried": len(chosen),
        "handled": done["webdojo"],
        "handled_browsergym": done["browsergym"],
        "handled_playwright": done["playwright"],
        "sessions_lost": sum(row["lost"] for row in ours),
        "canary_hits": sum(row["canary_hits"] for row in ours),
    }
    record.record("gauntlet", headline, rows)
    part.end()


if __name__ == "__main__":
    main()
