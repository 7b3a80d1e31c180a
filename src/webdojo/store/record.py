"""A trajectory as the database keeps it: JSON in which each part of a prompt stands once.

The prompt of a turn repeats nearly all of the one before: written out, prompts would grow with the square of the turns.
So all their segments stand in one table in the order of their first use (`segments`), and each prompt is a list of runs
(`prompts`): `[first, n]` is n neighbouring rows of the table, `[first, -n]` are n neighbouring segments of the prompt
before. A record whose turns have their segments themselves is read as well.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from webdojo.types import ImageSegment, TextSegment, Trajectory

Segment = TextSegment | ImageSegment
Runs = list[list[int]]

DROPPED = 8
"""So many segments in a row that are no longer in a prompt do not end what it repeats."""

_TABLE = TypeAdapter(list[Segment])
_WITHOUT_SEGMENTS: Any = {"turns": {"__all__": {"prompt": {"segments"}}}}


def record_of(trajectory: Trajectory) -> bytes:
    """The JSON of a trajectory; the same trajectory always has the same."""
    rows: dict[Segment, int] = {}
    known: dict[int, int] = {}  # by identity: prompts share most segments, whose ids are long to compare
    prompts: list[Runs] = []
    before: list[int] = []
    for turn in trajectory.turns:
        now = []
        for segment in turn.prompt.segments:
            if id(segment) not in known:
                known[id(segment)] = rows.setdefault(segment, len(rows))
            now.append(known[id(segment)])
        prompts.append(_runs(before, now))
        before = now
    rest = trajectory.model_dump_json(exclude=_WITHOUT_SEGMENTS).encode()
    return rest[:-1] + b',"segments":' + _TABLE.dump_json(list(rows)) + b',"prompts":%b}' % _json(prompts)


def trajectory_of(record: bytes) -> Trajectory:
    """The trajectory of a record; its prompts share their segments."""
    data = json.loads(record)
    if "segments" in data:
        table, before = _TABLE.validate_python(data.pop("segments")), list[Segment]()
        for turn, runs in zip(data["turns"], data.pop("prompts"), strict=True):
            parts = (table[first : first + n] if n > 0 else before[first : first - n] for first, n in runs)
            before = turn["prompt"]["segments"] = [segment for part in parts for segment in part]
    return Trajectory.model_validate(data)


def _runs(before: Sequence[int], now: Sequence[int]) -> Runs:
    """A prompt as runs, both given as rows of the table."""
    runs: Runs = []
    there = at = 0
    while at < len(now):
        ahead = range(there, min(there + DROPPED, len(before)))
        if (found := next((each for each in ahead if before[each : each + 2] == now[at : at + 2]), None)) is not None:
            n = 1
            while before[found + n : found + n + 1] == now[at + n : at + n + 1] != []:
                n += 1
            runs.append([found, -n])
            there, at = found + n, at + n
            continue
        if runs and runs[-1][1] > 0 and sum(runs[-1]) == now[at]:
            runs[-1][1] += 1
        else:
            runs.append([now[at], 1])
        at += 1
    return runs


def _json(prompts: Sequence[Runs]) -> bytes:
    return json.dumps(prompts, separators=(",", ":")).encode()
