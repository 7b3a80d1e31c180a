"""Data sets that several modules read."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdojo.loops.start import collect
from webdojo.recipe import load_recipe

ERRING = ["collect.tasks=6", "collect.attempts=2", "collect.noise=0.6", "rollout.max_steps=6", "rollout.concurrency=6"]


@pytest.fixture(scope="session")
def erring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two attempts of an oracle that errs at each of six tasks, some of which end unfinished."""
    folder = tmp_path_factory.mktemp("erring") / "set"
    collect(load_recipe("quickstart", ERRING), folder, resume=False)
    return folder
