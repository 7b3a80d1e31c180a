"""From data sets to a smaller one that is worth imitating, with a report of what was left out and why.

Invariant: the new data set appears whole under its name; one that was stopped leaves nothing there, and is made anew.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import Field

from webdojo.errors import ConfigError, StoreError
from webdojo.loops.collection.dataset import (
    Counts,
    Dataset,
    Manifest,
    copy_screenshots,
    counts,
    open_dataset,
    scratch,
    write_manifest,
)
from webdojo.loops.run_folder import COLLECT
from webdojo.progress import progress
from webdojo.recipe import Recipe, load_recipe
from webdojo.rollout.curation import Dropped, choose, dropped_steps
from webdojo.store.files import write_atomic
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.types import Record

REPORT = "curation.json"
EXAMPLES = 3
"""Of each reason, for the report."""
ALIKE = ("tokenizer", "harness", "native_tools")
"""What of their lineage data sets must have in common to become one."""


class Example(Record):
    dataset: str
    id: str
    why: str
    step: int | None = None
    """The place of the step that was dropped; None: the whole trajectory was."""


class Reason(Record):
    count: int
    examples: list[Example] = Field(default_factory=list)


class Report(Record):
    """What `curation.json` holds."""

    datasets: list[str]
    rules: dict[str, Any]
    """The recipe's section `curate`."""
    seed: int
    before: Counts
    after: Counts
    dropped: dict[str, Reason]
    """Trajectories by reason, in the order of the rules."""
    dropped_steps: dict[str, Reason]
    by_difficulty: dict[int, tuple[int, int]]
    """Trajectories before and after."""
    by_website: dict[str, tuple[int, int]]
    """As above, those with the most first."""
    why: dict[str, str]
    """By the id of each trajectory that was dropped."""


def curation_recipe(datasets: Sequence[Path], overrides: Sequence[str]) -> Recipe:
    """The recipe of the first data set, by whose section `curate` these are curated; `overrides` are keys of that.

    Raises:
        ConfigError: an override is of another section.
    """
    if other := next((each for each in overrides if not each.startswith(("curate.", "seed="))), None):
        raise ConfigError(f"curating uses the section `curate` and `seed` alone, so {other!r} would do nothing")
    with open_dataset(datasets[0]) as first:
        return load_recipe(str(first.store.path / "recipe.yaml"), list(overrides), migrate=True)


def curate(datasets: Sequence[Path], recipe: Recipe, out: Path) -> Report:
    """Write what the recipe's section `curate` leaves of some data sets as a new one, and return the report.

    Raises:
        StoreError: `out` is there already, or one of the others is no data set.
        ConfigError: they are of different tokenizers or harnesses, or nothing is left of them.
    """
    with ExitStack() as stack, scratch(out) as folder:
        sources = [stack.enter_context(open_dataset(path)) for path in datasets]
        check_alike([entry for source in sources for entry in source.manifest.lineage])
        rows, origin = _numbered(sources)
        kept, dropped = choose(rows, recipe.curate, recipe.seed)
        first = sources[0].store
        with RunStore.create(folder, first.recipe_yaml, first.info) as store:
            written, steps = _write(kept, origin, recipe, store)
            empty = {row.id: Dropped("without a step that is left", "") for row in kept if row.id not in written}
            if not written:
                reasons = Counter(each.reason for each in (dropped | empty).values())
                told = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
                raise ConfigError(f"the section curate leaves nothing: {told or 'there is no trajectory'}")
            report = _report(datasets, recipe, rows, store.rows(COLLECT), dropped | empty, steps, origin)
            write_atomic(folder / REPORT, f"{report.model_dump_json(indent=2)}\n".encode())
            manifest = Manifest(
                trajectories=written,
                counts=report.after,
                curation=report.model_dump(mode="json", include={"datasets", "rules", "seed"}),
                lineage=[entry for source in sources for entry in source.manifest.lineage],
            )
            write_manifest(folder, manifest)
            store.write_result({"dataset": report.after.model_dump()})
    return report


def check_alike(lineage: Sequence[Mapping[str, Any]]) -> None:
    """Raise a ConfigError where trajectories of these origins do not fit into one data set."""
    for name in ALIKE:
        if different := next((each for each in lineage if each[name] != lineage[0][name]), None):
            raise ConfigError(
                f"the data sets are of two kinds: the {name} of one is {lineage[0][name]!r}, of another "
                f"{different[name]!r}: curate them apart"
            )


Origin = dict[str, tuple[Dataset, str]]
"""By the id of a trajectory the data set that it is of, and its id there."""


def _numbered(sources: Sequence[Dataset]) -> tuple[list[TrajectoryRow], Origin]:
    """The rows of all data sets in their order; an id that several have is numbered."""
    rows: list[TrajectoryRow] = []
    origin: Origin = {}
    for source in sources:
        known = {row.id: row for row in source.store.rows()}
        for id in source.manifest.trajectories:
            unique, number = id, 1
            while unique in origin:
                number += 1
                unique = f"{id}.{number}"
            origin[unique] = source, id
            rows.append(known[id]._replace(id=unique))
    return rows, origin


def _write(
    kept: Iterable[TrajectoryRow], origin: Origin, recipe: Recipe, store: RunStore
) -> tuple[list[str], dict[str, dict[int, Dropped]]]:
    """Store what is left of these; the ids, and by id the steps that were dropped."""
    written: list[str] = []
    steps: dict[str, dict[int, Dropped]] = {}
    rows = list(kept)
    with progress("curate", len(rows), stays=False) as bar:
        for row in rows:
            source, id = origin[row.id]
            trajectory = source.store.trajectory(id).model_copy(update={"id": row.id})
            if not source.store.has_screenshots(trajectory):
                raise StoreError(f"{source.store.path} has lost screenshots of {id}: collect it again, or restore them")
            if gone := dropped_steps(trajectory, recipe.curate.drop_steps):
                steps[row.id] = gone
                trajectory.turns = [turn for place, turn in enumerate(trajectory.turns) if place not in gone]
            if trajectory.turns:
                copy_screenshots(trajectory, source.images, store.images)
                store.add_trajectory(trajectory, COLLECT, 0)
                written.append(row.id)
            bar.advance(1)
    return written, steps


def _report(
    datasets: Sequence[Path],
    recipe: Recipe,
    before: Sequence[TrajectoryRow],
    after: Sequence[TrajectoryRow],
    dropped: Mapping[str, Dropped],
    steps: Mapping[str, Mapping[int, Dropped]],
    origin: Origin,
) -> Report:
    whole, single = defaultdict[str, list[Example]](list), defaultdict[str, list[Example]](list)
    for id, (reason, why) in dropped.items():
        source, there = origin[id]
        whole[reason].append(Example(dataset=str(source.store.path), id=there, why=why))
    for id, gone in steps.items():
        source, there = origin[id]
        for place, (reason, why) in gone.items():
            single[reason].append(Example(dataset=str(source.store.path), id=there, why=why, step=place))
    return Report(
        datasets=[str(path) for path in datasets],
        rules=recipe.curate.model_dump(mode="json"),
        seed=recipe.seed,
        before=counts(before),
        after=counts(after),
        dropped={reason: Reason(count=len(all), examples=all[:EXAMPLES]) for reason, all in whole.items()},
        dropped_steps={reason: Reason(count=len(all), examples=all[:EXAMPLES]) for reason, all in single.items()},
        by_difficulty={
            level: (number, Counter(row.difficulty for row in after)[level])
            for level, number in sorted(Counter(row.difficulty for row in before).items())
        },
        by_website={
            site: (number, Counter(row.website for row in after)[site])
            for site, number in Counter(row.website for row in before).most_common()
        },
        why={id: f"{reason}: {why}" if why else reason for id, (reason, why) in dropped.items()},
    )
