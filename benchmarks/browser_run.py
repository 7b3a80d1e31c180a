"""One measurement of the browser benchmark, in a process of its own: `browser.py` starts it.

    python benchmarks/browser_run.py '{"way": "default", "url": "http://127.0.0.1:4000/static", …}'

The process, its driver and its Chromiums are the tree that is measured; pages come from elsewhere. Its last
line on stdout is the row.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import traceback
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import mean, median
from typing import Any, Literal

from browser_pages import CYCLE, action, shown_count
from browser_peers import BrowserGym
from browser_phases import phases
from browser_ways import Hand, PlaywrightAlone, Seen, Way, Webdojo
from process_tree import CHROMIUM, adopt_orphans, commands, cpu_ms_by_kind, kind_of, pss_mb_by_kind

WAYS = ("default", "begin_frame", "playwright_jpeg", "playwright_png", "browsergym", "browsergym_no_delays")
OPENED_AT_ONCE = 2
SPARES = 2
IDLE_S = 1.0
"""Between two sessions, for the pool to fill up its spares."""
EXIT_S = 3.0
CHECKED = 200
"""Screenshots that are read after a measurement, and at least the last of each session."""
EPISODE = 24
"""Steps after which the endurance run takes a fresh session."""
READINGS = 12
"""Of memory, during the endurance run."""


Measure = Literal["steps", "new_session", "endurance"]


@dataclass(frozen=True)
class Job:
    """What to measure; `browser.py` sends it as JSON."""

    measure: Measure
    way: str
    page: str
    url: str
    sessions: int
    steps: int
    """Of each session; of all together in the endurance run."""
    executable: str
    browsergym: str = ""
    """Python of BrowserGym's virtual environment."""
    profile: bool = False


def make_way(job: Job) -> Way:
    spares = {"warm_sessions": SPARES} if job.measure == "new_session" else {}
    if job.way == "default":
        return Webdojo(job.executable, spares)
    if job.way == "begin_frame":
        return Webdojo(job.executable, {"capture": "begin_frame", **spares})
    if job.way in ("playwright_jpeg", "playwright_png"):
        return PlaywrightAlone(job.executable, jpeg=job.way == "playwright_jpeg")
    return BrowserGym(job.browsergym, job.executable, delays=job.way == "browsergym")


class Worker:
    """One session with its log: latencies, screenshots to check, and how it failed if it did."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.done = 0
        self.latencies_ms: list[float] = []
        self.kept: list[tuple[int, Seen]] = []
        self.error = ""

    async def run(self, steps: int, keep_every: int) -> None:
        """Take steps; a failure ends this session only."""
        for _ in range(steps):
            began = time.perf_counter()
            try:
                seen = await self.hand.step(action(self.done))
            except Exception as error:
                self.error = f"{type(error).__name__}: {first_line(error)}"
                return
            self.latencies_ms.append(1000 * (time.perf_counter() - began))
            self.done += 1
            if self.done % keep_every == 0 or len(self.latencies_ms) == steps:
                self.kept.append((self.done, seen))


async def open_hands(way: Way, url: str, sessions: int) -> list[Hand]:
    """Open sessions, a few at a time, so that no start-up timeout measures the machine."""
    gate = asyncio.Semaphore(OPENED_AT_ONCE)

    async def open_one() -> Hand:
        async with gate:
            return await way.open(url)

    return list(await asyncio.gather(*(open_one() for _ in range(sessions))))


async def measure_steps(job: Job) -> dict[str, Any]:
    """Steps of all sessions at once, after one cycle of actions that is not counted."""
    me = os.getpid()
    began = time.perf_counter()
    async with make_way(job) as way:
        start_s = time.perf_counter() - began
        began = time.perf_counter()
        workers = [Worker(hand) for hand in await open_hands(way, job.url, job.sessions)]
        open_s = time.perf_counter() - began
        await asyncio.gather(*(worker.run(CYCLE, CYCLE) for worker in workers))
        for worker in workers:
            worker.latencies_ms.clear()
            worker.kept.clear()
        keep_every = max(1, job.sessions * job.steps // CHECKED)
        with phases() if job.profile else nullcontext() as spent:
            cpu_before, began = cpu_ms_by_kind(me), time.perf_counter()
            await asyncio.gather(*(worker.run(job.steps, keep_every) for worker in workers if not worker.error))
            wall_s, cpu_after = time.perf_counter() - began, cpu_ms_by_kind(me)
        pss = pss_mb_by_kind(me)
        running = commands(me)
        lost = [worker.done - await worker.hand.count() for worker in workers if not worker.error]
        # After a crash there may be nothing left to close; the crash is counted.
        await asyncio.gather(*(worker.hand.close() for worker in workers), return_exceptions=True)
    latencies = sorted(latency for worker in workers for latency in worker.latencies_ms)
    if not latencies:
        raise RuntimeError(f"no step was done: {next(worker.error for worker in workers)}")
    seen = [(done, shown if isinstance(shown, int) else shown_count(shown)) for w in workers for done, shown in w.kept]
    by_kind = {
        kind: (cpu_after.get(kind, 0) - cpu_before.get(kind, 0)) / len(latencies) for kind in cpu_before | cpu_after
    }
    row: dict[str, Any] = {
        "steps_per_s": len(latencies) / wall_s,
        "cpu_ms_step": sum(by_kind.values()),
        "p50_ms": latencies[len(latencies) // 2],
        "p95_ms": latencies[min(len(latencies) - 1, round(0.95 * len(latencies)))],
        "start_s": start_s,
        "open_s": open_s,
        "chromium_pss_mb": sum(pss.get(kind, 0) for kind in CHROMIUM),
        "tree_pss_mb": sum(pss.values()),
        "cpu_ms_step_by_kind": {kind: by_kind[kind] for kind in sorted(by_kind, key=lambda k: -by_kind[k])},
        "processes": dict(Counter(map(kind_of, running))),
        "steps": len(latencies),
        "crashes": sum(bool(worker.error) for worker in workers),
        "errors": sorted({worker.error for worker in workers if worker.error}),
        "lost_actions": sum(lost),
        "screenshots_read": len(seen),
        "screenshots_late": sum(shown != done for done, shown in seen),
    }
    if job.way == "begin_frame" and not any("--enable-begin-frame-control" in command for command in running):
        row["skipped"] = "this Chromium was not started with --enable-begin-frame-control: the pool fell back"
    if spent is not None:
        row["wall_ms_step_by_phase"] = {phase: 1000 * s / len(latencies) for phase, s in spent.items()}
    return row


async def measure_new_session(job: Job) -> dict[str, Any]:
    """How long one more session takes, until it can be observed, in an environment that has been idle."""
    took_ms: list[float] = []
    async with make_way(job) as way:
        for _ in range(job.steps):
            await asyncio.sleep(IDLE_S)
            began = time.perf_counter()
            hand = await way.open(job.url)
            took_ms.append(1000 * (time.perf_counter() - began))
            if await hand.count():
                raise RuntimeError("a new session is not fresh")
            await hand.close()
    return {"new_session_ms": median(took_ms[1:] or took_ms), "first_session_ms": took_ms[0]}


async def measure_endurance(job: Job) -> dict[str, Any]:
    """Many steps in episodes, each in a fresh session, with memory read on the way while all sessions are open.

    The first third of the readings makes the start, the last third the end, the rest the middle.
    """
    begun = done = lost = 0
    errors: Counter[str] = Counter()
    readings: dict[int, asyncio.Task[dict[str, float]]] = {}
    started = time.perf_counter()

    async def episode(hand: Hand, length: int) -> None:
        nonlocal begun, done, lost
        worker = Worker(hand)
        while begun < job.steps and worker.done < length and not worker.error:
            begun += 1
            await worker.run(1, 1)
            worker.kept.clear()
            done += not worker.error
            if len(readings) < READINGS and begun >= job.steps * (len(readings) + 1) / (READINGS + 1):
                readings[begun] = asyncio.create_task(asyncio.to_thread(pss_mb_by_kind, os.getpid()))
                print(f"endurance: {begun} steps, {errors.total()} failures", file=sys.stderr)
        if worker.error:
            errors[worker.error] += 1
        else:
            lost += worker.done - await hand.count()
        await hand.close()

    async def slot(way: Way, gate: asyncio.Semaphore, hand: Hand, first: int) -> None:
        nonlocal begun
        await episode(hand, first)
        while begun < job.steps:
            try:
                async with gate:
                    hand = await way.open(job.url)
                await episode(hand, EPISODE)
            except Exception as error:
                errors[f"{type(error).__name__}: {first_line(error)}"] += 1
                begun += 1  # an environment that opens nothing must end too

    async with make_way(job) as way:
        hands = await open_hands(way, job.url, job.sessions)
        gate = asyncio.Semaphore(OPENED_AT_ONCE)
        # First episodes differ in length, so that the sessions are not all renewed at once.
        await asyncio.gather(*(slot(way, gate, hand, 1 + k % EPISODE) for k, hand in enumerate(hands)))
        memory = {steps: sum((await reading).values()) for steps, reading in readings.items()}
    if len(memory) < 3:
        raise RuntimeError(f"{len(memory)} readings of memory in {begun} steps; failures: {dict(errors)}")
    third, held = len(memory) // 3, list(memory.values())
    parts = {"start": mean(held[:third]), "middle": mean(held[third:-third]), "end": mean(held[-third:])}
    return {
        "steps": done,
        "steps_per_s": done / (time.perf_counter() - started),
        "crashes": errors.total(),
        "errors": sorted(errors),
        "lost_actions": lost,
        "tree_pss_mb": parts,
        "tree_pss_mb_by_step": memory,
        "growth_percent": 100 * (parts["end"] / parts["start"] - 1),
    }


def first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")


MEASURES = {"steps": measure_steps, "new_session": measure_new_session, "endurance": measure_endurance}


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    adopt_orphans()
    try:
        row = asyncio.run(MEASURES[job.measure](job))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as error:  # the other measurements go on
        traceback.print_exc()
        row = {"failed": f"{type(error).__name__}: {first_line(error)}"}
    print(json.dumps(row | {"processes_left": chromium_left()}))


def chromium_left() -> int:
    """Processes of Chromium that are still here; what was told to end may take a moment."""
    deadline = time.monotonic() + EXIT_S
    while (left := sum(kind_of(command) in CHROMIUM for command in commands(os.getpid()))) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.05)
    return left


if __name__ == "__main__":
    main()
