"""How a variant of a sweep goes on from a warm start that it shares with others."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree, rmtree

from webdojo.errors import StoreError
from webdojo.loops.sweeps.plan import RESULT, Sweep, SweepRun
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.store.files import write_atomic, writing


def begin(sweep: Sweep, run: SweepRun) -> None:
    """Begin a run, if it has not begun, with a copy of its warm start; a StoreError where that is not finished."""
    if run.starts_from is None or run.begun:
        return
    if not (run.starts_from / RESULT).is_file():
        raise StoreError(f"{run.variant}, seed {run.seed}: its warm start in {run.starts_from} is not finished")
    copy_warm_start(run.starts_from, run.folder, load_recipe(sweep.recipe, run.overrides))


def copy_warm_start(start: Path, folder: Path, recipe: Recipe) -> None:
    """Make a copy of a run that ended with its warm start the beginning of another run with another recipe.

    The copy is whole or not there. StoreFailure where the disk refuses it.
    """
    half = folder.with_name(f"{folder.name}.part")
    with writing(half):
        rmtree(half, ignore_errors=True)
        copytree(start, half)
        (half / RESULT).unlink()
        write_atomic(half / "recipe.yaml", dump_recipe(recipe, whole_paths=True).encode())
        half.rename(folder)
