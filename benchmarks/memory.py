"""Does a run need more memory the longer it lasts?

    python benchmarks/memory.py [--trajectories 2000] [--run runs/memory] [KEY=VALUE …]

`webdojo train quickstart` without warm start, in a process of its own: real Chromium, the tiny model, real
updates beside short episodes. Every two seconds the memory of its process tree is read from outside: RSS of the
run's own process and of Playwright's driver, RSS and PSS of all Chromium processes together (RSS counts a page
that several of them share once for each). `results/memory.svg` draws the medians of a hundred trajectories
each. The headline is the growth over the second half: its last median less its first. Stopped by Ctrl-C, the
run goes on by the same command, in a new process; then what each process grew is added, without its first
trajectories, in which it fills its caches.
"""

from __future__ import annotations

import argparse
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil
from process_tree import CHROMIUM, kind_of, tree
from record import RESULTS, record

from webdojo.store.run import DATABASE
from webdojo.view.charts import Series, line_chart

EVERY_S = 2.0
BUCKET = 100
"""Trajectories of one median."""
WARM_UP = 200
"""First trajectories of a process that was not the first: it fills its caches again."""
SHORT = [
    *("sft.demos=0", "evaluate.tasks=2", "env.difficulties=[1]", "rollout.max_steps=4"),
    *("train.iterations=1000000", "train.groups_per_iteration=2", "train.max_groups_per_iteration=1000"),
    *("train.lr=1e-4", "train.save_total_limit=2", "rollout.max_staleness=1", "train.threads=1"),
]


class Reading(NamedTuple):
    """Memory at one moment, in units of 10^6 bytes."""

    attempt: int
    """Which process of the run."""
    trajectories: int
    """Stored by then, by all processes."""
    seconds: float
    """Since the process began."""
    driver: float
    """RSS of the process that trains."""
    playwright: float
    """RSS of Playwright's own process."""
    browsers: float
    """RSS of all Chromium processes."""
    browsers_pss: float


PARTS = ("driver", "playwright", "browsers", "browsers_pss")
DRAWN = {"driver": "#e2640c", "playwright": "#8d929d", "browsers": "#3f6fe0"}
"""Parts of the figure and their colours; together they are the headline."""


class Bucket(NamedTuple):
    """Medians over some trajectories of one process."""

    attempt: int
    trajectories: int
    """The first of them."""
    readings: int
    mb: dict[str, float]


def buckets(readings: Sequence[Reading]) -> list[Bucket]:
    """Medians by process and hundred of trajectories, in order."""
    found = []
    for (attempt, hundred), group in groupby(readings, lambda r: (r.attempt, r.trajectories // BUCKET)):
        held = list(group)
        mb = {part: median(getattr(reading, part) for reading in held) for part in PARTS}
        found.append(Bucket(attempt, hundred * BUCKET, len(held), mb))
    return found


def growth_mb(readings: Sequence[Reading], trajectories: int) -> dict[str, float]:
    """What each part grew by over the second half of `trajectories`; nothing where too little was read of it."""
    grown: dict[str, float] = {}
    for attempt, group in groupby(readings, lambda reading: reading.attempt):
        held = list(group)
        first = max(trajectories // 2, held[0].trajectories + (WARM_UP if attempt else 0))
        found = buckets([reading for reading in held if first <= reading.trajectories < trajectories])
        if len(found) > 1:
            for part in PARTS:
                grown[part] = grown.get(part, 0.0) + found[-1].mb[part] - found[0].mb[part]
    return grown


def figure(found: Sequence[Bucket]) -> str:
    """RSS over the trajectories, in MB, as an SVG file."""
    lines = [Series(part, part, [(bucket.trajectories, bucket.mb[part]) for bucket in found]) for part in DRAWN]
    top = max(y for line in lines for _, y in line.points)
    chart = line_chart(lines, "RSS in MB by trajectories", y_range=(0, top), y_format=lambda mb: f"{mb:.0f} MB")
    style = ".line{fill:none;stroke-width:2}.grid{stroke:#ddd}.tick{font:11px sans-serif;fill:#777}"
    style += ".end{text-anchor:end}.mid{text-anchor:middle}"
    style += "".join(f".line.{part}{{stroke:{colour}}}.point.{part}{{fill:{colour}}}" for part, colour in DRAWN.items())
    head = '<svg xmlns="http://www.w3.org/2000/svg"'
    return str(chart).replace("<svg", head, 1).replace(">", f"><style>{style}</style>", 1)


def read(pid: int, attempt: int, trajectories: int, seconds: float) -> Reading:
    """The memory of a run's process tree now."""
    held = dict.fromkeys(PARTS, 0.0)
    for process in tree(pid):
        with suppress(psutil.NoSuchProcess):
            kind = kind_of(process.cmdline())
            if process.pid == pid:
                held["driver"] += process.memory_info().rss / 1e6
            elif kind in CHROMIUM:
                memory = process.memory_full_info()
                held["browsers"] += memory.rss / 1e6
                held["browsers_pss"] += memory.pss / 1e6
            elif kind == "driver":
                held["playwright"] += process.memory_info().rss / 1e6
    return Reading(attempt, trajectories, seconds, **held)


def stored(run: Path) -> int:
    """RL trajectories that the run has by now."""
    if not (run / DATABASE).exists():
        return 0
    with closing(sqlite3.connect(f"{(run / DATABASE).absolute().as_uri()}?mode=ro", uri=True)) as database:
        (count,) = database.execute("SELECT count(*) FROM trajectories WHERE phase = 'rl'").fetchone()
    return int(count)


def go_on(run: Path, trajectories: int, overrides: Sequence[str]) -> list[Reading]:
    """Let the run have so many trajectories, and return the readings of all its processes."""
    notes = run.parent / f"{run.name}.readings.jsonl"
    readings = [Reading(*json.loads(line)) for line in notes.read_text().splitlines()] if notes.exists() else []
    if stored(run) >= trajectories:
        return readings
    run.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "webdojo.cli", "train", "quickstart", "--run", str(run)]
    command += ["--resume"] if (run / DATABASE).exists() else [*SHORT, *overrides]
    attempt = readings[-1].attempt + 1 if readings else 0
    started = time.monotonic()
    # A shell's background jobs ignore Ctrl-C, and so would this process, which is stopped by it.
    process = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        with notes.open("a") as file:
            while (count := stored(run)) < trajectories:
                time.sleep(EVERY_S)
                if process.poll() is not None:
                    raise SystemExit(f"the run ended with exit code {process.returncode}: {' '.join(command)}")
                if count:
                    readings.append(read(process.pid, attempt, count, time.monotonic() - started))
                    file.write(json.dumps(readings[-1]) + "\n")
                    file.flush()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    return readings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trajectories", type=int, default=2000)
    parser.add_argument("--run", type=Path, default=Path("runs/memory"))
    arguments, overrides = parser.parse_known_args()
    readings = go_on(arguments.run, arguments.trajectories, overrides)
    grown, last = growth_mb(readings, arguments.trajectories), buckets(readings)[-1].mb
    headline: dict[str, float | None] = {
        "trajectories": arguments.trajectories,
        "rss_growth_mb": round(sum(grown[part] for part in DRAWN), 1) if grown else None,
        **{f"rss_growth_mb_{part}": round(grown[part], 1) for part in DRAWN if grown},
        "pss_growth_mb_browsers": round(grown["browsers_pss"], 1) if grown else None,
        "rss_mb": round(sum(last[part] for part in DRAWN), 1),
        "processes": readings[-1].attempt + 1,
        "seconds": round(sum(max(r.seconds for r in group) for _, group in groupby(readings, lambda r: r.attempt))),
    }
    (RESULTS / "memory.svg").write_text(figure(buckets(readings)))
    record("memory", headline, [bucket._asdict() for bucket in buckets(readings)])


if __name__ == "__main__":
    main()
