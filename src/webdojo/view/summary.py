"""What commands print for people: success by stage, the steps of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

from webdojo.types import Turn
from webdojo.view.film import call_text
from webdojo.view.report import STAGES


def summary(result: Mapping[str, Any]) -> Table:
    """Success of each stage that the run measured, with its 95 % interval.

    Args:
        result: as in `result.json`: each `success_…` holds `rate`, `ci95` and `n`.
    """
    table = Table(box=box.SIMPLE_HEAD, title="success on held-out sites", title_justify="left")
    table.add_column("stage")
    for name in ("success", "95 % interval", "tasks"):
        table.add_column(name, justify="right")
    for key, name, _ in STAGES:
        if key in result:
            found = result[key]
            low, high = found["ci95"]
            table.add_row(name, f"{found['rate']:.1%}", f"{low:.1%} .. {high:.1%}", str(found["n"]))
    return table


def told(step: int, turn: Turn) -> str:
    """One turn: what was thought, called and answered."""
    thought = " ".join(turn.parsed.think.split())
    lines = [f"{step:>3}  {thought if len(thought) <= 200 else thought[:199] + '…'}"]
    for index, call in enumerate(turn.parsed.calls):
        said = f"  → {turn.feedback[index].text}" if index < len(turn.feedback) else ""
        lines.append(f"     {call_text(call)}{said}")
    if turn.parsed.error is not None:
        lines.append(f"     format error: {turn.parsed.error}")
    return "\n".join(lines)
