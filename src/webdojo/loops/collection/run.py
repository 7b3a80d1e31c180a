"""A collection from its recipe to its data set: opens and closes environment, browsers, teacher and judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path

import torch

from webdojo.errors import Stopped
from webdojo.loops.collection.attempts import Collection
from webdojo.loops.collection.dataset import (
    MANIFEST,
    Manifest,
    counts,
    lineage,
    read_manifest,
    remove_manifest,
    served_model,
    write_manifest,
)
from webdojo.loops.collection.person import Desk, person_teacher, verdict
from webdojo.loops.collection.teachers import Teacher, model_teacher, oracle_teacher
from webdojo.loops.episodes import EpisodeRunner, open_episodes
from webdojo.loops.judging.verdicts import described
from webdojo.loops.models import open_engine
from webdojo.loops.pipeline import note_resumed, opened
from webdojo.loops.run_folder import COLLECT, ENGINE_ACCOUNT
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.progress import Progress, plural, progress
from webdojo.recipe import Recipe
from webdojo.recipe_paths import whole_path
from webdojo.store.run import RunStore
from webdojo.types import Task, Trajectory


def run_collection(
    recipe: Recipe, folder: Path, resume: bool, tasks: Sequence[Task] | None = None, desk: Desk | None = None
) -> Manifest:
    """Collect by a recipe that was checked, in a run folder, and return what its `dataset.json` holds.

    Args:
        tasks: others than the first training tasks; those that the folder has already stay.
        desk: where the person who teaches sits.

    Raises:
        Stopped: a budget is spent, or the person has stopped; the data set is there all the same, but not complete.
        BrowserError, EngineError, RewardError: too much failed.
    """
    if recipe.model.threads:
        torch.set_num_threads(recipe.model.threads)
    processor = load_processor(model_folder(recipe.model.path))
    again = resume and (folder / MANIFEST).is_file() and read_manifest(folder).complete
    info = {"model": served_model(recipe), "processor": whole_path(recipe.model.path)}

    def begin(store: RunStore) -> None:
        if resume:
            note_resumed(recipe, store)
            remove_manifest(folder)
        if again:  # whoever asks once more wants what is unfinished tried once more
            Collection.try_again(store, COLLECT)

    with opened(recipe, folder, resume, info) as store:
        return asyncio.run(_collect(recipe, store, processor, begin, tasks, desk))


async def _collect(
    recipe: Recipe,
    store: RunStore,
    processor: Processor,
    begin: Callable[[RunStore], None],
    tasks: Sequence[Task] | None,
    desk: Desk | None,
) -> Manifest:
    """Collect; `begin` makes the first change to the store, as soon as browsers and teacher are there."""
    asked = recipe.training_tasks()[: recipe.collect.tasks] if tasks is None else tasks
    tasks = asked if tasks is None and desk is None else _with_stored(asked, store)
    async with (
        open_episodes(recipe, store, processor, by_person=desk is not None) as runner,
        _open_teacher(recipe, runner, desk) as teacher,
    ):
        begin(store)
        with progress("collect", len(tasks)) if desk is None else _unseen() as bar:
            collection = Collection(runner, teacher, COLLECT, recipe.collect, bar)
            if desk is not None:
                collection.on_kept = partial(_tell, desk, collection, tasks)
            try:
                await runner.score_left()
                await collection.run(tasks)
            except (Stopped, asyncio.CancelledError) as error:
                if isinstance(error, Stopped) or desk is not None:  # a person may stop by Ctrl-C
                    collection.look()
                    _finish(recipe, store, tasks, collection, complete=False)
                raise
    return _finish(recipe, store, tasks, collection, complete=True)


def _with_stored(tasks: Sequence[Task], store: RunStore) -> list[Task]:
    """These tasks, after others of which there are episodes already."""
    asked = {task.id for task in tasks}
    others = {row.task_id: row.id for row in store.rows(COLLECT) if row.task_id not in asked}
    return [*(store.trajectory(id).task for id in others.values()), *tasks]


def _unseen() -> AbstractContextManager[Progress]:
    """Progress that nobody sees: a bar would be drawn again and again where a person types."""
    return nullcontext(Progress("record", None))


def _tell(desk: Desk, collection: Collection, tasks: Sequence[Task], trajectory: Trajectory) -> None:
    """Tell a person the verdict on an attempt, and how far they are."""
    done = len(tasks) - len(collection.unfinished(tasks))
    desk.say(f"{verdict(trajectory)}; {done} of {plural(len(tasks), 'task')} recorded")


@asynccontextmanager
async def _open_teacher(recipe: Recipe, runner: EpisodeRunner, desk: Desk | None) -> AsyncIterator[Teacher]:
    if desk is not None:
        desk.start()
        yield person_teacher(runner.harness, desk, recipe.rollout.sampling.max_tokens)
        return
    if recipe.collect.teacher == "oracle":
        assert recipe.env.oracle is not None, "`Recipe.check_collection` has seen to it"
        yield oracle_teacher(runner.harness, recipe.env.oracle, recipe.collect.noise)
        return
    store = runner.store
    async with open_engine(recipe, store.images, recipe.model.path, account=store.path / ENGINE_ACCOUNT) as engine:
        yield model_teacher(engine)


def _finish(
    recipe: Recipe, store: RunStore, tasks: Sequence[Task], collection: Collection, *, complete: bool
) -> Manifest:
    """Write the data set, and the result by which commands on runs know that it has ended."""
    rows = {row.id: row for row in store.rows(COLLECT)}
    ids = collection.valid_ids(tasks)
    manifest = Manifest(
        trajectories=ids,
        counts=counts([rows[id] for id in ids]),
        complete=complete,
        unfinished=collection.unfinished(tasks),
        lineage=[lineage(recipe, tasks, described(recipe.reward_function), store.info)],
    )
    write_manifest(store.path, manifest)
    if complete:
        store.write_result({"dataset": manifest.counts.model_dump()})
    return manifest
