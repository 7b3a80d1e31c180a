"""The data of a distillation, in its run folder: examples of some sites, of which as many succeed as fail make the data
set, and whole episodes of other sites, with their labels as rewards, to measure judges on.

Invariant: what is stored, and what the data set has of it, follows from the labels and the seed, however often it was
interrupted. No site has both examples and held-out episodes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from webdojo.errors import StoreError
from webdojo.loops.collection.dataset import Manifest, copy_screenshots, counts, tokenizer_hash, write_manifest
from webdojo.loops.distillation.examples import ExampleWriter
from webdojo.loops.distillation.labels import Label
from webdojo.loops.export import LOST
from webdojo.loops.judging.verdicts import described
from webdojo.loops.run_folder import COLLECT, HELDOUT
from webdojo.progress import progress
from webdojo.recipe import Recipe
from webdojo.reward.function import RewardFunction
from webdojo.store.images import ImageStores
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.tasks.site import site_of
from webdojo.tasks.split import Split, census, split


async def store_examples(
    labels: Sequence[Label], made: Split, student: RewardFunction, store: RunStore, left_out: Counter[str]
) -> None:
    """Store what is not there yet: an example of each label of a site that trains, else its episode."""
    known = {row.id for row in store.rows()}
    images = ImageStores(tuple({label.store.path: label.store.images for label in labels}.values()))
    async with ExampleWriter(student, images, store.images) as writer:
        with progress("examples", len(labels)) as bar:
            for label in labels:
                bar.advance()
                if label.name in known:
                    continue
                episode = label.store.trajectory(label.id)
                if not label.store.has_screenshots(episode):
                    left_out[LOST] += 1
                    continue
                example, reason = await writer.example(episode, label.verdict, label.name)
                if example is None:
                    left_out[reason] += 1
                    continue
                held_out = made.part_of[site_of(episode.task.website)] == HELDOUT
                whole = episode.model_copy(update={"id": label.name, "reward": label.verdict})
                kept = whole if held_out else example
                copy_screenshots(kept, label.store.images, store.images)
                store.add_trajectory(kept, HELDOUT if held_out else COLLECT, 0)


def site_split(labels: Sequence[Label], held_out: float, seed: int) -> Split:
    """Hold a share of the sites out; a TaskError where they are too few."""
    tasks = {label.task.id: label.task for label in labels}
    return split(census(tasks.values()), {HELDOUT: held_out}, seed, by="site")


def balanced(rows: Sequence[TrajectoryRow], seed: int) -> list[str]:
    """The ids of as many successes as failures, all of the rarer kind, in their order."""
    kinds = {kind: [row.id for row in rows if row.success is kind] for kind in (True, False)}
    n = min(map(len, kinds.values()))
    draw = random.Random(f"balanced {seed}")
    chosen = {id for ids in kinds.values() for id in draw.sample(ids, n)}
    return [row.id for row in rows if row.id in chosen]


def write_data_set(
    store: RunStore,
    recipe: Recipe,
    student: RewardFunction,
    made: Split,
    origin: dict[str, Any],
    left_out: Counter[str],
) -> None:
    """Say which examples are the data set, where they came from, and what was left out.

    Raises:
        StoreError: they are of one verdict, or there is no held-out episode.
    """
    rows = store.rows(COLLECT)
    ids = balanced(rows, recipe.seed)
    if not ids:
        raise StoreError(
            f"all {len(rows)} examples have the same verdict, so that they teach nothing: take more episodes, or "
            "others (--phase)"
        )
    if not store.rows(HELDOUT):
        raise StoreError("no episode of a site that is held out can be judged: take more episodes, or raise --heldout")
    chosen = set(ids)
    manifest = Manifest(
        trajectories=ids,
        counts=counts([row for row in rows if row.id in chosen]),
        curation={
            "rules": {"balanced": "success"},
            "seed": recipe.seed,
            "of": counts(rows).model_dump(),
            "left_out": dict(+left_out),
        },
        judge=described(student),
        lineage=[
            {
                **origin,
                "split": made.model_dump(mode="json"),
                "harness": recipe.harness.model_dump(mode="json"),
                "native_tools": False,
                "tokenizer": tokenizer_hash(recipe.model.path),
                **{key: store.info[key] for key in ("created", "git", "versions", "machine")},
            }
        ],
    )
    write_manifest(store.path, manifest)
