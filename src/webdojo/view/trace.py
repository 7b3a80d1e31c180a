"""A run as a Chrome trace: the loop and every episode slot on one axis of time.

`chrome://tracing` and https://ui.perfetto.dev open the file (Trace Event Format). It is written from the store
alone, so it also works for a run that is still going or was killed. The slot of an episode is not stored: each
episode is drawn in the lowest free row, so that there are as many rows as slots were busy at once.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from webdojo.errors import ConfigError, StoreError
from webdojo.redact import redact
from webdojo.store.files import replacing
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.store.spans import RUN, Span, attempts, iteration_key
from webdojo.types import Trajectory, Turn
from webdojo.view.film import call_text

RL = "rl"
LOOP, SLOTS = 1, 2
"""Process ids: the trace's two groups of rows."""


class Event(NamedTuple):
    """Something that took time, in Unix seconds."""

    name: str
    began: float
    ended: float
    args: dict[str, Any] | None = None


@dataclass
class Trace:
    """The content of a trace; moments are in Unix seconds."""

    loop: list[Event] = field(default_factory=list)
    """An outer event comes before those within it, here and in `slots`."""
    slots: list[list[Event]] = field(default_factory=list)
    versions: list[tuple[str, float]] = field(default_factory=list)
    """Versions of the weights, and when the engine began to serve them."""
    staleness: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    """That of the groups that an update learned from, at its moment."""
    busy: list[tuple[float, int]] = field(default_factory=list)
    """The number of episodes that run from a moment on."""
    unclocked: int = 0
    """The number of episodes that are not drawn, because their start was not recorded."""


def parse_iterations(text: str) -> range:
    """Read iterations of online training: `10-12`, first and last included, or `10` for a single one."""
    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal() and int(first) <= int(last or first)):
        raise ConfigError(f"--iterations is {text!r}: write one, such as 10, or the first and the last, as 10-12")
    return range(int(first), int(last or first) + 1)


def write_trace(store: RunStore, out: Path, iterations: range | None = None) -> Trace:
    """Write the trace of a run, or of these iterations alone, to `out`, compressed if its name ends in `.gz`."""
    trace = read_trace(store, iterations)
    if not (trace.loop or trace.slots):
        raise StoreError(f"{store.path} has stored nothing that a trace could show, or not of those iterations")
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as file:
        lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in chrome_events(trace))
        text = f'{{"displayTimeUnit":"ms","traceEvents":[\n{lines}\n]}}\n'.encode()
        file.write(gzip.compress(text) if out.suffix == ".gz" else text)
    return trace


def read_trace(store: RunStore, iterations: range | None = None) -> Trace:
    """Read from the store what happened when."""
    trace = Trace()
    if iterations is None:
        trace.loop += [_event(span) for attempt in attempts(store, RUN) for span in attempt]
    metrics = {int(row["step"]): row for row in store.metrics(RL)}
    for iteration in iterations or range(1, max(metrics, default=0) + 2):
        figures = {name: value for name, value in metrics.get(iteration, {}).items() if math.isfinite(value)}
        for attempt in attempts(store, iteration_key(RL, iteration)):
            events = [_event(span) for span in attempt]
            trace.loop += [Event(f"iteration {iteration}", events[0].began, events[-1].ended, figures), *events]
            trace.versions += [(f"version {iteration}", event.ended) for event in events if event.name == "publish"]
            for event in events if figures else ():
                if event.name == "update":
                    staleness = {name: figures[f"staleness_{name}"] for name in ("mean", "max")}
                    trace.staleness.append((event.began, staleness))
    episodes: list[list[Event]] = []
    for row in store.rows(None if iterations is None else RL):
        if iterations is not None and row.iteration not in iterations:
            continue
        trajectory = store.trajectory(row.id)
        if trajectory.began:
            episodes.append(list(_episode(redact(trajectory, trajectory.secrets), row)))
        else:
            trace.unclocked += 1
    trace.slots = in_slots(episodes)
    changes = sorted([(e[0].began, 1) for e in episodes] + [(e[0].ended, -1) for e in episodes])
    running = accumulate(change for _, change in changes)
    trace.busy = [(at, count) for (at, _), count in zip(changes, running, strict=True)]
    return trace


def in_slots(episodes: Sequence[list[Event]]) -> list[list[Event]]:
    """Rows without overlaps: each episode, whose first event spans all of it, goes into the lowest free row."""
    rows: list[list[Event]] = []
    ends: list[float] = []
    for events in sorted(episodes, key=lambda events: events[0].began):
        slot = next((row for row, end in enumerate(ends) if end <= events[0].began), len(ends))
        if slot == len(ends):
            rows.append([])
            ends.append(0.0)
        rows[slot] += events
        ends[slot] = events[0].ended
    return rows


def chrome_events(trace: Trace) -> Iterator[dict[str, Any]]:
    """The events in Chrome's format, with times in whole microseconds since the first event."""
    rows = [(LOOP, 0, "loop", trace.loop)]
    rows += [(SLOTS, number, f"slot {number}", events) for number, events in enumerate(trace.slots, start=1)]
    zero = min(event.began for *_, events in rows for event in events)

    def us(moment: float) -> int:
        return round((moment - zero) * 1e6)

    for process, name in ((LOOP, "loop"), (SLOTS, "episodes")):
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}
    for process, row, name, events in rows:
        at = {"pid": process, "tid": row}
        yield {"ph": "M", "name": "thread_name", **at, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", **at, "args": {"sort_index": row}}
        for name, began, ended, args in events:
            timed = {"ph": "X", "name": name, **at, "ts": us(began), "dur": us(ended) - us(began)}
            yield timed | ({} if args is None else {"args": args})
    for name, moment in trace.versions:
        yield {"ph": "i", "s": "g", "name": name, "pid": LOOP, "tid": 0, "ts": us(moment)}
    for moment, values in trace.staleness:
        yield {"ph": "C", "name": "staleness", "pid": LOOP, "ts": us(moment), "args": values}
    for moment, running in trace.busy:
        yield {"ph": "C", "name": "busy slots", "pid": SLOTS, "ts": us(moment), "args": {"episodes": running}}


def _event(span: Span) -> Event:
    return Event(span.name, span.began, span.began + span.seconds)


def _episode(trajectory: Trajectory, row: TrajectoryRow) -> Iterator[Event]:
    """The event of an episode, then those inside it."""
    began, seconds, reward = trajectory.began, trajectory.seconds, trajectory.reward
    closed = began + seconds["total"]
    judged = closed + seconds.get("reward", 0.0)
    about: dict[str, Any] = {"id": row.id, "phase": row.phase, "iteration": row.iteration, "group": row.group_id}
    about |= {"instruction": trajectory.task.instruction, "termination": row.termination, "steps": row.steps}
    about |= {"reward": row.reward, "versions": list(trajectory.versions)}
    yield Event(trajectory.task.id, began, judged, about)
    opened = began + seconds.get("start", 0.0)
    yield Event("start", began, opened)
    turns_observe = sum(turn.seconds.get("observe", 0.0) for turn in trajectory.turns)
    if (first := seconds.get("observe", 0.0) - turns_observe) > 0:
        yield Event("observe", opened, opened + first)
    for number, turn in enumerate(trajectory.turns, start=1):
        yield from _turn(number, turn)
    if "close" in seconds:
        yield Event("close", closed - seconds["close"], closed)
    if reward is not None:
        yield Event("reward", closed, judged, {"reason": reward.reason})


def _turn(number: int, turn: Turn) -> Iterator[Event]:
    """The event of a turn, then those inside it in a row without gaps."""
    answered = turn.began + turn.seconds["generate"]
    acted = answered + turn.seconds.get("act", 0.0)
    ended = acted + turn.seconds.get("observe", 0.0)
    calls = [call_text(call) for call in turn.parsed.calls]
    yield Event(f"turn {number}", turn.began, ended, {"calls": calls, "error": turn.parsed.error or ""})
    tokens = {"prompt_tokens": len(turn.prompt), "response_tokens": len(turn.response.ids)}
    yield Event("generate", turn.began, answered, tokens)
    begin = turn.began
    for phase in ("queue", "prefill", "decode"):
        if phase in turn.response.seconds:
            end = min(begin + turn.response.seconds[phase], answered)
            yield Event(phase, begin, end)
            begin = end
    if "act" in turn.seconds:
        yield Event("act", answered, acted, {"feedback": [feedback.text for feedback in turn.feedback]})
        yield Event("ready", max(acted - turn.seconds.get("ready", 0.0), answered), acted)
    if "observe" in turn.seconds:
        yield Event("observe", acted, ended, {"url": turn.observation.url})
