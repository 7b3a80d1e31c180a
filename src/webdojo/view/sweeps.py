"""The table and the page of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from webdojo.loops.sweeps.plan import SweepRun
from webdojo.loops.sweeps.results import VariantResult, curves
from webdojo.view.charts import Series, line_chart
from webdojo.view.page import percent, write_page
from webdojo.view.tables import new_table

_CSS = ("rl", "sft", "base", "control", "reward")
"""Colours of variants, in their order."""
_NUMBERS = ("seeds", "success", "95 % interval", "to first", "steps", "tokens")


def sweep_table(found: Sequence[VariantResult]) -> Table:
    """Success by variant; `to first` is the mean difference to the first variant, in points, of runs of one seed."""
    return new_table("success on held-out tasks", ["variant"], _NUMBERS, map(_row, found))


def write_sweep(path: Path, name: str, runs: Sequence[SweepRun], found: Sequence[VariantResult]) -> Path:
    """Write a page with the success of each variant, the same as a table, and the reward by iteration."""
    css = {each.variant: _CSS[index % len(_CSS)] for index, each in enumerate(found)}
    lines = [Series(variant, css[variant], points) for variant, points in curves(runs).items()]
    bars = [{"rate": each.success, "ci95": each.ci95, "n": each.episodes, "steps": each.steps} for each in found]
    return write_page(
        path,
        "sweep.html.j2",
        name=name,
        all=len(runs),
        finished=sum(run.finished for run in runs),
        found=[(each.variant, css[each.variant], bar) for each, bar in zip(found, bars, strict=True)],
        headings=["variant", *_NUMBERS],
        rows=[_row(each) for each in found],
        lines=lines,
        curve=line_chart(lines, "Reward of training by iteration", y_range=(0, 1), y_format=percent) if lines else None,
    )


def _row(each: VariantResult) -> list[str]:
    return [
        each.variant,
        str(len(each.seeds)),
        f"{each.success:.1%}",
        "{:.1%} .. {:.1%}".format(*each.ci95),
        "" if each.gain is None else f"{100 * each.gain:+.1f}",
        f"{each.steps:.1f}",
        f"{each.response_tokens:.0f}",
    ]
