"""Tables and texts that commands print for people: success by stage, where time went, the turns of an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from rich import box
from rich.table import Table

from webdojo.progress import duration
from webdojo.types import Turn
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


def new_table(title: str, texts: Sequence[str], numbers: Sequence[str]) -> Table:
    """An empty table in the style of all commands; the columns of texts stand before those of numbers."""
    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", padding=(0, 1, 0, 0))
    for heading in texts:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def success_table(result: Mapping[str, Any]) -> Table:
    """Success of each stage that the run measured, with its 95 % interval.

    Args:
        result: the result as in `result.json`, where each `success_…` holds `rate`, `ci95` and `n`.
    """
    table = new_table("success on held-out sites", ["stage"], ["success", "95 % interval", "tasks"])
    for key, name, _ in STAGES:
        if key in result:
            found = result[key]
            low, high = found["ci95"]
            table.add_row(name, f"{found['rate']:.1%}", f"{low:.1%} .. {high:.1%}", str(found["n"]))
    return table


def turn_text(step: int, turn: Turn) -> str:
    """One turn of an agent: its thought, its calls, and the feedback on each call."""
    thought = " ".join(turn.parsed.think.split())
    lines = [f"{step:>3}  {thought if len(thought) <= 200 else thought[:199] + '…'}"]
    for index, call in enumerate(turn.parsed.calls):
        said = f"  → {turn.feedback[index].text}" if index < len(turn.feedback) else ""
        lines.append(f"     {call_text(call)}{said}")
    if turn.parsed.error is not None:
        lines.append(f"     format error: {turn.parsed.error}")
    return "\n".join(lines)


def time_table(rows: Sequence[Mapping[str, float]]) -> Table:
    """How the loop and its episode slots spent their time, 100 % each, and how many bytes a trajectory takes.

    Args:
        rows: the metrics of at least one iteration, as `RunStore.metrics("rl")` gives them.
    """
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
