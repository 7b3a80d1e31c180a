"""A sweep: one recipe trained in several variants, each with several seeds, and what came of them side by side.

A sweep is a YAML file, of which the package has some (`sweep_names`):

```yaml
recipe: quickstart              # a name, or a file beside this one
overrides: [train.iterations=9] # of all its runs
seeds: [0, 1, 2]
grid:                           # every combination of these values
  harness.screenshots_kept: [1, 3]
variants:                       # with names of their own; the first of all is what the others are compared with
  no feedback: [harness.keep_feedback=false]
```

Each run is a `webdojo train` of its own in `OUT/<variant>/seed-<n>`; `{seed}` in an override is its seed. Runs that are
finished are not made again, and one that was stopped goes on, so that a sweep can be stopped at any time, or its runs
shared out among machines that see the same folder.

With `shared_warm_start: true` a run in `OUT/warm_start/seed-<n>` makes the warm start of a seed, and its variants go on
from there: they differ by what they change alone, and take less time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import Field

from webdojo.config import Section, read_section
from webdojo.errors import ConfigError
from webdojo.loops.run_folder import FIXED, changed
from webdojo.recipe import Recipe, load_recipe, recipe_names
from webdojo.recipe_paths import whole
from webdojo.store.run import DATABASE
from webdojo.types import Record

RESULT = "result.json"
WARM_START = "warm_start"
"""In place of a variant: the run that ends with the warm start from which those of its seed go on."""
_SHIPPED = Path(str(files("webdojo.recipes"))) / "sweeps"


class Sweep(Section):
    """What a file of a sweep says."""

    recipe: str
    """Name of a recipe, or a file, whose path may be relative to that of the sweep."""
    overrides: list[str] = Field(default=[])
    """Changes to the recipe that all runs have."""
    seeds: list[int] = Field(default=[0], min_length=1)
    grid: dict[str, list[Any]] = Field(default={})
    """By key, values of which every combination is a variant."""
    variants: dict[str, list[str]] = Field(default={})
    """Further variants by name, each with its own changes."""
    shared_warm_start: bool = False
    """Whether the variants of a seed go on from one warm start, which the recipe makes without their changes."""


class Variant(Record):
    """One column of a sweep: what it changes."""

    name: str
    overrides: list[str]


_ALONE = Variant(name=WARM_START, overrides=["train.iterations=0", "cycles.rounds=0"])


class SweepRun(Record):
    """One training of a sweep."""

    variant: str
    seed: int
    folder: Path
    overrides: list[str]
    starts_from: Path | None = None
    """The folder of the run whose warm start it goes on from."""

    @property
    def begun(self) -> bool:
        return (self.folder / DATABASE).is_file()

    @property
    def finished(self) -> bool:
        return (self.folder / RESULT).is_file()


def sweep_names() -> list[str]:
    """Names of the sweeps inside the package."""
    return sorted(path.name.removesuffix(".yaml") for path in _SHIPPED.iterdir())


def sweep_file(name_or_path: str) -> Path:
    """The file of a sweep: a path, or one inside the package by its name; a ConfigError where there is none."""
    if name_or_path.endswith((".yaml", ".yml")):
        return Path(name_or_path)
    if name_or_path not in sweep_names():
        raise ConfigError(
            f"no sweep is called {name_or_path!r}: give one of {', '.join(sweep_names())}, or a .yaml file"
        )
    return _SHIPPED / f"{name_or_path}.yaml"


def read_sweep(path: Path) -> Sweep:
    """The sweep in a YAML file, whose runs all have recipes that load; a ConfigError says what is wrong with it."""
    sweep = read_section(path, Sweep, "sweep", ConfigError)
    if sweep.recipe not in recipe_names() and (beside := path.parent / sweep.recipe).is_file():
        sweep = sweep.model_copy(update={"recipe": str(beside)})
    variants = variants_of(sweep)
    folders = [WARM_START, *(_folder(each.name) for each in variants)]
    if twice := next((each for each in variants if folders.count(_folder(each.name)) > 1), None):
        raise ConfigError(
            f"sweep {str(path)!r}: another variant, or a warm start, has the folder of {twice.name!r}; name it apart"
        )
    if len(set(sweep.seeds)) < len(sweep.seeds):
        raise ConfigError(f"sweep {str(path)!r}: seeds {sweep.seeds}: one stands there twice")
    recipes = [_first_recipe(sweep, each.overrides) for each in variants]
    if sweep.shared_warm_start:
        start = _first_recipe(sweep, [])
        for each, recipe in zip(variants, recipes, strict=True):
            if key := changed(start, recipe, (*FIXED, "sft")):
                raise ConfigError(
                    f"sweep {str(path)!r}: {each.name!r} changes {key}, on which the warm start depends: leave "
                    "shared_warm_start out, so that each variant makes its own"
                )
    return sweep


def _first_recipe(sweep: Sweep, overrides: Sequence[str]) -> Recipe:
    """The recipe of a sweep with some changes, for its first seed."""
    return load_recipe(sweep.recipe, _for_seed([*sweep.overrides, *overrides], sweep.seeds[0]))


def variants_of(sweep: Sweep) -> list[Variant]:
    """The variants of a sweep: those of its grid, then those with names; where it has none, the recipe as it is."""
    found = []
    for values in product(*sweep.grid.values()) if sweep.grid else ():
        chosen = list(zip(sweep.grid, values, strict=True))
        name = ", ".join(f"{key.rpartition('.')[2]}={_written(value)}" for key, value in chosen)
        found.append(Variant(name=name, overrides=[f"{key}={_written(value)}" for key, value in chosen]))
    found += [Variant(name=name, overrides=overrides) for name, overrides in sweep.variants.items()]
    return found or [Variant(name="default", overrides=[])]


def runs_of(sweep: Sweep, out: Path) -> list[SweepRun]:
    """The runs of a sweep, all variants of a seed before the next seed, so that a part of them can be compared."""

    def run(variant: Variant, seed: int, starts_from: Path | None) -> SweepRun:
        return SweepRun(
            variant=variant.name,
            seed=seed,
            folder=out / _folder(variant.name) / f"seed-{seed}",
            overrides=_for_seed([f"seed={seed}", *sweep.overrides, *variant.overrides], seed),
            starts_from=starts_from,
        )

    found = []
    for seed in sweep.seeds:
        start = None
        if sweep.shared_warm_start:
            found.append(run(_ALONE, seed, None))
            start = found[-1].folder
        found += [run(variant, seed, start) for variant in variants_of(sweep)]
    return found


def check_finished(sweep: Sweep, runs: Sequence[SweepRun]) -> None:
    """Raise a ConfigError where a finished run was made by another recipe than the one that the sweep now gives it."""
    for run in runs:
        if run.finished:
            made = load_recipe(str(run.folder / "recipe.yaml"), migrate=True)
            asked = load_recipe(sweep.recipe, run.overrides)
            if whole(made.model_dump(mode="json")) != whole(asked.model_dump(mode="json")):
                raise ConfigError(
                    f"{run.folder} was made with other settings than the sweep now has for {run.variant!r}: give "
                    "another --out, or remove that folder"
                )


def shard(runs: Sequence[SweepRun], which: str) -> list[SweepRun]:
    """The runs that are the share `i/n` of all; a ConfigError where that is none.

    Those that go on from one warm start stay together.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", which)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ConfigError(f"--shard {which!r} must look like 1/4, the first of four shares")
    together: dict[Path, list[SweepRun]] = {}
    for run in runs:
        together.setdefault(run.starts_from or run.folder, []).append(run)
    return [run for each in list(together.values())[int(found[1]) - 1 :: int(found[2])] for run in each]


def _written(value: Any) -> str:
    """A value as an override writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def _for_seed(overrides: Sequence[str], seed: int) -> list[str]:
    return [each.replace("{seed}", str(seed)) for each in overrides]


def _folder(variant: str) -> str:
    return re.sub(r"[^\w=.-]+", "_", variant)
