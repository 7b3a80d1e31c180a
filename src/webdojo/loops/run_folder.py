"""Which folder a run lives in, and with which recipe it goes on.

Without a folder from the user, a run of recipe `quickstart` lives in `runs/quickstart`; further ones
in `runs/quickstart-2`, `-3`, …. A run is finished when its `result.json` exists. A run goes on with
the recipe that it was started with, so that an edited file cannot change it half-way; only overrides
given with `--resume` do.
"""

from __future__ import annotations

import re
from pathlib import Path

from webdojo.config import Recipe, load_recipe
from webdojo.errors import ConfigError
from webdojo.store.run import DATABASE, RunStore


def is_unfinished(folder: Path) -> bool:
    """True for a folder whose run was started and has no result yet."""
    return (folder / DATABASE).is_file() and not (folder / "result.json").is_file()


def resume_or_next(root: Path, name: str) -> tuple[Path, bool]:
    """The newest unfinished run of that name under `root`, else the next free folder.

    Returns:
        The folder, and whether a run in it is to be resumed.
    """
    numbered = {1: root / name} if (root / name).exists() else {}
    for folder in root.glob(f"{name}-*"):
        if match := re.fullmatch(rf"{re.escape(name)}-(\d+)", folder.name):
            numbered[int(match[1])] = folder
    unfinished = [number for number in numbered if is_unfinished(numbered[number])]
    if unfinished:
        return numbered[max(unfinished)], True
    number = max(numbered, default=0) + 1
    return root / (name if number == 1 else f"{name}-{number}"), False


def saved_recipe(folder: Path, name: str, overrides: list[str]) -> Recipe:
    """The recipe that the run in `folder` was started with, changed by `overrides` only.

    Raises:
        StoreError: no run there.
        ConfigError: it was started with another recipe than `name`.
    """
    RunStore.open(folder, readonly=True).close()
    recipe = load_recipe(str(folder / "recipe.yaml"), overrides)
    if recipe.name != name:
        raise ConfigError(f"the run in {folder} was started with recipe {recipe.name!r}, not {name!r}: name that one")
    return recipe
