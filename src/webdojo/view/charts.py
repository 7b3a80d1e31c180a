"""Charts as inline SVG, drawn without a library so that a report needs nothing but itself.

Colours are CSS classes of the page (`base`, `sft`, `rl`, …), so charts follow its light or dark
theme. All sizes are in units of the viewBox; every mark has its values as a hover title.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape


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


def number(value: float) -> str:
    """Three significant digits for people: `0.0123`, `4.2`, `1,240`."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share as people read it: `0.5` is `50 %`."""
    return f"{100 * share:.0f} %"


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """About `count` round numbers that span low..high."""
    if high <= low:
        low, high = low - 0.5 * abs(low or 1), high + 0.5 * abs(high or 1)
    raw = (high - low) / count
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = magnitude * next(m for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


class _Frame:
    """The plot area with its axes; maps data to viewBox units."""

    def __init__(self, size: tuple[int, int], x: tuple[float, float], y_ticks: list[float]) -> None:
        self.width, self.height = size
        self.left, self.right, self.top, self.bottom = 54, self.width - 12, 12, self.height - 28
        self.x0, self.x1 = x if x[1] > x[0] else (x[0] - 0.5, x[0] + 0.5)
        self.y_ticks = y_ticks

    def x(self, value: float) -> float:
        return self.left + (value - self.x0) / (self.x1 - self.x0) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.y_ticks[0], self.y_ticks[-1]
        return self.bottom - (min(max(value, low), high) - low) / (high - low) * (self.bottom - self.top)

    def grid(self, y_format: Callable[[float], str]) -> str:
        parts = []
        for tick in self.y_ticks:
            y = self.y(tick)
            parts.append(f'<line class="grid" x1="{self.left}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick end" x="{self.left - 8}" y="{y + 4:.1f}">{escape(y_format(tick))}</text>')
        return "".join(parts)

    def x_ticks(self, values: Sequence[float]) -> str:
        return "".join(
            f'<text class="tick mid" x="{self.x(v):.1f}" y="{self.bottom + 19}">{escape(number(v))}</text>'
            for v in values
        )

    def svg(self, body: str, label: str) -> Markup:
        return Markup(
            f'<svg class="chart" viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(label)}">'
            f"{body}</svg>"
        )


def line_chart(
    series: Sequence[Series],
    label: str,
    *,
    size: tuple[int, int] = (560, 270),
    y_range: tuple[float, float] | None = None,
    y_format: Callable[[float], str] = number,
    references: Sequence[Reference] = (),
) -> Markup:
    """Draw lines over steps or iterations. `label` describes the chart for screen readers.

    Args:
        y_range: the range of the axis, which is widened to round numbers; by default, the range of the data.
    """
    points = [(x, y) for s in series for x, y in s.points if math.isfinite(y)]
    values = [y for _, y in points] or [0.0]
    low, high = y_range or (min(values), max(values))
    xs = sorted({x for s in series for x, _ in s.points}) or [0.0]
    frame = _Frame(size, (xs[0], xs[-1]), ticks(low, high))
    parts = [frame.grid(y_format), frame.x_ticks(_spread(xs, 8))]
    for reference in references:
        y = frame.y(reference.value)
        title = escape(f"{reference.name}: {y_format(reference.value)}")
        parts.append(
            f'<line class="reference {reference.css}" x1="{frame.left}" x2="{frame.right}" y1="{y:.1f}" y2="{y:.1f}">'
            f"<title>{title}</title></line>"
        )
    for s in series:
        for run in _unbroken(s.points):
            path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in run)
            parts.append(f'<polyline class="line {s.css}" points="{path}"/>')
        # Many points would hide the line, so then they only answer the pointer.
        radius, dense = (3.2, "") if len(s.points) <= 40 else (5, " dense")
        parts += [
            f'<circle class="point {s.css}{dense}" cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="{radius}">'
            f"<title>{escape(f'{s.name} at {x:g}: {y_format(y)}')}</title></circle>"
            for x, y in s.points
            if math.isfinite(y)
        ]
    return frame.svg("".join(parts), label)


def grouped_bars(
    groups: Sequence[tuple[str, Sequence[Bar]]], label: str, *, size: tuple[int, int] = (560, 270)
) -> Markup:
    """Draw shares (0..1) with their intervals, side by side in named groups."""
    frame = _Frame(size, (0, len(groups)), [0, 0.25, 0.5, 0.75, 1])
    parts = [frame.grid(percent)]
    slot = (frame.right - frame.left) / max(len(groups), 1)
    for index, (name, bars) in enumerate(groups):
        width = min(40, slot * 0.74 / max(len(bars), 1))
        start = frame.left + slot * (index + 0.5) - width * len(bars) / 2
        parts.append(
            f'<text class="tick mid" x="{frame.left + slot * (index + 0.5):.1f}" y="{frame.bottom + 19}">'
            f"{escape(name)}</text>"
        )
        for k, bar in enumerate(bars):
            x, middle = start + k * width + 2, start + (k + 0.5) * width
            top = frame.y(bar.value)
            parts.append(
                f'<g><title>{escape(bar.title)}</title><rect class="bar {bar.css}" x="{x:.1f}" y="{top:.1f}" '
                f'width="{width - 4:.1f}" height="{max(frame.bottom - top, 1):.1f}" rx="3"/>'
                + _whisker(middle, frame.y(bar.low), frame.y(bar.high))
                + "</g>"
            )
    return frame.svg("".join(parts), label)


def stacked_bars(
    columns: Sequence[tuple[float, Sequence[tuple[str, str, float]]]],
    label: str,
    *,
    size: tuple[int, int] = (560, 270),
    y_format: Callable[[float], str] = number,
) -> Markup:
    """Draw a column of (name, CSS class, value) parts, from the bottom up, at each x."""
    highest = max((sum(part for _, _, part in stack) for _, stack in columns), default=1.0)
    xs = [x for x, _ in columns] or [0.0]
    frame = _Frame(size, (min(xs) - 0.5, max(xs) + 0.5), ticks(0, highest or 1.0))
    parts = [frame.grid(y_format), frame.x_ticks(_spread(xs, 8))]
    width = max(1.0, min(30.0, (frame.right - frame.left) / (frame.x1 - frame.x0) * 0.7))
    for x, stack in columns:
        bottom = 0.0
        for name, css, value in stack:
            y0, y1 = frame.y(bottom), frame.y(bottom + value)
            parts.append(
                f'<rect class="bar {css}" x="{frame.x(x) - width / 2:.1f}" y="{y1:.1f}" width="{width:.1f}" '
                f'height="{y0 - y1:.1f}"><title>{escape(f"{name} at {x:g}: {y_format(value)}")}</title></rect>'
            )
            bottom += value
    return frame.svg("".join(parts), label)


def _whisker(x: float, low: float, high: float) -> str:
    return f'<path class="whisker" d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8"/>'


def _spread(values: Sequence[float], most: int) -> list[float]:
    stride = math.ceil(len(values) / most)
    return list(values[::stride])


def _unbroken(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if math.isfinite(y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
