"""Charts as inline SVG. Sizes are in units of the viewBox; every mark has its values as a hover title.

Colours are CSS classes of the page (`base`, `sft`, `rl`, …), so charts follow its light or dark theme.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from markupsafe import Markup

from webdojo.progress import duration
from webdojo.view.page import TEMPLATES, number, percent

WIDE = (560, 270)


class Series(NamedTuple):
    """A line: its name, its CSS class, and its points; a NaN breaks the line."""

    name: str
    css: str
    points: Sequence[tuple[float, float]]


class Bar(NamedTuple):
    """A value with its interval, both in data units."""

    css: str
    title: str
    value: float
    low: float
    high: float


class Reference(NamedTuple):
    """A horizontal dashed line; its name appears in the legend beside the chart."""

    name: str
    css: str
    value: float


def ticks(low: float, high: float) -> list[float]:
    """About four round numbers that span low..high."""
    if high <= low:
        low, high = low - 0.5 * abs(low or 1), high + 0.5 * abs(high or 1)
    raw = (high - low) / 4
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = magnitude * next(m for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


class _Axes:
    """The plot area; maps data to units of the viewBox."""

    def __init__(self, size: tuple[int, int], x_range: tuple[float, float], y_ticks: list[float]) -> None:
        self.width, self.height = size
        self.left, self.right, self.top, self.bottom = 54, self.width - 12, 12, self.height - 28
        self.x0, self.x1 = x_range if x_range[1] > x_range[0] else (x_range[0] - 0.5, x_range[0] + 0.5)
        self.y_ticks = y_ticks

    def x(self, value: float) -> float:
        return self.left + (value - self.x0) / (self.x1 - self.x0) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.y_ticks[0], self.y_ticks[-1]
        return self.bottom - (min(max(value, low), high) - low) / (high - low) * (self.bottom - self.top)

    def x_ticks(self, values: Sequence[float]) -> list[tuple[float, str]]:
        """Place and text of at most eight of these values."""
        return [(self.x(value), number(value)) for value in values[:: math.ceil(len(values) / 8)]]


def line_chart(
    series: Sequence[Series],
    label: str,
    *,
    size: tuple[int, int] = WIDE,
    y_range: tuple[float, float] | None = None,
    y_format: Callable[[float], str] = number,
    references: Sequence[Reference] = (),
) -> Markup:
    """Draw lines over steps or iterations; `label` is for screen readers, `y_range` by default that of the data."""
    values = [y for each in series for _, y in each.points if math.isfinite(y)] or [0.0]
    xs = sorted({x for each in series for x, _ in each.points}) or [0.0]
    axes = _Axes(size, (xs[0], xs[-1]), ticks(*(y_range or (min(values), max(values)))))
    lines = [
        (each, [list(run) for there, run in groupby(each.points, lambda point: math.isfinite(point[1])) if there])
        for each in series
    ]
    return _svg(axes, label, y_format, axes.x_ticks(xs), references=references, lines=lines)


def grouped_bars(groups: Sequence[tuple[str, Sequence[Bar]]], label: str) -> Markup:
    """Draw shares (0..1) with their intervals, side by side in named groups."""
    axes = _Axes(WIDE, (0, len(groups)), [0, 0.25, 0.5, 0.75, 1])
    x_ticks, drawn = [], []
    for index, (name, bars) in enumerate(groups):
        x_ticks.append((axes.x(index + 0.5), name))
        width = min(40, (axes.x(1) - axes.x(0)) * 0.74 / max(len(bars), 1))
        for k, bar in enumerate(bars):
            x = axes.x(index + 0.5) + (k - len(bars) / 2) * width
            whisker = (x + width / 2, axes.y(bar.low), axes.y(bar.high))
            drawn.append((bar.css, bar.title, x + 2, width - 4, axes.y(bar.value), axes.bottom, whisker))
    return _svg(axes, label, percent, x_ticks, bars=drawn)


def stacked_bars(columns: Sequence[tuple[float, Sequence[tuple[str, str, float]]]], label: str) -> Markup:
    """Draw a column of (name, CSS class, seconds) parts, from the bottom up, at each x."""
    highest = max((sum(value for _, _, value in stack) for _, stack in columns), default=1.0)
    xs = [x for x, _ in columns] or [0.0]
    axes = _Axes(WIDE, (min(xs) - 0.5, max(xs) + 0.5), ticks(0, highest or 1.0))
    width = max(1.0, min(30.0, (axes.x(1) - axes.x(0)) * 0.7))
    bars = []
    for x, stack in columns:
        bottom = 0.0
        for name, css, value in stack:
            title = f"{name} at {x:g}: {duration(value)}"
            bars.append((css, title, axes.x(x) - width / 2, width, axes.y(bottom + value), axes.y(bottom), None))
            bottom += value
    return _svg(axes, label, duration, axes.x_ticks(xs), bars=bars)


def _svg(
    axes: _Axes,
    label: str,
    y_format: Callable[[float], str],
    x_ticks: Sequence[tuple[float, str]],
    **drawn: Sequence[Any],
) -> Markup:
    """Fill the template; `drawn` is what of `references`, `lines` and `bars` there is."""
    values = {"references": (), "lines": (), "bars": (), "axes": axes, "label": label, "y_format": y_format}
    return Markup(TEMPLATES.get_template("chart.svg.j2").render(values, x_ticks=x_ticks, **drawn))
