"""Trackers of a run: each is fed from a thread of its own, so that none can stop or slow the run, or another one.

The store is the queue of metrics: a tracker gets the rows that it has not had, so what an outage or a kill has kept
from it comes later, at the latest when the run goes on. Invariant: whatever a tracker raises, or however long it takes,
the run does not notice; it ends `FINISH_S` after its work at the latest.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

from webdojo.errors import one_line
from webdojo.loops.tracking.samples import choose, samples
from webdojo.recipe import Recipe
from webdojo.redact import without_logins
from webdojo.store.run import RunStore
from webdojo.trackers.registry import TRACKERS
from webdojo.trackers.tracker import TrackedRun, Tracker
from webdojo.types import Trajectory

FINISH_S = 60.0
"""How long the end of a run waits for its trackers, all together."""

Call: TypeAlias = Callable[[Tracker], None]
WriteReport: TypeAlias = Callable[[RunStore, Path], Path]
"""Writes the report of a run to a file."""

logger = logging.getLogger("webdojo")


class Trackers(AbstractContextManager["Trackers"]):
    """The trackers that a recipe names, if it names any; use it in a `with` block inside that of the store.

    A run that ends well gives them its result and, with `write_report`, its report.
    """

    def __init__(self, recipe: Recipe, store: RunStore, write_report: WriteReport | None = None) -> None:
        self._store, self._write_report = store, write_report
        config = recipe.tracking
        shown = without_logins(recipe.model_dump(mode="json"))
        run = TrackedRun(config.project, config.run_name or store.path.resolve().name, shown, store.path.resolve())
        self._feeds = [Feed(name, TRACKERS.get(name), run, store) for name in dict.fromkeys(config.report_to)]

    def wake(self) -> None:
        """There are new metrics in the store."""
        for feed in self._feeds:
            feed.wake()

    def show(self, phase: str, step: int, episodes: Sequence[Trajectory]) -> None:
        """Show a few episodes of an evaluation."""
        if not self._feeds:
            return
        chosen = choose(self._store, episodes)
        for feed in self._feeds:
            feed.do(lambda tracker: tracker.log_samples(phase, step, samples(self._store, chosen)))

    def __exit__(self, error: type[BaseException] | None, *rest: object) -> None:
        if error is None and self._feeds:
            self._conclude()
        for feed in self._feeds:
            feed.end(failed=error is not None)
        until = time.monotonic() + FINISH_S
        for feed in self._feeds:
            feed.join(until)

    def _conclude(self) -> None:
        """Give them what the run came to."""
        files = [self._store.path / "result.json"]
        if self._write_report is not None:
            files.append(self._write_report(self._store, self._store.path / "report.html"))
        final = final_figures(self._store.get("result", {}))
        calls: list[Call] = [methodcaller("log_metrics", "result", 0, final, time.time())] if final else []
        calls += [methodcaller("attach", file) for file in files]
        for feed in self._feeds:
            for call in calls:
                feed.do(call)


class Feed:
    """One tracker and the thread that calls it."""

    def __init__(self, name: str, kind: type[Tracker], run: TrackedRun, store: RunStore) -> None:
        self._name, self._kind, self._run, self._store = name, kind, run, store
        self._key = f"tracker {name}"
        self._calls: SimpleQueue[Call] = SimpleQueue()
        self._ended = self._warned = False
        self._thread = threading.Thread(target=self._feed, name=self._key, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self.do(self._send_metrics)

    def do(self, call: Call) -> None:
        if self._thread.is_alive():
            self._calls.put(call)

    def end(self, failed: bool) -> None:
        def finish(tracker: Tracker) -> None:
            self._ended = True
            tracker.finish(failed)

        self.wake()
        self.do(finish)

    def join(self, until: float) -> None:
        """Wait for it to end, until that time of `time.monotonic`."""
        self._thread.join(max(0.0, until - time.monotonic()))
        if self._thread.is_alive():
            self._warn("it does not come to an end")
            self._warned = True

    def _feed(self) -> None:
        try:
            state = self._store.get(self._key, {"id": "", "sent": 0.0})
            tracker = self._kind()
            self._id = tracker.start(replace(self._run, id=state["id"]))
            self._sent = min(state["sent"], time.time())  # where the clock of an earlier machine was ahead
            """When the newest of the metrics was stored that the tracker has."""
            self._store.set(self._key, {"id": self._id, "sent": self._sent})
        except Exception as error:
            self._warn(f"it could not start ({one_line(error)})")
            return
        self.wake()
        while not self._ended:
            call = self._calls.get()
            try:
                call(tracker)
            except Exception as error:
                self._warn(one_line(error))

    def _send_metrics(self, tracker: Tracker) -> None:
        """Give the tracker all rows that it has not had."""
        rows = self._store.query(
            "SELECT phase, step, created, record FROM metrics WHERE created > ? ORDER BY created", (self._sent,)
        )
        try:
            for phase, step, created, record in rows:
                known = {name: value for name, value in json.loads(record).items() if value is not None}
                tracker.log_metrics(phase, step, known, created)
                self._sent = created
        finally:
            if rows:
                self._store.set(self._key, {"id": self._id, "sent": self._sent})

    def _warn(self, what: str) -> None:
        """Say once that the tracker fails."""
        if not self._warned:
            logger.warning(
                "tracker %s: %s; the run goes on, and the tracker gets the rest later if it can", self._name, what
            )
        self._warned = True


def final_figures(result: dict[str, Any]) -> dict[str, float]:
    """Success by stage with its 95 % interval, from a run's result."""
    figures: dict[str, float] = {}
    for key, value in result.items():
        if key.startswith("success_"):
            low, high = value["ci95"]
            figures |= {key: value["rate"], f"{key}_ci95_low": low, f"{key}_ci95_high": high}
    return figures
