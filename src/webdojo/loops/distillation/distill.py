"""A small judge from stored episodes (OpenWebRL §4.3), and what it is worth on sites that it has not seen (Table 3).

Each step leaves what it made and is passed over when that is there, so a call that was interrupted is made again:
verdicts in the runs' own logs, examples and held-out episodes in the store of the distillation, `dataset.json`, the
checkpoint, `judge.yaml`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from webdojo.errors import ConfigError
from webdojo.loops.collection.dataset import MANIFEST, read_manifest
from webdojo.loops.distillation.dataset import site_split, store_examples, write_data_set
from webdojo.loops.distillation.labels import labels
from webdojo.loops.fine_tune import fine_tune
from webdojo.loops.judging.audit import Choice, run_recipe
from webdojo.loops.judging.compare import rejudge
from webdojo.loops.judging.verdicts import described, named_judge
from webdojo.loops.log import RunLog
from webdojo.loops.models import check_learner
from webdojo.loops.resume import metrics_of
from webdojo.loops.run_folder import HELDOUT, SFT
from webdojo.loops.runs import runs_in
from webdojo.policy.engines import HF
from webdojo.policy.model.folder import check_model_path
from webdojo.recipe import Recipe, dump_recipe
from webdojo.recipe_paths import whole, whole_path
from webdojo.reward.function import RewardFunction
from webdojo.reward.registry import JUDGE
from webdojo.store.files import write_atomic
from webdojo.store.info import run_info
from webdojo.store.run import DATABASE, RunStore, check_new_run

Begin = Callable[[int], Callable[[], None]]


async def distill(
    folder: Path, name: str, recipe: Recipe, out: Path, choice: Choice, held_out: float, begin: Begin
) -> dict[str, Any]:
    """Distil a judge into the student of a recipe, or go on with it; the report, as a JSON object.

    Args:
        folder: a run, or one that holds runs, whose episodes are judged.
        name: the judge that is believed, as `named_judge` takes it; `rules` is the truth of the embedded web.
        recipe: its `reward` is the student's protocol, `model.path` what it starts from, `sft` how it is trained.
        out: the folder of the distillation, which is a run folder and a data set.
        held_out: the share of the sites on which nothing is learnt.
        begin: as in `audit`.

    Raises:
        ConfigError: the student's protocol cannot be taught, or `out` holds another distillation.
        StoreError, TaskError: the episodes are too few, or too much alike.
    """
    student = student_of(recipe)
    left_out: Counter[str] = Counter()
    with ExitStack() as stack:
        sources = [stack.enter_context(RunStore.open(path, readonly=True)) for path in runs_in(folder)]
        judges = [named_judge(name, [], run_recipe(source)) for source in sources]
        origin = origin_of(sources, judges[0], student, choice, held_out, recipe.seed)
        check_out(out, origin)
        if not (out / MANIFEST).is_file():
            found = await labels(sources, judges, choice, left_out, begin)
            made = site_split(found, held_out, recipe.seed)
            with _opened(out, recipe, sources[0], origin) as store:
                await store_examples(found, made, student, store, left_out)
                write_data_set(store, recipe, student, made, origin, left_out)
    manifest = read_manifest(out)
    with RunStore.open(out) as store, RunLog(store) as log:
        if SFT not in {checkpoint.name for checkpoint in store.checkpoints.all()}:
            examples = [store.trajectory(id) for id in manifest.trajectories]
            await fine_tune(recipe, examples, store.images, recipe.model.path, store, log)
        trained = store.checkpoints.get(SFT)
        write_judge(out, recipe, student)
    compared = await rejudge(out, [str(out / JUDGE)], [], Choice([HELDOUT]), begin)
    report = {
        "path": str(out),
        "judge": origin["judge"],
        "student": described(student),
        "left_out": (manifest.curation or {})["left_out"],
        "examples": manifest.counts.model_dump(),
        "sft": metrics_of(trained),
        "heldout": compared["pairs"][0],
    }
    with RunStore.open(out) as store:
        store.write_result(report)
    return report


def student_of(recipe: Recipe) -> RewardFunction:
    """The judge of a recipe, answered by the model that is to learn; a ConfigError where it cannot be taught."""
    student = recipe.reward_function
    if not student.endings:
        raise ConfigError(
            f"reward.name is {student.name!r}, which does not judge by one question with a verdict at the end of its "
            "answer: name the student's protocol, such as reward=openwebrl, webvoyager or agenttrek"
        )
    check_model_path(recipe.model.path)
    check_learner(recipe)
    return student.model_copy(update={"engine": HF(), "model": recipe.model})


def origin_of(
    sources: Sequence[RunStore],
    judge: RewardFunction,
    student: RewardFunction,
    choice: Choice,
    held_out: float,
    seed: int,
) -> dict[str, Any]:
    """What a distillation's data follow from, as plain JSON."""
    taught = described(student)
    taught["model"] = {"path": whole_path(taught["model"]["path"])}
    return {
        "runs": [str(source.path.resolve()) for source in sources],
        "judge": described(judge),
        "phases": list(choice.phases),
        "limit": choice.limit,
        "heldout": held_out,
        "seed": seed,
        "student": taught,
    }


def check_out(out: Path, origin: dict[str, Any]) -> None:
    """Raise a ConfigError where a folder holds a distillation from something else; a StoreError for other files."""
    if not (out / DATABASE).exists():
        check_new_run(out)
        return
    with RunStore.open(out, readonly=True) as store:
        begun = store.info.get("distill", {})
    if differs := [key for key, value in json.loads(json.dumps(origin)).items() if begun.get(key) != value]:
        raise ConfigError(
            f"{out} was begun with other {' and '.join(differs)} than these (see distill in its info.json): name "
            "another --out, or take those again"
        )


def _opened(out: Path, recipe: Recipe, source: RunStore, origin: dict[str, Any]) -> RunStore:
    """The store of the distillation, whose episodes are of the environment and the harness of their run."""
    if (out / DATABASE).exists():
        return RunStore.open(out)
    theirs = run_recipe(source)
    kept = recipe.model_copy(update={"name": "distill", "env": theirs.env, "harness": theirs.harness})
    model = {"model": recipe.model.path, "processor": whole_path(recipe.model.path)}
    info = run_info(recipe.seed) | model | {"distill": origin}
    return RunStore.create(out, dump_recipe(kept, whole_paths=True), info)


def write_judge(out: Path, recipe: Recipe, student: RewardFunction) -> None:
    """Write the recipe whose section `reward` is the judge that was trained."""
    served = recipe.model.model_dump(mode="json", include={"device", "threads", "dtype"})
    section = student.model_dump(mode="json") | {"model": {"path": f"checkpoints/{SFT}", **served}}
    data = {"name": out.name, **whole({"reward": section})}
    write_atomic(out / JUDGE, yaml.safe_dump(data, sort_keys=False, allow_unicode=True).encode())
