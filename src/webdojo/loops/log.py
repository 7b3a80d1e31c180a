"""Figures of a run: one structured line, one row in the store, one point on each TensorBoard curve."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from torch.utils.tensorboard import SummaryWriter

from webdojo.store.run import RunStore

logger = logging.getLogger("webdojo")


class RunLog:
    """Writes figures by phase and step; use it in a `with` block."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._board = SummaryWriter(str(store.path / "tensorboard"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board.close()

    def write(self, phase: str, step: int, figures: Mapping[str, float], line: bool = True) -> None:
        """Keep the figures of a step; `line` also prints them."""
        self._store.add_metrics(phase, step, figures)
        for name, value in figures.items():
            self._board.add_scalar(f"{phase}/{name}", value, step)
        if line:
            logger.info("%s %d  %s", phase, step, "  ".join(f"{k}={v:.4g}" for k, v in figures.items()))
