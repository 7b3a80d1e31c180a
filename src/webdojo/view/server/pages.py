"""The pages of the viewer as HTML, from templates of their own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import quote, urlencode

import yaml

from webdojo.evaluation.metrics import share
from webdojo.loops.run_folder import RL
from webdojo.loops.runs import brief
from webdojo.redact import redact
from webdojo.store.images import SUFFIXES
from webdojo.store.run import COLUMNS, TrajectoryRow
from webdojo.trainer.advantages import ADVANTAGES
from webdojo.types import ImageRef, Reward, Trajectory
from webdojo.view.film import Frame, film
from webdojo.view.page import TEMPLATES
from webdojo.view.server.query import FACETS, SORTS, Query
from webdojo.view.server.runs import NotFound, Runs, ViewedRun

OWN = "reward of the run"
"""What stands for the verdict that is stored with a trajectory."""
FIRST_ROWS = 100
"""Rows that a list asks for at a time (`trajectories.js`)."""
MOST_ATTEMPTS = 16
"""Attempts that stand side by side."""
_ORDERS = [("-added", "newest first"), ("added", "oldest first")] + [
    (f"{sign}{name}", f"{name} {way}") for name in SORTS[1:] for sign, way in (("-", "↓"), ("", "↑"))
]


@dataclass
class Attempt:
    """A trajectory as it stands beside others."""

    policy: str
    trajectory: Trajectory
    frames: list[Frame]
    address: str
    src: Any


def render(name: str, **values: Any) -> str:
    """A template of the viewer."""
    return TEMPLATES.get_template(f"viewer/{name}.html.j2").render(static=static_address(), **values)


@cache
def static_address() -> str:
    """Where scripts and styles are served: another address for other content, so that browsers may keep them."""
    folder = files("webdojo.view")
    content = hashlib.sha256(folder.joinpath("templates", "report.css").read_bytes())
    for file in sorted(Path(str(folder.joinpath("server", "static"))).rglob("*")):
        content.update(file.read_bytes() if file.is_file() else b"")
    return f"/static/{content.hexdigest()[:12]}"


def runs_page(runs: Runs) -> str:
    found = [(name, brief(path)) for name, path in runs.paths().items()]
    return render("runs", runs=sorted(found, key=lambda each: -each[1]["created"]), begun=_begun)


def run_page(run: ViewedRun) -> str:
    store = run.store
    info = {"seed": "unknown", "created": "", "command": "", "git": None, "versions": {}} | store.info
    return render(
        "run",
        run=run.name,
        facts=brief(store.path),
        info=info,
        recipe=store.recipe_yaml,
    )


def trajectories_page(run: ViewedRun, query: Query) -> str:
    """The list with its first rows, which its script reads from the page instead of asking for them."""
    first = json.dumps(run.listed(query, 0, FIRST_ROWS), ensure_ascii=False, separators=(",", ":"))
    return render("trajectories", run=run.name, facets=FACETS, orders=_ORDERS, first=first)


def trajectory_page(run: ViewedRun, id: str, query: Query, address: Sequence[tuple[str, str]]) -> str:
    """One trajectory; `address` has the parameters of the list that it was found in, for links to its neighbours."""
    trajectory = run.trajectory(id)
    place, total, before, after = run.neighbours(query, id)
    position = run.index.position(id)
    if position is None:
        raise NotFound(f"no trajectory {id!r} in {run.name}")
    row = run.index.rows[position]
    run.verdicts.refresh()
    own = [(OWN, trajectory.reward)] if trajectory.reward is not None else []
    verdicts = own + [
        (judge, redact(verdict, trajectory.secrets)) for judge, verdict in sorted(run.verdicts.of(id).items())
    ]
    beside = {f"screenshot {k}" for k in range(1, len(trajectory.turns) + 2)}
    members = group_rows(run, trajectory.group) if trajectory.group else []
    return render(
        "trajectory",
        run=run.name,
        trajectory=trajectory,
        row=row,
        frames=film(trajectory, most=len(trajectory.turns)),
        src=lambda image: image_address(run, image),
        small=lambda image: image_address(run, image, small=True),
        verdicts=verdicts,
        other_steps={judge: {each.step for each in verdict.judgements} - beside for judge, verdict in verdicts},
        disagree=len({verdict.success for _, verdict in verdicts if verdict.valid}) > 1,
        versions=sorted({version for turn in trajectory.turns for version in turn.response.versions}),
        advantage=advantage(run, row, members),
        members=len(members),
        note=run.notes.of(id),
        place=place,
        total=total,
        before=before,
        after=after,
        address=lambda other: trajectory_address(run, other, address),
    )


def group_page(run: ViewedRun, group: str) -> str:
    """The attempts of one group side by side."""
    rows = group_rows(run, group)
    if not rows:
        raise NotFound(f"no group {group!r} in {run.name}")
    return _compare([(f"attempt {number}", run, row) for number, row in enumerate(rows, start=1)], run.name)


def chosen_page(run: ViewedRun, ids: Iterable[str]) -> str:
    """Some trajectories of a run side by side."""
    run.index.refresh()
    positions = [run.index.position(id) for id in ids]
    rows = [run.index.rows[position] for position in positions if position is not None]
    return _compare([(row.id, run, row) for row in rows], run.name)


def task_page(runs: Iterable[ViewedRun], task: str) -> str:
    """The attempts of every policy at one task side by side, over runs and their iterations."""
    several = len(runs := list(runs)) > 1
    found = []
    for run in runs:
        query = f"SELECT {COLUMNS} FROM trajectories WHERE task_id = ? ORDER BY phase, iteration, seq"
        for row in map(TrajectoryRow.of, run.store.query(query, (task,))):
            policy = f"{row.phase} {row.iteration}"
            found.append((f"{run.name}: {policy}" if several else policy, run, row))
    if not found:
        raise NotFound(f"no trajectory of task {task!r} here")
    return _compare(found)


def _compare(found: Sequence[tuple[str, ViewedRun, TrajectoryRow]], run: str | None = None) -> str:
    by_policy: dict[str, list[tuple[str, ViewedRun, TrajectoryRow]]] = {}
    for each in found:
        by_policy.setdefault(each[0], []).append(each)
    turns = [each for round in zip_longest(*by_policy.values()) for each in round if each is not None]
    chosen = {(policy, viewed.name, row.id) for policy, viewed, row in turns[:MOST_ATTEMPTS]}
    attempts = []
    for policy, viewed, row in found:
        if (policy, viewed.name, row.id) in chosen:
            trajectory = viewed.trajectory(row.id)
            src = lambda image, viewed=viewed: image_address(viewed, image)  # noqa: E731
            address = trajectory_address(viewed, row.id, ())
            attempts.append(Attempt(policy, trajectory, film(trajectory), address, src))
    return render(
        "compare",
        title=attempts[0].trajectory.task.instruction if attempts else "nothing chosen",
        attempts=attempts,
        left_out=len(found) - len(attempts),
        summary=[
            {
                "policy": policy,
                "rate": share(sum(bool(row.success) for *_, row in members), len(members)),
                "steps": fmean(row.steps for *_, row in members),
            }
            for policy, members in by_policy.items()
        ]
        if len(by_policy) < len(found)
        else [],
        **({"run": run} if run is not None else {}),
    )


def group_rows(run: ViewedRun, group: str) -> list[TrajectoryRow]:
    """The trajectories of a group, oldest first."""
    found = run.select(Query(wanted=(("group", frozenset({group})),), sort="added"))
    return [row for _, row in found.part(0, len(found.order))]


def advantage(run: ViewedRun, row: TrajectoryRow, members: Sequence[TrajectoryRow]) -> float | None:
    """The advantage of a trajectory, where the run's is one of ours that compares the members of a group."""
    name = (yaml.safe_load(run.store.recipe_yaml) or {}).get("train", {}).get("advantage", "grpo")
    if row.phase != RL or name not in ADVANTAGES or not ADVANTAGES.get(name).group_relative:
        return None
    rewards = {
        each.id: Reward(value=each.reward, success=bool(each.success), valid=bool(each.valid))
        for each in members
        if each.reward is not None and each.phase == RL
    }
    advantages = ADVANTAGES.get(name).function([list(rewards.values())])[0]
    return dict(zip(rewards, advantages, strict=True)).get(row.id)


def image_address(run: ViewedRun, image: ImageRef, small: bool = False) -> str:
    name = quote(f"{image.sha}{SUFFIXES.get(image.mime, '')}", safe="")
    return f"/runs/{quote(run.name, safe='')}/images/{name}{'?small=1' if small else ''}"


def trajectory_address(run: ViewedRun, id: str, parameters: Iterable[tuple[str, str]]) -> str:
    rest = [(name, value) for name, value in parameters if name != "id"]
    return f"/runs/{quote(run.name, safe='')}/trajectory?{urlencode([('id', id), *rest])}"


def _begun(created: float) -> str:
    return datetime.fromtimestamp(created).strftime("%Y-%m-%d %H:%M") if created else ""
