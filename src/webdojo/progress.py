"""Progress for people: a live bar on a terminal, and elsewhere a plain line now and then and one at the end.

It writes to stderr, so that stdout keeps what a program prints for others to read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress


class Progress:
    """A count that grows towards `total` (None: not known), and the latest metrics beside it."""

    def __init__(self, name: str, total: int | None) -> None:
        self.name = name
        self.total = total
        self.done = 0.0
        self.metrics: dict[str, float | str] = {}
        self.changed: Callable[[], None] = lambda: None
        self._started = time.monotonic()
        self._found = 0.0

    def advance(self, count: float = 1, **metrics: float | str) -> None:
        self.done += count
        self.metrics |= metrics
        self.changed()

    def found(self, count: float) -> None:
        """Count what was done before, which says nothing about the pace."""
        self._found += count
        self.advance(count)

    def pace(self) -> str:
        """Rate and time left, for example `3.2/s, 1m 05s left`."""
        if self.done <= self._found:
            return ""
        rate = (self.done - self._found) / max(time.monotonic() - self._started, 1e-9)
        shown = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each"
        if self.total is None or self.done >= self.total:
            return shown
        return f"{shown}, {duration((self.total - self.done) / rate)} left"

    def metrics_text(self) -> str:
        return " ".join(f"{k}={v if isinstance(v, str) else format(v, '.4g')}" for k, v in self.metrics.items())

    def line(self) -> str:
        share = f"/{self.total} ({100 * self.done / self.total:.0f} %)" if self.total else ""
        gone = f"{duration(time.monotonic() - self._started)} gone"
        parts = [f"{self.name}: {self.done:g}{share}", gone, self.pace(), self.metrics_text()]
        return "  ".join(part for part in parts if part)


@contextmanager
def progress(
    name: str, total: int | None, *, every_s: float = 10, stays: bool = True, console: Console | None = None
) -> Iterator[Progress]:
    """Show the progress of some work while the block runs: as a bar on a terminal, else as a line every few seconds.

    `stays` says whether it is still shown at the end, which work does without that reports by itself what it did.
    """
    console = console or Console(stderr=True)
    bar = Progress(name, total)
    if not console.is_terminal:
        shown = time.monotonic()

        def print_line(after_s: float = every_s) -> None:
            nonlocal shown
            if time.monotonic() - shown >= after_s:
                shown = time.monotonic()
                console.print(bar.line(), markup=False, highlight=False, soft_wrap=True)

        bar.changed = print_line
        yield bar
        if stays:
            print_line(after_s=0)
        return
    with RichProgress(
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[cyan]{task.fields[pace]}"),
        TextColumn("[dim]{task.fields[metrics]}", markup=True),
        console=console,
        transient=not stays,
    ) as live:
        task = live.add_task(name, total=total, pace="", metrics="")

        def update() -> None:
            metrics = bar.metrics_text().replace("[", r"\[")
            live.update(task, completed=bar.done, pace=bar.pace(), metrics=metrics)

        bar.changed = update
        yield bar


def duration(seconds: float) -> str:
    """Seconds for people: `8s`, `3m 20s`, `2h 05m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def plural(number: int, noun: str) -> str:
    """How many of something, for people: `1 episode`, `1,200 episodes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
