"""How a variant of a sweep goes on from a warm start that it shares with others."""

from __future__ import annotations

from shutil import copytree, rmtree

from webdojo.errors import StoreError
from webdojo.loops.sweeps.plan import RESULT, Sweep, SweepRun
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.files import write_atomic, writing


def begin(sweep: Sweep, run: SweepRun) -> None:
    """Make a run that has not begun a copy of the run with its warm start, under its own recipe.

    The copy is whole or not there. StoreError where the warm start is not finished.
    """
    if run.starts_from is None or run.begun:
        return
    if not (run.starts_from / RESULT).is_file():
        raise StoreError(f"{run.variant}, seed {run.seed}: its warm start in {run.starts_from} is not finished")
    half = run.folder.with_name(f"{run.folder.name}.part")
    with writing(half):
        rmtree(half, ignore_errors=True)
        copytree(run.starts_from, half)
        (half / RESULT).unlink()
        recipe = load_recipe(sweep.recipe, run.overrides)
        write_atomic(half / "recipe.yaml", dump_recipe(recipe, whole_paths=True).encode())
        half.rename(run.folder)
