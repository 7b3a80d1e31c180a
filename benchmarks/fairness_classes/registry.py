"""All classes: importing the modules that have them fills the lists of `kinds_of_classes.py`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from fairness_classes import kinds_of_classes
from fairness_classes.kinds_of_classes import ROUTES, WORDINGS, WRONG_ANSWERS, WRONG_SESSIONS, Class

__all__ = ["ROUTES", "WORDINGS", "WRONG_ANSWERS", "WRONG_SESSIONS", "everything"]
_SORTS = ("routes", "wordings", "wrong")

for _module in sorted(Path(__file__).parent.glob("*_*.py")):
    if _module.stem.partition("_")[0] in _SORTS:
        importlib.import_module(f"{kinds_of_classes.__package__}.{_module.stem}")


def everything() -> list[Class[Any]]:
    """The classes of all sorts and both halves."""
    return [*ROUTES, *WORDINGS, *WRONG_ANSWERS, *WRONG_SESSIONS]
