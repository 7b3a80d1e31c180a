"""The trace of a real run on a random small model, and of what only a killed run leaves."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.loops.conftest import SmallRecipe, family_dirs, model_dir, small_recipe
from tests.store.fabricate import trajectory
from webdojo.errors import ConfigError, StoreError
from webdojo.loops.metrics import SLOT_PHASES
from webdojo.loops.start import train
from webdojo.store.run import DATABASE, RunStore
from webdojo.store.spans import Span, SpanLog, attempts, iteration_key
from webdojo.view.trace import LOOP, SLOTS, Event, in_slots, parse_iterations, read_trace, write_trace

__all__ = ["family_dirs", "model_dir", "small_recipe"]

SLOTS_AT_MOST = 6
"""`rollout.concurrency` of the small recipe."""
Row = list[dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, small_recipe: SmallRecipe) -> Path:
    """A finished run of two iterations, in which the pool rests while the learner steps."""
    folder = tmp_path_factory.mktemp("trace") / "run"
    train(small_recipe("rollout.max_staleness=0", "train.iterations=2", "sft.demos=0"), folder, resume=False)
    return folder


@pytest.fixture(scope="module")
def rows(run: Path) -> dict[tuple[int, int], Row]:
    """The events of the trace's file that have a length, by process and row, as a viewer nests them."""
    file = run / "trace.json.gz"
    with RunStore.open(run, readonly=True) as store:
        write_trace(store, file)
    found: defaultdict[tuple[int, int], Row] = defaultdict(list)
    for event in json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]:
        if event["ph"] == "X":
            found[event["pid"], event["tid"]].append(event)
    return found


def seconds_by_iteration(rows: dict[tuple[int, int], Row]) -> dict[int, Counter[str]]:
    """Of the RL episodes, and of what is drawn in them."""
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for (process, _), events in rows.items():
        of: dict[str, Any] = {}
        for event in events if process == SLOTS else ():
            if "phase" in (args := event.get("args", {})):
                of = args
            if of["phase"] == "rl":
                found[of["iteration"]]["total" if of is args else event["name"]] += event["dur"] / 1e6
    return found


def test_events_nest_and_no_two_episodes_are_in_one_slot(run: Path, rows: dict[tuple[int, int], Row]) -> None:
    for events in rows.values():
        around: list[int] = []
        for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
            assert event["ts"] >= 0 <= event["dur"]
            while around and around[-1] <= event["ts"]:
                around.pop()
            end = event["ts"] + event["dur"]
            assert not around or end <= around[-1], f"{event['name']} ends after what it is a part of"
            around.append(end)
    slots = [events for (process, _), events in rows.items() if process == SLOTS]
    assert 3 <= len(slots) <= SLOTS_AT_MOST, "a group has three members"
    episodes = [[event for event in events if "phase" in event.get("args", {})] for events in slots]
    for slot in episodes:
        for before, after in pairwise(slot):
            assert before["ts"] + before["dur"] <= after["ts"]
    with RunStore.open(run, readonly=True) as store:
        assert sorted(e["args"]["id"] for slot in episodes for e in slot) == sorted(row.id for row in store.rows())
    names = Counter(event["name"] for event in rows[LOOP, 0])
    assert all(names[name] == 2 for name in ("wait", "assemble", "update", "save", "publish"))
    assert all(names[name] == 1 for name in ("evaluate_base", "rl", "iteration 1", "iteration 2"))


def test_the_sums_of_the_trace_are_the_figures_of_the_iterations(run: Path, rows: dict[tuple[int, int], Row]) -> None:
    with RunStore.open(run, readonly=True) as store:
        metrics = {int(row["step"]): row for row in store.metrics("rl")}
        loop = {step: attempts(store, iteration_key("rl", step)) for step in metrics}
    with sqlite3.connect(run / DATABASE) as database:
        query = "SELECT iteration, sum(length(record)) FROM trajectories WHERE phase = 'rl' GROUP BY 1"
        records = dict(database.execute(query).fetchall())
    spent = seconds_by_iteration(rows)
    assert spent.keys() == metrics.keys() == {1, 2}
    for step, row in metrics.items():
        (spans,) = loop[step]
        assert [span.name for span in spans] == ["wait", "assemble", "update", "save", "publish"]
        seconds = {span.name: span.seconds for span in spans}
        assert {name: row[f"seconds_{name}"] for name in ("wait", "assemble", "update")}.items() <= seconds.items()
        if step + 1 in metrics:  # saved in the iteration after it
            assert metrics[step + 1]["seconds_save"] == seconds["save"]

        drawn = spent[step]
        parts = {name: drawn[name] for name in ("start", "queue", "ready", "observe", "close", "reward")}
        parts |= {"engine": drawn["generate"] - drawn["queue"], "act": drawn["act"] - drawn["ready"]}
        told = {name: row[f"slot_{name}"] for name in SLOT_PHASES}
        assert sum(told.values()) == pytest.approx(1)
        for name, value in parts.items():
            assert value / drawn["total"] == pytest.approx(told[name] / (1 - told["store"]), abs=1e-3), name
        assert told["engine"] > 0 < told["start"]
        busy = row["slots_busy"] * SLOTS_AT_MOST * row["seconds_total"]
        assert drawn["total"] / (1 - told["store"]) <= busy + 1e-3, "an episode was longer than its slot was busy"
        assert row["bytes_record"] * row["episodes"] == pytest.approx(records[step])
        assert row["bytes_screenshots"] > 0 < row["bytes_screenshots_again"], "members of a group begin at one screen"


def test_a_part_of_a_run_can_be_drawn(run: Path) -> None:
    with RunStore.open(run, readonly=True) as store:
        trace = read_trace(store, parse_iterations("2"))
        with pytest.raises(StoreError, match="nothing that a trace could show"):
            write_trace(store, run / "none.json", parse_iterations("3-9"))
    assert [event.name for event in trace.loop if event.name.startswith("iter")] == ["iteration 2"]
    assert {e.args["iteration"] for slot in trace.slots for e in slot if e.args and "phase" in e.args} == {2}
    assert [name for name, _ in trace.versions] == ["version 2"]
    with pytest.raises(ConfigError, match="--iterations is '3-2'"):
        parse_iterations("3-2")


def test_an_iteration_that_a_kill_cut_is_drawn_beside_the_one_that_came_after(tmp_path: Path) -> None:
    key = iteration_key("rl", 1)
    with RunStore.create(tmp_path / "run", "", {}) as store:
        SpanLog(store, key).add(Span("wait", 100.0, 5.0))
        again = SpanLog(store, key)
        for span in (Span("wait", 200.0, 2.0), Span("update", 202.0, 3.0)):
            again.add(span)
        clocked = trajectory("a", store.images, began=101.0, seconds={"total": 2.0}, turns=[])
        store.add_trajectory(clocked, "rl", 1)
        store.add_trajectory(trajectory("b", store.images), "rl", 1)
        trace = read_trace(store)
    assert [(event.name, event.began, event.ended) for event in trace.loop] == [
        *(("iteration 1", 100.0, 105.0), ("wait", 100.0, 105.0)),
        *(("iteration 1", 200.0, 205.0), ("wait", 200.0, 202.0), ("update", 202.0, 205.0)),
    ]
    assert trace.unclocked == 1
    assert [running for _, running in trace.busy] == [1, 0]


def test_the_lowest_slot_that_is_free_takes_an_episode() -> None:
    times = {"a": (0, 4), "b": (1, 2), "c": (2, 3), "d": (2.5, 5), "e": (4, 6)}
    rows = in_slots([[Event(name, *when), Event("part", *when)] for name, when in times.items()])
    assert [[event.name for event in row if event.name != "part"] for row in rows] == [["a", "e"], ["b", "c"], ["d"]]
