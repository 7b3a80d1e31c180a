"""What a tracker must have, and what it is given.

Nothing here waits for one: a run calls it from a thread of its own, one call after the other
(`loops/tracking/trackers.py`), and what it raises becomes a warning.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from webdojo.errors import Missing

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class TrackedRun:
    """A run as a tracker gets to know it."""

    project: str
    name: str
    recipe: Mapping[str, Any]
    """The resolved recipe as plain JSON, without the logins that addresses may carry."""
    folder: Path
    """The run folder, in which a tracker may keep its own files."""
    id: str = ""
    """What `start` returned when the run began; empty for a new run."""


@dataclass(frozen=True)
class Sample:
    """A few screenshots of an episode, side by side, with what it was about."""

    image: Image.Image
    caption: str


class Tracker(ABC):
    """One run in a tool that shows runs."""

    package: ClassVar[str] = ""
    """The package that it imports, which is also the name of webdojo's extra; empty where it needs none."""

    @classmethod
    def check_setup(cls) -> None:
        """Raise a `Missing` where it could not start on this machine."""
        if not cls.package:
            return
        found = find_spec(cls.package)
        if found is None or found.origin is None:  # a folder of that name, as W&B makes one, is no package
            raise Missing(
                f"tracking.report_to needs the package {cls.package!r}, which is not installed: "
                f"pip install 'webdojo[{cls.package}]'"
            )

    @abstractmethod
    def start(self, run: TrackedRun) -> str:
        """Begin a run, or go on with the one of `run.id`; the id by which it goes on later."""

    @abstractmethod
    def log_metrics(self, phase: str, step: int, metrics: Mapping[str, float], time_s: float) -> None:
        """Add a point to each curve `phase/name`; `time_s` is when it was measured (Unix time). All are finite. Phases
        count their own steps."""

    @abstractmethod
    def log_samples(self, phase: str, step: int, samples: Sequence[Sample]) -> None:
        """Show episodes of an evaluation."""

    @abstractmethod
    def attach(self, file: Path) -> None:
        """Keep a file with the run."""

    @abstractmethod
    def finish(self, failed: bool) -> None:
        """End the run, or pause it: it may go on later."""
