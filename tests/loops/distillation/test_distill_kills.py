"""A distillation that is killed anywhere, again and again, ends with the data of one that was not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.loops.distillation.conftest import OF_A_SITE, SITES, distilled, student
from webdojo.loops.collection.dataset import open_dataset
from webdojo.loops.judging.verdicts import VerdictLog
from webdojo.loops.run_folder import HELDOUT
from webdojo.recipe import Recipe
from webdojo.store.run import RunStore
from webdojo.trainer.learner.learner import Learner

Death = tuple[type, str, int, bool]
"""The call of a method that kills its process: of which class, which method, which call, and whether after it."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying(function: Callable[..., Any], calls: int, *, after: bool) -> Callable[..., Any]:
    """The same function, whose n-th call kills the process, before it does anything or after."""
    left = [calls]

    def called(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] == 0 and not after:
            die()
        found = function(*args, **kwargs)
        if left[0] == 0:
            die()
        return found

    return called


DEATHS: list[Death] = [
    (VerdictLog, "add", 7, True),
    (RunStore, "create", 1, False),
    (RunStore, "add_trajectory", 3, False),
    (RunStore, "add_trajectory", 27, True),
    (Learner, "step", 2, True),
    (Learner, "save", 1, True),
]
"""Where a distillation is killed, attempt by attempt."""


def attempt(run: Path, recipe: Recipe, out: Path, death: Death) -> None:
    where, name, calls, after = death
    setattr(where, name, dying(getattr(where, name), calls, after=after))
    asyncio.run(distilled(run, recipe, out))


def data_of(out: Path) -> tuple[list[str], list[dict[str, Any]], list[str]]:
    """What a distillation has learnt from and is measured on."""
    with open_dataset(out) as dataset:
        examples = [each.model_dump(mode="json") for each in dataset.trajectories()]
        held = [each.model_dump_json() for each in dataset.store.trajectories(HELDOUT)]
        assert all(dataset.store.has_screenshots(each) for each in dataset.store.trajectories())
        return dataset.manifest.trajectories, examples, held


def test_it_ends_with_the_same_data_however_often_it_is_killed(run: Path, tmp_path: Path) -> None:
    recipe = student("sft.epochs=1")
    for death in DEATHS:
        process = get_context("spawn").Process(target=attempt, args=(run, recipe, tmp_path / "cut", death))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL, death
    (log,) = (run / "judgements").glob("rules-*verdicts.jsonl")
    judged = [json.loads(line)["id"] for line in log.read_text().splitlines()]
    assert len(judged) == len(set(judged)) == SITES * OF_A_SITE + 1, "a verdict was asked for twice"
    asyncio.run(distilled(run, recipe, tmp_path / "cut"))
    asyncio.run(distilled(run, recipe, tmp_path / "whole"))
    assert data_of(tmp_path / "cut") == data_of(tmp_path / "whole")
