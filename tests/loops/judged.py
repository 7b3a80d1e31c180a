"""Runs whose reward is a judge behind an endpoint: an agent that finishes often, and a judge that is of two minds."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from tests.loops.conftest import SmallRecipe
from tests.loops.crash import Versions
from tests.policy.chat.endpoint import Endpoint
from webdojo.agent.harness import Harness
from webdojo.envs.task_sets import tasks_of
from webdojo.loops.episodes import open_episodes
from webdojo.loops.log import RunLog
from webdojo.loops.models import make_learner
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe
from webdojo.store.run import RunStore
from webdojo.types import FinishReason, Prompt, Response, Sampling, ToolCall, TrainableEngine

JUDGED = ["rollout.max_steps=3", "train.groups_per_iteration=2", "rollout.group_size=3", "rollout.concurrency=4"]


def judged_by(endpoint: Endpoint, small_recipe: SmallRecipe, *overrides: str, **engine: Any) -> Recipe:
    """A small run; `engine` are options of the judge's."""
    options = {"base_url": endpoint.url, "model": "m"} | engine
    given = ", ".join(
        f"{key}: '{value}'" if isinstance(value, str) else f"{key}: {value}" for key, value in options.items()
    )
    return small_recipe(*JUDGED, f"reward={{name: openwebrl, engine: {{{given}}}}}", *overrides)


def of_two_minds(messages: list[dict[str, Any]]) -> str:
    """A verdict that depends on what the agent did, and is always the same for the same."""
    text = next(part["text"] for part in messages[1]["content"] if "History of the episode" in part.get("text", ""))
    return "SUCCESS" if hashlib.sha256(text.encode()).digest()[0] % 2 else "NOT SUCCESS"


class Doer(Versions):
    """A policy that scrolls by some way and then says something; no episode of it is like another."""

    def __init__(self, harness: Harness, seed: str) -> None:
        self._harness, self._seed, self._count = harness, seed, itertools.count()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        number = next(self._count)
        call = ToolCall(name="done", arguments={"answer": f"{self._seed}-{number}"})
        if number % 3 == 0:
            call = ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})
        ids = self._harness.codec.encode(self._harness.render("On.", [call])[0])
        return Response(
            ids=ids,
            logprobs=[-1.0] * len(ids),
            versions=[self.version] * len(ids),
            finish_reason=FinishReason.STOP,
        )


async def learn(recipe: Recipe, folder: Path, seed: str) -> None:
    """The online part of a run, to its end; `seed` is another one for each attempt."""
    tasks, path = tasks_of(recipe.env, recipe.tasks, "train", 50, recipe.seed), recipe.model.path
    with RunStore.open(folder) as store, RunLog(store) as log:
        async with open_episodes(recipe, store, Processor.load(path)) as runner:
            await runner.score_left()
            with closing(make_learner(recipe, store.images, path)) as learner:
                await online(
                    runner,
                    Learning(lambda: learner, store),
                    cast(TrainableEngine, Doer(runner.harness, seed)),
                    tasks,
                    log,
                )


def attempt(recipe: Recipe, folder: Path, seed: str) -> None:
    asyncio.run(learn(recipe, folder, seed))
