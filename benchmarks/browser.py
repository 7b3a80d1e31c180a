"""How fast, how dear and how large is a browser step, beside Playwright and BrowserGym?

    python benchmarks/browser.py [--sessions 1 4 8 16 64] [--repeats 5] [--pages static] [--ways default]
    python benchmarks/browser.py --profile          where the time of the default step goes
    python benchmarks/browser.py --endurance 5000   64 sessions, memory at the start, in the middle, at the end

A step is one action, the wait until the page is ready, feedback from a state probe before and one after, and a
screenshot of 1280×1000; the peers do what they do in place of these. Ways: `default` and `begin_frame` are
webdojo's; `playwright_jpeg` is nothing but the action and a JPEG of quality 85; `playwright_png` is `networkidle`
and `page.screenshot()` without probes; `browsergym` has its default delays, `browsergym_no_delays` has them at 0.
Every measurement runs in a process of its own (`browser_run.py`), and the ways take turns. CPU-ms is that of the
whole tree of Python, driver and Chromium (`process_tree.py`); the page server is outside for all.
`screenshots_late` counts pictures that do not show the page's answer to the action yet, `lost_actions` those that
never arrived.

A figure of a row is the median of its repeats; `spread` has the smallest and the largest. The static page is measured
with each number of sessions (more than 8, which take minutes, once), the others with 4 where there are several.
Headline figures are of the static page at 8 sessions, but for `x_jpeg_worst`: CPU-ms of `playwright_jpeg` over those of
`default` at 4 sessions, on the page where that is least. Runs that are done are in `results/browser.part.jsonl` until
all are; where it was stopped, the same commit goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import browser_peers
import psutil
import record
from browser_figures import (
    JPEG_SESSIONS,
    REFERENCE_PAGE,
    REFERENCE_SESSIONS,
    endurance_headline,
    headline,
    summarise,
    table,
)
from browser_pages import CYCLE, PAGES, served
from browser_run import WAYS, Job, Measure
from process_tree import tree

from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.progress import progress
from webdojo.store.info import run_info

LEAST_STEPS = 48
"""Of a measurement, all sessions together: few sessions take more steps than `--steps` each."""
OPENINGS = 8
ENDURANCE_SESSIONS = 64
_STOP_TIMEOUT_S = 20.0


def plan(arguments: argparse.Namespace, origin: str, executable: str, gym_python: str) -> Iterator[Job]:
    """All measurements in order, the ways taking turns in each repeat."""

    def job(measure: Measure, way: str, page: str, sessions: int, steps: int) -> Job:
        url = f"{origin}/{page}"
        return Job(measure, way, page, url, sessions, steps, executable, gym_python, arguments.profile)

    if arguments.endurance:
        for way in arguments.ways:
            yield job("endurance", way, arguments.pages[0], ENDURANCE_SESSIONS, arguments.endurance)
        return
    for repeat in range(arguments.repeats):
        for page in arguments.pages:
            every = page == REFERENCE_PAGE or len(arguments.pages) == 1
            for sessions in arguments.sessions if every else [JPEG_SESSIONS]:
                if repeat and sessions > REFERENCE_SESSIONS:
                    continue
                steps = max(arguments.steps, -(-LEAST_STEPS // sessions))
                yield from (job("steps", way, page, sessions, steps) for way in arguments.ways)
        if not arguments.profile:
            yield from (job("new_session", way, arguments.pages[0], 1, OPENINGS) for way in arguments.ways)


def not_possible(job: Job) -> str:
    """Why a measurement cannot be made here, or nothing."""
    if job.way.startswith("browsergym"):
        free_gb, needed_gb = psutil.virtual_memory().available / 1e9, job.sessions * browser_peers.MEMORY_GB
        if needed_gb > 0.8 * free_gb:
            return f"{job.sessions} environments need about {needed_gb:.0f} GB, and {free_gb:.0f} GB are free"
    return ""


def run(job: Job) -> dict[str, Any]:
    """Measure in a process of its own; a failure is a row with `failed`."""
    if reason := not_possible(job):
        return {"skipped": reason}
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("browser_run.py")), json.dumps(asdict(job))],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl+C reaches this process, which ends the other in order
    )
    limit_s = 300 + 4 * job.steps * (job.sessions if job.measure == "steps" else 1)
    try:
        out, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {limit_s} s"}
    finally:
        stop(process)
    if process.returncode:
        return {"failed": f"exit code {process.returncode}"}
    row: dict[str, Any] = json.loads(out.splitlines()[-1])
    return row


def take(runs: list[tuple[Job, dict[str, Any]]], wanted: Job) -> dict[str, Any] | None:
    """Take one run of a job from these, if there is one; the page server may have had another port then."""
    for index, (job, found) in enumerate(runs):
        if replace(job, url=wanted.url) == wanted:
            del runs[index]
            return found
    return None


def stop(process: subprocess.Popen[str]) -> None:
    """End a measurement, and whatever it leaves behind."""
    if process.poll() is not None:
        return
    below = tree(process.pid)
    process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_TIMEOUT_S)
    for left in below:
        with suppress(psutil.NoSuchProcess):
            left.kill()
    process.wait()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the record only, without the table")
    parser.add_argument("--sessions", type=int, nargs="+", help="1 4 8 16 64; with --profile 1 8")
    parser.add_argument("--steps", type=int, default=2 * CYCLE, help="timed steps of a session (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ways", nargs="+", choices=WAYS, help="all; with --profile and --endurance `default`")
    parser.add_argument("--pages", nargs="+", choices=PAGES, help="all; with --profile and --endurance `static`")
    parser.add_argument("--profile", action="store_true", help="wall time by phase, too")
    parser.add_argument("--endurance", type=int, metavar="STEPS", help=f"with {ENDURANCE_SESSIONS} sessions")
    parser.add_argument("--browsergym-venv", type=Path, default=browser_peers.VENV, help="default %(default)s")
    arguments = parser.parse_args()
    ours_only = arguments.profile or arguments.endurance
    arguments.ways = arguments.ways or (["default"] if ours_only else list(WAYS))
    arguments.pages = arguments.pages or ([REFERENCE_PAGE] if ours_only else list(PAGES))
    arguments.sessions = arguments.sessions or ([1, 8] if arguments.profile else [1, 4, 8, 16, 64])
    if ours_only and (peers := [way for way in arguments.ways if way not in ("default", "begin_frame")]):
        parser.error(f"--profile and --endurance are for `default` and `begin_frame`, not for {', '.join(peers)}")
    if arguments.endurance is not None and arguments.endurance < ENDURANCE_SESSIONS * CYCLE:
        parser.error(f"--endurance {arguments.endurance}: {ENDURANCE_SESSIONS} sessions need more steps")
    return arguments


def main() -> None:
    arguments = parse()
    executable = find_chromium(BrowserConfig())
    versions = run_info(0, executable)["versions"]
    gym_python = ""
    if any(way.startswith("browsergym") for way in arguments.ways):
        gym_python = browser_peers.prepare(arguments.browsergym_venv)
        versions["browsergym"] = browser_peers.versions(gym_python)
    name = "browser_endurance" if arguments.endurance else "browser_profile" if arguments.profile else "browser"
    part = record.Part(name)
    before = [(Job(**entry["job"]), entry["found"]) for entry in part.entries()]
    runs: list[tuple[Job, dict[str, Any]]] = []
    with served(arguments.pages) as origin:
        jobs = list(plan(arguments, origin, executable, gym_python))
        with progress("browser benchmark", len(jobs)) as bar:
            for job in jobs:
                bar.advance(0, now=f"{job.way} {job.page} x{job.sessions}")
                load = os.getloadavg()[0]
                found = take(before, job)
                if found is None:
                    found = run(job) | {"load_before": load}
                    part.add({"job": asdict(job), "found": found})
                runs.append((job, found))
                bar.advance(1, **{key: found[key] for key in ("steps_per_s", "new_session_ms") if key in found})
    rows = summarise(runs)
    figures = endurance_headline(rows) if arguments.endurance else headline(rows)
    if not arguments.json:
        print(table(rows))
    about = {"measure": "versions", "way": "", "page": "", "sessions": 0, "repeats": 0, "versions": versions}
    record.record(name, figures, [about, *rows])
    part.end()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(f"stopped; what was done is in {record.RESULTS}") from None
