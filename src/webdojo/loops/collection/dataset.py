"""A data set: a run folder (`store/run.py`) with `dataset.json`, which says what is in it and where that came from.

Invariant: `dataset.json` is written last, and taken away before anything changes; a folder without it is a collection
that has not ended.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from webdojo.errors import ConfigError, StoreError
from webdojo.policy.model.folder import model_folder
from webdojo.recipe import Recipe
from webdojo.store.files import write_atomic, writing
from webdojo.store.images import ImageStore
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.types import ImageRef, Record, Task, Trajectory

MANIFEST = "dataset.json"
SCHEMA_VERSION = 1


class Counts(Record):
    tasks: int
    """With at least one trajectory."""
    trajectories: int
    successes: int
    steps: int
    response_tokens: int


class Manifest(Record):
    """What `dataset.json` holds."""

    schema_version: int = SCHEMA_VERSION
    trajectories: list[str]
    """Their ids, in the order of the data set."""
    counts: Counts
    complete: bool = True
    """False where a budget ended the collection before its tasks."""
    unfinished: dict[str, str] = Field(default_factory=dict)
    """The ids of tasks without a valid episode, each with what failed the last one."""
    curation: dict[str, Any] | None = None
    """By which rules its trajectories were chosen (`webdojo curate`); None: nobody has, so there are failures too."""
    judge: dict[str, Any] | None = None
    """The judge that its turns are the answers of (`webdojo judge distill`); None where they are an agent's."""
    lineage: list[dict[str, Any]]
    """Where they came from: one entry, as `lineage` makes it, for each collection that they are of."""


@dataclass(frozen=True)
class Dataset:
    """A data set that is open to be read."""

    store: RunStore
    manifest: Manifest

    @property
    def images(self) -> ImageStore:
        return self.store.images

    def trajectories(self) -> Iterator[Trajectory]:
        """In order, one at a time."""
        return map(self.store.trajectory, self.manifest.trajectories)


@contextmanager
def open_dataset(path: Path) -> Iterator[Dataset]:
    """Open a data set.

    Raises:
        StoreError: there is none, or it is one of a later version.
    """
    with RunStore.open(path, readonly=True) as store:
        yield Dataset(store, read_manifest(path))


def read_manifest(path: Path) -> Manifest:
    """What a data set says of itself; raises as `open_dataset`."""
    file = path / MANIFEST
    if not file.is_file():
        raise StoreError(
            f"{path} holds no data set (no {MANIFEST}): where it is a collection that was stopped, end it by "
            f"`webdojo collect … --run {path} --resume`"
        )
    try:
        manifest = Manifest.model_validate_json(file.read_text())
    except ValidationError as error:
        found = error.errors()[0]
        raise StoreError(f"{file}: {'.'.join(map(str, found['loc']))}: {found['msg']}") from None
    if manifest.schema_version != SCHEMA_VERSION:
        raise StoreError(f"{file} has schema {manifest.schema_version}, but this webdojo reads {SCHEMA_VERSION}")
    return manifest


def write_manifest(path: Path, manifest: Manifest) -> None:
    write_atomic(path / MANIFEST, f"{manifest.model_dump_json(indent=2)}\n".encode())


def remove_manifest(path: Path) -> None:
    with writing(path / MANIFEST):
        (path / MANIFEST).unlink(missing_ok=True)


@contextmanager
def scratch(out: Path) -> Iterator[Path]:
    """The name of a folder that becomes `out` when the block ends; StoreError where that is there already."""
    if out.exists():
        raise StoreError(f"{out} is there already: name another folder")
    folder = out.with_name(f".{out.name}.unfinished")
    with writing(folder):
        shutil.rmtree(folder, ignore_errors=True)  # of a call that was killed
        folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
        with writing(out):
            folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def screenshots(trajectory: Trajectory) -> list[ImageRef]:
    """What a trajectory shows, each once: its screens, those of its prompts, and what its judge was shown."""
    shown = [image for turn in trajectory.turns for image in (turn.observation.screenshot, *turn.prompt.images)]
    judged = [image for each in (trajectory.reward.judgements if trajectory.reward else ()) for image in each.images]
    final = [trajectory.final.screenshot] if trajectory.final is not None else []
    return list(dict.fromkeys([*shown, *final, *judged]))


def copy_screenshots(trajectory: Trajectory, source: ImageStore, target: ImageStore) -> None:
    """Store the screenshots of a trajectory that are there."""
    for image in screenshots(trajectory):
        if source.has(image):
            target.put(source.get(image), image.width, image.height, image.mime)


def counts(rows: Sequence[TrajectoryRow]) -> Counts:
    return Counts(
        tasks=len({row.task_id for row in rows}),
        trajectories=len(rows),
        successes=sum(bool(row.success) for row in rows),
        steps=sum(row.steps for row in rows),
        response_tokens=sum(row.response_tokens for row in rows),
    )


def lineage(recipe: Recipe, tasks: Sequence[Task], judge: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    """Where a collection came from, as plain JSON; `info` is that of its run."""
    config = recipe.collect
    teacher: dict[str, Any] = {"name": config.teacher}
    if config.teacher == "oracle":
        teacher |= {"noise": config.noise}
    elif config.teacher == "model":
        teacher |= {"model": info["model"], "engine": recipe.engine.model_dump(mode="json")}
    return {
        "tasks": {
            "n": len(tasks),
            "sha256": hashlib.sha256("\n".join(task.model_dump_json() for task in tasks).encode()).hexdigest(),
            "from": recipe.tasks.path or recipe.env.name,
        },
        "teacher": teacher,
        "sampling": recipe.rollout.sampling.model_dump(mode="json"),
        "harness": recipe.harness.model_dump(mode="json"),
        "judge": judge,
        "recipe": {"name": recipe.name, "sha256": digest(recipe.model_dump_json())},
        "native_tools": config.teacher == "model" and recipe.engine.native_tools,
        "tokenizer": tokenizer_hash(recipe.model.path),
        **{name: info[name] for name in ("seed", "created", "git", "versions", "machine")},
    }


def served_model(recipe: Recipe) -> str:
    """What people call the teacher's model; where it is none, who teaches."""
    teacher = recipe.collect.teacher
    return recipe.engine.serves(recipe.model.path) if teacher == "model" else teacher


def check_teacher(path: Path, recipe: Recipe) -> None:
    """Raise a ConfigError where a collection was begun by another teacher than that of the recipe."""
    with RunStore.open(path, readonly=True) as store:
        begun = store.info.get("model")
    if begun != (teacher := served_model(recipe)):
        raise ConfigError(f"the collection in {path} is of {begun!r}, not of {teacher!r}: start a new --run")


def tokenizer_hash(model: str) -> str:
    """What the token ids of trajectories depend on: that of a model's `tokenizer.json`."""
    return hashlib.sha256((model_folder(model) / "tokenizer.json").read_bytes()).hexdigest()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def as_json(manifest: Manifest) -> dict[str, Any]:
    """For programs: without the list of ids, which may be long."""
    shown: dict[str, Any] = json.loads(manifest.model_dump_json(exclude={"trajectories"}))
    return shown
