"""Which episodes a run holds and why they failed: what `webdojo runs episodes` and `runs film` look up.

An episode is named by its id, or by the end of it as far as that is unique in the run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Any

from webdojo.errors import StoreError
from webdojo.redact import redact
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.types import Termination, Trajectory

_DETAIL = re.compile(r"""'[^']*'|"[^"]*"|\S*[^\w\s,;…]\S*[^\s,;]|\S*\d\S*""")
"""What differs between failures of one kind: quoted texts, addresses, names of facts, numbers."""

_CAUSE = re.compile(r"\((.+)\)$")
"""Where a verdict says which fact does not hold, what was seen instead follows in parentheses."""

_CALL = re.compile(r'^(?=  File ")', re.MULTILINE)
"""Where a call begins in a traceback."""
_OWN = f'  File "{Path(__file__).parent.parent}'
"""How a call of webdojo's own code begins."""


def chosen_rows(store: RunStore, phase: str, iteration: int | None, failed: bool) -> list[TrajectoryRow]:
    """The episodes of a phase (empty: of all) and an iteration (None: of all), or only those that failed.

    Raises:
        StoreError: the run has no such phase.
    """
    if phase and phase not in (there := store.count()):
        raise StoreError(f"no phase {phase!r} in {store.path} (there: {', '.join(there) or 'none yet'})")
    return [row for row in store.rows(phase or None, iteration) if not failed or row.success is False]


def listed(row: TrajectoryRow, trajectory: Trajectory, name: str) -> dict[str, Any]:
    """An episode as a JSON object; `name` is its short id."""
    return {
        "id": row.id,
        "name": name,
        "phase": row.phase,
        "iteration": row.iteration,
        "task": trajectory.task.instruction,
        "website": row.website,
        "difficulty": row.difficulty,
        "steps": row.steps,
        "termination": row.termination,
        "success": row.success,
        "valid": row.valid,
        "reward": row.reward,
        "reason": why(trajectory),
        "traceback": redact(trajectory.traceback, trajectory.secrets),
    }


def why(trajectory: Trajectory) -> str:
    """Why an episode ended as it did, in one line."""
    if trajectory.error:
        return trajectory.error
    return trajectory.reward.reason if trajectory.reward is not None else ""


def shortened(traceback: str) -> str:
    """The end of a traceback, from the first call on that is not webdojo's own: at most its two outermost and its two
    innermost calls, and the error."""
    _, *calls = _CALL.split(traceback.rstrip().rpartition("Traceback (most recent call last):\n")[2])
    theirs = list(dropwhile(lambda call: call.startswith(_OWN), calls)) or calls
    if len(theirs) > 4:
        theirs[2:-2] = ["  …\n"]
    return "".join(theirs)


def tracebacks(episodes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tracebacks of these episodes in short, each once, the commonest first, with the name of one such episode.

    Tracebacks through the same lines are one, whatever their error says.
    """
    found = [(shortened(episode["traceback"]), episode["name"]) for episode in episodes if episode["traceback"]]
    examples = {_lines(text): (text, name) for text, name in found}
    counts = Counter(_lines(text) for text, _ in found)
    return [
        {"traceback": examples[lines][0], "episodes": count, "example": examples[lines][1]}
        for lines, count in counts.most_common()
    ]


def _lines(traceback: str) -> tuple[str, ...]:
    return tuple(line for line in traceback.splitlines() if line.startswith('  File "'))


def failures_by_reason(episodes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many of these episodes failed for which reason, the commonest first, with the name of one of each.

    Reasons that differ in quoted texts, addresses and numbers alone are one; an episode that did not come to its own
    end counts under how it ended.
    """
    found = [(_kind(episode), episode["name"]) for episode in episodes if episode["success"] is False]
    examples = dict(found)
    counts = Counter(kind for kind, _ in found)
    return [{"reason": kind, "episodes": count, "example": examples[kind]} for kind, count in counts.most_common()]


def _kind(episode: dict[str, Any]) -> str:
    if episode["termination"] != Termination.COMPLETED:
        return str(episode["termination"]).replace("_", " ")
    found = _CAUSE.search(episode["reason"])
    reason = found[1] if found else episode["reason"]
    return re.sub(r"…([\s,]*…)+", "…", _DETAIL.sub("…", reason)) or "no reason given"


def short_names(ids: Sequence[str]) -> dict[str, str]:
    """For each id the shortest end of it, in whole parts between dashes, that no other has."""
    tails = {id: [id.split("-", cut)[-1] for cut in range(id.count("-"), -1, -1)] for id in ids}
    shared = Counter(tail for each in tails.values() for tail in each)
    return {id: next((tail for tail in each if shared[tail] == 1), id) for id, each in tails.items()}


def find_episode(store: RunStore, name: str) -> str:
    """The id of an episode from the end of its id; StoreError where there is none, or more than one."""
    ids = [row.id for row in store.rows()]
    found = [name] if name in ids else [id for id in ids if id.endswith(f"-{name}")]
    if len(found) != 1:
        why = f"{len(found)} episodes" if found else "no episode"
        raise StoreError(f"{why} in {store.path} with an id that ends in {name!r}: `webdojo runs episodes` lists them")
    return found[0]
