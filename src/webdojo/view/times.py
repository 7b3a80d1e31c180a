"""Where the time of online training went, as a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from rich import box
from rich.table import Table

from webdojo.progress import duration
from webdojo.view.charts import percent

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


def time_table(rows: Sequence[Mapping[str, float]]) -> Table:
    """Shares of the loop's time and of its slots' time, each section 100 %, and what a trajectory brings to the store.

    Args:
        rows: the figures of at least one iteration, as `RunStore.metrics("rl")` gives them.
    """
    total = sum(row["seconds_total"] for row in rows)
    busy = sum(row["slots_busy"] * row["seconds_total"] for row in rows)
    loop = {name: sum(row.get(f"seconds_{name}", 0.0) for row in rows) for name in LOOP}
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"where {duration(total)} of online training went",
        title_justify="left",
    )
    table.add_column("the loop")
    for name in ("share", ""):
        table.add_column(name, justify="right")
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
