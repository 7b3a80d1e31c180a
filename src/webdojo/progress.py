"""Progress for people: a live bar on a terminal, and elsewhere a plain line now and then.

    with progress("SFT", total=300) as bar:
        for batch in batches:
            bar.advance(1, loss=learn(batch))

On a terminal it is a rich bar with count, rate, time left and the latest metrics. In a log file or
a pipe it is one line every `every_s` seconds and one at the end. It writes to stderr, so that
stdout keeps what a program prints for others to read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
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
        self._started = time.monotonic()

    def advance(self, count: float = 1, **metrics: float | str) -> None:
        """Add to the count, and show these metrics from now on."""
        self.done += count
        self.metrics |= metrics
        self._changed()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def pace(self) -> str:
        """Rate and time left, for example `3.2/s, 1m 05s left`."""
        if not self.done:
            return ""
        rate = self.done / max(self.seconds, 1e-9)
        shown = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each"
        if self.total is None or self.done >= self.total:
            return shown
        return f"{shown}, {duration((self.total - self.done) / rate)} left"

    def line(self) -> str:
        """Count, time and metrics as plain text."""
        share = f"/{self.total} ({100 * self.done / self.total:.0f} %)" if self.total else ""
        parts = [
            f"{self.name}: {self.done:g}{share}",
            f"{duration(self.seconds)} gone",
            self.pace(),
            self._metrics_text(),
        ]
        return "  ".join(part for part in parts if part)

    def _metrics_text(self) -> str:
        return " ".join(f"{k}={v if isinstance(v, str) else format(v, '.4g')}" for k, v in self.metrics.items())

    def _changed(self) -> None: ...


class _Lines(Progress):
    def __init__(self, name: str, total: int | None, console: Console, every_s: float) -> None:
        super().__init__(name, total)
        self._console, self._every_s, self._shown = console, every_s, time.monotonic()

    def _changed(self) -> None:
        if time.monotonic() - self._shown >= self._every_s:
            self.show()

    def show(self) -> None:
        self._shown = time.monotonic()
        self._console.print(self.line(), markup=False, highlight=False, soft_wrap=True)


class _Bar(Progress):
    def __init__(self, name: str, total: int | None, console: Console) -> None:
        super().__init__(name, total)
        self.live = RichProgress(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[cyan]{task.fields[pace]}"),
            TextColumn("[dim]{task.fields[metrics]}", markup=True),
            console=console,
        )
        self._task = self.live.add_task(name, total=total, pace="", metrics="")

    def _changed(self) -> None:
        metrics = self._metrics_text().replace("[", r"\[")
        self.live.update(self._task, completed=self.done, total=self.total, pace=self.pace(), metrics=metrics)


@contextmanager
def progress(
    name: str, total: int | None, *, every_s: float = 10, console: Console | None = None
) -> Iterator[Progress]:
    """Show the progress of some work while the block runs.

    Args:
        name: what is being done.
        total: the count at which the work is done; None if it is not known.
        every_s: seconds between lines if there is no terminal.
        console: where to print; stderr by default.
    """
    console = console or Console(stderr=True)
    if console.is_terminal:
        bar = _Bar(name, total, console)
        with bar.live:
            yield bar
    else:
        lines = _Lines(name, total, console, every_s)
        yield lines
        lines.show()


def duration(seconds: float) -> str:
    """Seconds for people: `8s`, `3m 20s`, `2h 05m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
