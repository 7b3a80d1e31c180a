"""Plots of tables by matplotlib, as SVG and as PNG.

Texts from tasks and pages are drawn as plain shapes: without markup of formulas, without what the font lacks, and never
as text of the SVG.
"""

from __future__ import annotations

import io
import logging
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from webdojo.errors import ConfigError
from webdojo.loops.analysis.table import RUN, Cell, Kind, Plot, Row, Table

MOST_PANELS, MOST_BARS, MOST_CHARACTERS = 12, 30, 36
_COLUMNS = 3
"""Panels side by side."""
_COLOURS = tuple(f"C{n}" for n in range(10))
_DASHES = ("-", "--", ":", "-.")
_STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9.0,
    "grid.alpha": 0.3,
    "legend.fontsize": 8.0,
    "lines.markersize": 3.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "webdojo",
    "text.parse_math": False,
    "text.usetex": False,
}


class Drawn(NamedTuple):
    """A plot of a table, and its two files."""

    plot: Plot
    svg: bytes
    png: bytes


def library() -> Any:
    """matplotlib, which says nothing of its own.

    Raises:
        ConfigError: it is not installed.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its cache of fonts
    try:
        import matplotlib.figure
        import matplotlib.ticker
    except ImportError:
        raise ConfigError(
            "plots need the package 'matplotlib', which is not installed: pip install 'webdojo[analysis]'"
        ) from None
    return matplotlib


def plots(table: Table) -> Iterator[Drawn]:
    """Draw the plots of a table that have something to show."""
    matplotlib = library()
    for plot in table.plots:
        rows = [row for row in table.rows if any(_finite(row[table.places[name]]) for name in plot.y)]
        if rows:
            with matplotlib.rc_context():
                matplotlib.rcdefaults()
                matplotlib.rcParams.update(_STYLE)
                figure = _Drawing(table, plot, rows, matplotlib).figure()
                yield Drawn(plot, _saved(figure, "svg", metadata={"Date": None}), _saved(figure, "png", dpi=150))


def _saved(figure: Any, form: str, **options: Any) -> bytes:
    data = io.BytesIO()
    figure.savefig(data, format=form, **options)
    return data.getvalue()


def _finite(value: Cell) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def plain(text: Cell) -> str:
    """A text as it is drawn: in one line, short, and of letters that every font has."""
    shown = "".join(letter if " " <= letter <= "~" else "?" for letter in str(text)).lstrip("_") or "?"
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[: MOST_CHARACTERS - 3]}..."


class _Drawing:
    """One figure: rows by panel, and in a panel by line or bar."""

    def __init__(self, table: Table, plot: Plot, rows: Sequence[Row], matplotlib: Any) -> None:
        self.table, self.plot, self.rows, self.matplotlib = table, plot, rows, matplotlib
        self.several_runs = RUN.name in table.places
        self.as_shares = next(each.kind for each in table.columns if each.name == plot.y[0]) is Kind.SHARE
        self.colours: dict[str, str] = {}
        self.dashes: dict[str, str] = {}

    def figure(self) -> Any:
        panels = self._panels()
        shown = dict(list(panels.items())[:MOST_PANELS])
        across = min(_COLUMNS, len(shown))
        down = math.ceil(len(shown) / across)
        tallest = max(min(len(rows), MOST_BARS) for rows in shown.values()) if self.plot.bars else 0
        size = (4.6 * across, max(3.2, 0.22 * tallest + 1.2) * down)
        figure = self.matplotlib.figure.Figure(figsize=size, layout="constrained")
        left_out = f" (the first {len(shown)} of {len(panels)} panels)" if len(shown) < len(panels) else ""
        figure.suptitle(f"{self.plot.title}{left_out}")
        for place, (name, rows) in enumerate(shown.items(), start=1):
            axes = figure.add_subplot(down, across, place)
            title = plain(name) if name else ""
            (self._bars if self.plot.bars else self._lines)(axes, rows, title)
        return figure

    def _panels(self) -> dict[str, list[Row]]:
        """The rows of each panel; bars of several runs stand in panels of their own."""
        names = [self.plot.panel] if self.plot.panel else []
        if self.plot.bars and self.several_runs:
            names = [RUN.name, *names]
        panels: dict[str, list[Row]] = {}
        for row in self.rows:
            panels.setdefault(" ".join(str(self._cell(row, name)) for name in names), []).append(row)
        return panels

    def _cell(self, row: Row, name: str) -> Cell:
        return row[self.table.places[name]]

    def _lines(self, axes: Any, rows: Sequence[Row], title: str) -> None:
        lines: dict[tuple[str, str, str], list[Row]] = {}
        for y in self.plot.y:
            for row in rows:
                run = str(self._cell(row, RUN.name)) if self.several_runs else ""
                named = [plain(self._cell(row, name)) for name in self.plot.by if self._cell(row, name) is not None]
                name = " ".join([*named, *([y.replace("_", " ")] if len(self.plot.y) > 1 else [])])
                lines.setdefault((run, name, y), []).append(row)
        for (run, name, y), points in lines.items():
            x = [self._cell(row, self.plot.x) for row in points]
            values = [self._value(row, y) for row in points]
            colour = self.colours.setdefault(name, _COLOURS[len(self.colours) % len(_COLOURS)])
            dash = self.dashes.setdefault(run, _DASHES[len(self.dashes) % len(_DASHES)])
            label = " ".join(filter(None, (plain(run) if run else "", name)))
            axes.plot(x, values, color=colour, linestyle=dash, marker="o", label=label)
            if self.plot.interval is not None:
                low, high = ([self._value(row, each) for row in points] for each in self.plot.interval)
                axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set_title(title)
        axes.set_xlabel(self.plot.x.replace("_", " "))
        places = {self._cell(row, self.plot.x) for row in rows}
        if len(places) == 1:
            axes.set_xticks(list(places))
        else:
            axes.xaxis.set_major_locator(self.matplotlib.ticker.MaxNLocator(integer=True))
        self._scale(axes, axes.yaxis)
        if any(run or name for run, name, _ in lines):
            axes.legend()

    def _bars(self, axes: Any, rows: Sequence[Row], title: str) -> None:
        (y,) = self.plot.y
        shown = rows[:MOST_BARS]
        labelled: set[str] = set()
        for place, row in enumerate(shown):
            name = " ".join(plain(self._cell(row, each)) for each in self.plot.by if self._cell(row, each))
            colour = self.colours.setdefault(name, _COLOURS[len(self.colours) % len(_COLOURS)])
            value = self._value(row, y)
            label = name if name not in labelled else None
            labelled.add(name)
            axes.barh(place, value, color=colour, alpha=0.75, label=label)
            if self.plot.interval is not None:
                low, high = (self._value(row, each) for each in self.plot.interval)
                axes.plot([low, high], [place, place], color="black", linewidth=0.8)
        left_out = f" (the first {len(shown)} of {len(rows)})" if len(shown) < len(rows) else ""
        axes.set_title(f"{title}{left_out}")
        axes.set_yticks(range(len(shown)), [plain(self._cell(row, self.plot.x)) for row in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        self._scale(axes, axes.xaxis)
        if any(labelled):
            axes.legend()

    def _scale(self, axes: Any, axis: Any) -> None:
        """Shares are shown as percent, and every scale begins at 0 where no value is below."""
        if self.as_shares:
            axis.set_major_formatter(self.matplotlib.ticker.PercentFormatter(1.0))
        low, high = axis.get_view_interval()
        if high > 0:
            limit = axes.set_xlim if self.plot.bars else axes.set_ylim
            limit(min(low, 0.0) if self._below_zero() else 0.0, high)

    def _below_zero(self) -> bool:
        return any(self._value(row, name) < 0 for row in self.rows for name in self.plot.y)

    def _value(self, row: Row, name: str) -> float:
        value = self._cell(row, name)
        return float(value) if isinstance(value, (int, float)) else math.nan
