"""Paths in recipes: files of plugs and of tasks, folders of models.

A relative one in a recipe file is looked for beside that file, and then in the working folder; one in an override, in
the working folder. The recipe that a run keeps has whole paths, so that the run goes on from any folder.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from webdojo.policy.config import SHIPPED

KEYS = (
    "model.path",
    "env.path",
    "env.eval_path",
    "env.folder",
    "tasks.path",
    "tasks.eval_path",
    "tasks.blocklist",
    "browser.storage_state",
    "engine.cache",
    "reward.path",
    "reward.model.path",
    "sft.data",
)
"""Keys whose value is a path. A plug of a file is known by its form, whichever key names it."""
WRITTEN = ("env.folder", "tasks.blocklist", "engine.cache")
"""Those of them whose file need not be there at first."""
_PLUG = re.compile(r"([^:]+\.py):(\w+)")


def beside(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The keys of a recipe file in `folder`, with whole paths for what lies there and not in the working folder."""

    def place(key: str, path: str) -> str:
        there = os.path.abspath(folder / path)
        return there if os.path.exists(there) and there != os.path.abspath(path) else path

    return {key: _placed(key, value, place) for key, value in data.items()}


def whole(data: dict[str, Any]) -> dict[str, Any]:
    """The keys of a recipe, with whole paths for what lies in the working folder."""

    def place(key: str, path: str) -> str:
        there = os.path.abspath(path)
        return there if os.path.exists(there) or key in WRITTEN else path

    return {key: _placed(key, value, place) for key, value in data.items()}


def named(data: Mapping[str, Any]) -> dict[str, str]:
    """The paths that a recipe names, by their keys."""
    found: dict[str, str] = {}

    def note(key: str, path: str) -> str:
        found[key] = path
        return path

    for key, value in data.items():
        _placed(key, value, note)
    return found


def moved(before: Mapping[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The keys of a recipe, with the earlier paths for what lay where nothing is on this machine."""
    earlier = named(before)

    def place(key: str, path: str) -> str:
        lay = earlier.get(key, "")
        return lay if os.path.isabs(lay) and not os.path.exists(lay) else path

    return {key: _placed(key, value, place) for key, value in after.items()}


def whole_path(model: str) -> str:
    """The whole path of a model's folder; another name of a model as it is."""
    return os.path.abspath(model) if model not in SHIPPED and os.path.isdir(model) else model


def folderless(plug: str) -> str:
    """The name of a plug without the folder of its file, for what must not change with that."""
    found = _PLUG.fullmatch(plug)
    return f"./{os.path.basename(found[1])}:{found[2]}" if found else plug


def _placed(key: str, value: Any, place: Callable[[str, str], str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _placed(f"{key}.{name}", each, place) for name, each in value.items()}
    if isinstance(value, list):
        return [_placed(key, each, place) for each in value]
    if not isinstance(value, str):
        return value
    if found := _PLUG.fullmatch(value):
        return f"{place(key, found[1])}:{found[2]}"
    return place(key, value) if key in KEYS and value not in ("", *SHIPPED) else value
