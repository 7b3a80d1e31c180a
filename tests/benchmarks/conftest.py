"""The benchmarks are scripts that import one another by name: their folder is on the path while a test runs them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    """Imports a benchmark by its name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent.parent.parent / "benchmarks"))
        yield importlib.import_module
