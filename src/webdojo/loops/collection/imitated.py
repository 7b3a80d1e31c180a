"""What fine-tuning takes from data sets (`sft.data`).

Invariant: the tokens of a data set are learnt by a model that has the same tokenizer, and by an agent that sees pages
and answers in the same way, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webdojo.errors import ConfigError
from webdojo.loops.collection.dataset import Manifest, open_dataset, read_manifest, tokenizer_hash
from webdojo.recipe import Recipe
from webdojo.recipe_paths import folderless
from webdojo.store.images import ImageStore, ImageStores
from webdojo.types import Trajectory


def check_data(recipe: Recipe) -> None:
    """Raise a ConfigError or a StoreError where the data sets of `sft.data` are not there, or do not fit the recipe."""
    for name in recipe.sft.data:
        manifest = read_manifest(Path(name))
        if manifest.judge is not None:
            raise ConfigError(f"sft.data {name!r} teaches a judge, not an agent: `webdojo judge distill` trains on it")
        if not (manifest.counts.successes if manifest.curation is None else manifest.counts.trajectories):
            raise ConfigError(_nothing(name, manifest))
        for source in manifest.lineage:
            if source["native_tools"]:
                raise ConfigError(f"sft.data {name!r} has native tool calls: collect it with engine.tool_calls=text")
            theirs, ours = _named(source["harness"]), _named(recipe.harness.model_dump(mode="json"))
            if differs := [key for key in {**theirs, **ours} if theirs.get(key) != ours.get(key)]:
                key = differs[0]
                raise ConfigError(
                    f"sft.data {name!r} was collected with harness.{key} {theirs.get(key)!r}, and this recipe has "
                    f"{ours.get(key)!r}: set harness.{key} to that, or collect again with this recipe's"
                )
            if source["tokenizer"] != tokenizer_hash(recipe.model.path):
                raise ConfigError(
                    f"sft.data {name!r} has the tokens of another tokenizer than that of model.path "
                    f"{recipe.model.path!r}: collect it with this model.path, whoever teaches"
                )


def imitated(recipe: Recipe) -> list[Trajectory]:
    """The trajectories of the data sets of `sft.data`, one set after another; raises as `check_data`."""
    check_data(recipe)
    found: list[Trajectory] = []
    for name in recipe.sft.data:
        with open_dataset(Path(name)) as dataset:
            chosen = dataset.manifest.curation is not None
            good = [each for each in dataset.trajectories() if chosen or succeeded(each)]
            if not good:
                raise ConfigError(_nothing(name, dataset.manifest))
            found += good
    return found


def images_of(recipe: Recipe) -> ImageStores:
    """Their screenshots."""
    return ImageStores(tuple(ImageStore(Path(name) / "images") for name in recipe.sft.data))


def _nothing(name: str, manifest: Manifest) -> str:
    """What is told of a data set without a trajectory to imitate, by the rule that chose them."""
    rule = "nobody has curated it, so its successes count"
    if manifest.curation is not None:
        rule = f"its rules are {manifest.curation['rules']}"
    return (
        f"sft.data {name!r} holds nothing to imitate ({rule}; {manifest.counts.trajectories} trajectories, "
        f"{manifest.counts.successes} successful): collect or curate more, or leave it out"
    )


def succeeded(trajectory: Trajectory) -> bool:
    """Whether it is worth imitating: it did its task, without a format error, which the gate lets cost the reward
    (`reward/gate.py`)."""
    reward = trajectory.reward
    return reward is not None and reward.success and reward.value > 0


def _named(harness: Mapping[str, Any]) -> dict[str, Any]:
    return {**harness, "name": folderless(harness["name"])}
