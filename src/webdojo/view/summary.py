"""The last thing that `webdojo train` prints: success by stage, from the run's result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

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
