"""Runs on a terminal: the table of `runs list`, the tables of `runs show`, and what `runs gc` would free."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.filesize import decimal
from rich.table import Table

from webdojo.loops.runs import Glance
from webdojo.progress import duration
from webdojo.view.tables import new_table, success_table

ROWS = 12
"""How many iterations are shown, counted from the last."""
COLUMNS = [
    ("success", "success", "{:.1%}"),
    ("reward", "reward", "{:.3f}"),
    ("episodes", "episodes", "{:.0f}"),
    ("invalid", "invalid", "{:.0f}"),
    ("staleness_mean", "stale", "{:.2f}"),
    ("entropy", "entropy", "{:.3f}"),
    ("approx_kl", "KL", "{:.3f}"),
    ("clip_fraction", "clipped", "{:.1%}"),
    ("grad_norm", "grad", "{:.2g}"),
    ("seconds_total", "time", ""),
]
"""Metric, heading and format of each column (a time has no format); they fit into 80 characters."""
HIDDEN_AT_ZERO = ("invalid", "staleness_mean")
"""Metrics that have no column if they are 0 throughout."""


def overview(runs: Sequence[Glance]) -> Table:
    """The table of `runs list`, with one row for each run."""
    table = new_table("", ["run", "recipe", "state"], ["iter", "success", "episodes", "size", "age"])
    if any(run.success is not None and not run.measured for run in runs):
        table.caption, table.caption_justify = "* of the episodes that it trains on", "left"
    for run in runs:
        success = "" if run.success is None else f"{run.success:.1%}{'' if run.measured else '*'}"
        table.add_row(
            run.run,
            run.recipe,
            run.state.value,
            f"{run.iteration}/{run.iterations}" if run.iterations else "",
            success,
            f"{run.episodes:,}",
            decimal(run.bytes),
            duration(time.time() - run.created).split()[0] if run.created else "",
        )
    return table


def sections(run: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The tables of `runs show`, from what `loops.runs.describe` returns."""
    yield _facts(run)
    if run["results"]:
        yield success_table(run["results"])
    if run["metrics"]:
        yield _iterations(run["metrics"])
    if run["checkpoints"]:
        yield _checkpoints(run["checkpoints"])
    if run["episodes"]:
        yield _episodes(run["episodes"], run["invalid"])


def freed(run: Path, paths: Mapping[str, Sequence[Path]], sizes: Mapping[str, int]) -> Table:
    """What `runs gc` can delete from a run, by kind."""
    table = new_table(str(run), ["what"], ["number", "size"])
    for kind, size in sizes.items():
        if paths[kind]:
            table.add_row(kind, f"{len(paths[kind]):,}", decimal(size))
    return table


def _facts(run: Mapping[str, Any]) -> Table:
    machine, versions = run["machine"], run["versions"]
    parts = [
        machine.get("cpu", ""),
        f"{machine['cores']} cores" if machine.get("cores") else "",
        f"{machine['memory_gb']:g} GB" if machine.get("memory_gb") else "",
        *machine.get("gpus", []),
    ]
    state = run["state"]
    facts = {
        "run": run["run"],
        "state": f"{state} (process {run['pid']})" if state == "running" else state,
        "recipe": f"{run['recipe']}, seed {run['seed']}",
        "model": run["model"],
        "iteration": f"{run['iteration']} of {run['iterations']}",
        "begun": run["created"],
        "resumed": ", ".join(run["resumed"]),
        "command": run["command"],
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "git": run["git"] or "",
        "machine": ", ".join(part for part in parts if part),
        "time": ", ".join(f"{name.replace('_', ' ')} {duration(spent)}" for name, spent in run["seconds"].items()),
        "size": decimal(run["bytes"]),
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        if value:
            table.add_row(name, str(value))
    return table


def _iterations(metrics: Sequence[Mapping[str, float | None]]) -> Table:
    shown = metrics[-ROWS:]
    there = {name for row in shown for name, value in row.items() if value or name not in HIDDEN_AT_ZERO}
    columns = [column for column in COLUMNS if column[0] in there]
    title = "iterations" if len(shown) == len(metrics) else f"the last {ROWS} of {len(metrics)} iterations"
    table = new_table(title, [], ["iter", *(heading for _, heading, _ in columns)])
    for row in shown:
        table.add_row(f"{row['step']:.0f}", *(_cell(row.get(name), form) for name, _, form in columns))
    return table


def _cell(value: float | None, form: str) -> str:
    if value is None:
        return ""
    return form.format(value) if form else duration(value)


def _checkpoints(checkpoints: Sequence[Mapping[str, Any]]) -> Table:
    table = new_table("checkpoints", ["name"], ["success in training", "size"])
    table.add_column("")
    for each in checkpoints:
        marks = ", ".join(mark for mark in ("latest", "best") if each[mark])
        success = "" if each["success"] is None else f"{each['success']:.1%}"
        table.add_row(each["name"], success, decimal(each["bytes"]), marks)
    return table


def _episodes(episodes: Mapping[str, int], invalid: Mapping[str, Mapping[str, int]]) -> Table:
    table = new_table("episodes", ["phase"], ["episodes", "invalid"])
    table.add_column("why")
    for phase, count in episodes.items():
        causes = invalid.get(phase, {})
        why = ", ".join(f"{cause.replace('_', ' ')} {number}" for cause, number in causes.items())
        table.add_row(phase, f"{count:,}", f"{sum(causes.values()):,}", why)
    return table
