"""Tables and texts that commands print for people: runs, success by stage, where time went, the turns of an agent."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.filesize import decimal
from rich.table import Table

from webdojo.progress import duration, plural
from webdojo.types import Trajectory, Turn
from webdojo.view.film import call_text
from webdojo.view.page import percent
from webdojo.view.report import STAGES

LOOP = {
    "wait": "waiting for groups",
    "assemble": "assembling batches",
    "update": "updates",
    "save": "checkpoints",
    "publish": "new weights to the engine",
}
SLOTS = {
    "start": "opening the browser session",
    "queue": "in the engine's queue",
    "engine": "engine",
    "act": "browser acting",
    "ready": "waiting for pages",
    "observe": "screenshots",
    "close": "closing the session",
    "reward": "reward",
    "store": "storing the trajectory",
    "other": "all else",
}
BYTES = {
    "bytes_record": "record",
    "bytes_screenshots": "new screenshots",
    "bytes_screenshots_again": "screenshots that were there",
}
ROWS = 12
"""How many iterations are shown, counted from the last."""
COLUMNS: list[tuple[str, str, Callable[[float], str]]] = [
    ("success", "success", "{:.1%}".format),
    ("reward", "reward", "{:.3f}".format),
    ("episodes", "episodes", "{:.0f}".format),
    ("invalid", "invalid", "{:.0f}".format),
    ("staleness_mean", "stale", "{:.2f}".format),
    ("entropy", "entropy", "{:.3f}".format),
    ("approx_kl", "KL", "{:.3f}".format),
    ("clip_fraction", "clip", "{:.1%}".format),
    ("grad_norm", "grad", "{:.2g}".format),
    ("seconds_total", "time", duration),
]
"""Metric, heading and format of each column; they fit into 80 characters."""
HIDDEN_AT_ZERO = ("invalid", "staleness_mean")
"""Metrics that have no column if they are 0 throughout."""


def new_table(title: str, texts: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> Table:
    """A table in the style of all commands; the columns of texts stand before those of numbers."""
    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", padding=(0, 1, 0, 0))
    for heading in texts:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def success_table(result: Mapping[str, Any]) -> Table:
    """Success of each stage that the run measured, with its 95 % interval; `result` is as in `result.json`, or as
    `loops.results.stages.stages` of a run that goes on.

    Episodes that the web or the system failed count as failures, and how many they are stands beside them.
    """
    found = [(name, result[key]) for key, name, _ in STAGES if key in result]
    rows = [
        [name, f"{each['rate']:.1%}", "{:.1%} .. {:.1%}".format(*each["ci95"]), episodes_measured(each)]
        for name, each in found
    ]
    several = any(each["n"] > each.get("tasks", each["n"]) for _, each in found)
    numbers = ["success", "95 % interval", "episodes" if several else "tasks"]
    invalid = [each["n"] - each.get("valid_n", each["n"]) for _, each in found]
    if any(invalid):
        numbers.append("invalid")
        rows = [[*row, str(number)] for row, number in zip(rows, invalid, strict=True)]
    return new_table("success on held-out tasks", ["stage"], numbers, rows)


def episodes_measured(stage: Mapping[str, Any]) -> str:
    """How many episodes of a stage are measured, and of how many where that is not the end of it."""
    return f"{stage['n']} of {stage['planned']}" if stage["n"] < stage.get("planned", 0) else str(stage["n"])


def turn_text(step: int, turn: Turn) -> str:
    """One turn of an agent: its thought, its calls, the feedback on each; where it cannot be read, the raw response."""
    thought = " ".join(turn.parsed.think.split())
    lines = [f"{step:>3}  {thought if len(thought) <= 200 else thought[:199] + '…'}"]
    for index, call in enumerate(turn.parsed.calls):
        said = f"  → {turn.feedback[index].text}" if index < len(turn.feedback) else ""
        lines.append(f"     {call_text(call)}{said}")
    if turn.parsed.error is not None:
        lines.append(f"     format error: {turn.parsed.error}")
        lines.append(f"     response: {turn.text}")
    return "\n".join(lines)


def ending_text(trajectory: Trajectory, why: str) -> str:
    """How an episode ended: its verdict with the reason `why`, and the last answer of the judge."""
    reward, parts = trajectory.reward, [trajectory.termination.value.replace("_", " ")]
    if reward is not None:
        parts.append(f"reward {reward.value:g}" if reward.valid else "invalid")
    said = f"\nthe judge's answer:\n{reward.judgements[-1].answer}" if reward is not None and reward.judgements else ""
    return f"{', '.join(parts)}{f': {why}' if why else ''}{said}"


def time_table(rows: Sequence[Mapping[str, float]]) -> Table:
    """How the loop and its episode slots spent their time, 100 % each, and how many bytes a trajectory takes."""
    total = sum(row["seconds_total"] for row in rows)
    busy = sum(row["slots_busy"] * row["seconds_total"] for row in rows)
    loop = {name: sum(row.get(f"seconds_{name}", 0.0) for row in rows) for name in LOOP}
    table = new_table(f"where {duration(total)} of online training went", ["the loop"], ["share", ""])
    for name, seconds in loop.items():
        table.add_row(LOOP[name], percent(seconds / total), duration(seconds))
    rest = total - sum(loop.values())
    table.add_row("between these", percent(rest / total), duration(rest))
    table.add_section()
    table.add_row("[bold]episode slots[/]")
    clocked = [row for row in rows if "slot_engine" in row]
    weight = sum(row["slots_busy"] * row["seconds_total"] for row in clocked)
    if weight:
        for name, title in SLOTS.items():
            share = sum(row[f"slot_{name}"] * row["slots_busy"] * row["seconds_total"] for row in clocked) / weight
            table.add_row(title, percent(share * busy / total), "")
    table.add_row("free", percent(1 - busy / total), "")
    if stored := [row for row in rows if "bytes_record" in row]:
        table.add_section()
        table.add_row("[bold]a trajectory[/]")
        for name, title in BYTES.items():
            table.add_row(title, "", f"{fmean(row[name] for row in stored) / 1000:.1f} kB")
    return table


def overview(runs: Sequence[Mapping[str, Any]]) -> Table:
    """The table of `runs list`, with one row for each run, from what `loops.runs.glance` returns.

    A run's recipe stands under it where its name does not say which; so both fit beside the rest into 80 characters.
    """
    table = new_table("", ["run", "state"], ["iter", "success", "episodes", "size", "age"])
    if any(run["success"] is not None and not run["measured"] for run in runs):
        table.caption, table.caption_justify = "* of the episodes that it trains on", "left"
    for run in runs:
        table.add_row(
            run["run"] if _says_recipe(run) else f"{run['run']}\n  by {run['recipe']}",
            run["state"],
            f"{run['iteration']}/{run['iterations']}" if run["iterations"] else "",
            "" if run["success"] is None else f"{run['success']:.1%}{'' if run['measured'] else '*'}",
            f"{run['episodes']:,}",
            _short(decimal(run["bytes"])),
            duration(time.time() - run["created"]).split()[0] if run["created"] else "",
        )
    return table


def _says_recipe(run: Mapping[str, Any]) -> bool:
    """Whether a run has the name that it gets by itself, which says its recipe, or has no recipe."""
    name = rf"(eval-)?{re.escape(run['recipe'])}(-\d+)?"
    return not run["recipe"] or re.fullmatch(name, Path(run["run"]).name) is not None


def _short(size: str) -> str:
    """A size without what is behind the point of 100 and more: `3.3 GB`, `330 MB`."""
    return re.sub(r"(\d{3})\.\d", r"\1", size)


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


def episode_list(episodes: Sequence[Mapping[str, Any]], total: int) -> Table:
    """The table of `runs episodes`, from what `loops.failures.listed` returns.

    A phase that all share is in the title; else each stands under its episode, so that reasons have room.
    """
    phases = [f"{each['phase']} {each['iteration']}" for each in episodes]
    several = len(set(phases)) > 1
    shown = "" if len(episodes) == total else f"the last {len(episodes)} of {plural(total, 'episode')}"
    title = ", ".join(filter(None, ["" if several else f"phase {phases[0]}", shown]))
    rows = [
        (
            f"{each['name']}\n  {phase}" if several else each["name"],
            each["task"],
            ": ".join(part for part in (each["termination"].replace("_", " "), each["reason"]) if part),
            "" if each["reward"] is None else f"{each['reward']:g}" if each["valid"] else "invalid",
            str(each["steps"]),
        )
        for phase, each in zip(phases, episodes, strict=True)
    ]
    return new_table(title, ["episode", "task", "how it ended"], ["reward", "steps"], rows)


def reasons(failures: Sequence[Mapping[str, Any]]) -> Table:
    """How often episodes failed for which reason, from what `loops.failures.failures_by_reason` returns."""
    total = sum(each["episodes"] for each in failures)
    rows = [
        (each["reason"], each["example"], f"{each['episodes']:,}", percent(each["episodes"] / total))
        for each in failures
    ]
    return new_table("failures by reason", ["reason", "an example"], ["episodes", "share"], rows)


def freed(run: Path, paths: Mapping[str, Sequence[Path]], sizes: Mapping[str, int]) -> Table:
    """What `runs gc` can delete from a run, by kind."""
    rows = [(kind, f"{len(paths[kind]):,}", decimal(size)) for kind, size in sizes.items() if paths[kind]]
    return new_table(str(run), ["what"], ["number", "size"], rows)


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
        "iteration": f"{run['iteration']} of {run['iterations']}" if run["iterations"] else "",
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


def _iterations(metrics: Sequence[Mapping[str, Any]]) -> Table:
    shown = metrics[-ROWS:]
    there = {name for row in shown for name, value in row.items() if value or name not in HIDDEN_AT_ZERO}
    columns = [column for column in COLUMNS if column[0] in there]
    title = "iterations" if len(shown) == len(metrics) else f"the last {ROWS} of {len(metrics)} iterations"
    rows = [
        [f"{row['step']:.0f}", *("" if row.get(name) is None else form(row[name]) for name, _, form in columns)]
        for row in shown
    ]
    table = new_table(title, [], ["iter", *(heading for _, heading, _ in columns)], rows)
    table.padding = (0, 0, 0, 0)  # all columns together just fit
    return table


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
