"""How a run opens what it is made of, on this machine; a cluster opens it elsewhere (`cluster/`)."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from webdojo.loops.models import make_learner, open_engine
from webdojo.loops.rollouts import OpenRollouts, open_rollouts
from webdojo.recipe import Recipe
from webdojo.store.images import ImageStore
from webdojo.trainer.learner.learner import Learner
from webdojo.types import Engine, ImageSource


class OpenEngine(Protocol):
    """`open_engine`."""

    def __call__(
        self,
        recipe: Recipe,
        images: ImageStore,
        model_path: str,
        attempt: int = 0,
        version: int = 0,
        account: Path | None = None,
    ) -> AbstractAsyncContextManager[Engine]: ...


class MakeLearner(Protocol):
    """`make_learner`."""

    def __call__(self, recipe: Recipe, images: ImageSource, model_path: str, *, kl: bool = True) -> Learner: ...


@dataclass(frozen=True)
class Parts:
    open_rollouts: OpenRollouts = open_rollouts
    open_engine: OpenEngine = open_engine
    make_learner: MakeLearner = make_learner


HERE = Parts()
