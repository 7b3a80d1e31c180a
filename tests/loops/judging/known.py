"""Made-up episodes whose truth the rules know, and judges to hold against it."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field, PrivateAttr

from tests.store.fabricate import observation, page_image, trajectory
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.reward.function import RewardFunction
from webdojo.sites.answers.values import number
from webdojo.sites.goal import fact, place
from webdojo.store.run import RunStore
from webdojo.types import ImageSink, ImageSource, Reward, Termination, Trajectory

RIGHT, WRONG = "42", "41"
RECIPE = dump_recipe(load_recipe("quickstart"))


def known(id: str, images: ImageSink, success: bool = True, **fields: Any) -> Trajectory:
    """An episode of three acting turns and a fourth that answers a question, rightly or not."""
    fields = {"answer": RIGHT if success else WRONG, "termination": Termination.COMPLETED} | fields
    made = trajectory(id, images, success=success, **fields)
    site = made.task.website
    end = page_image(images, 700 + hash_of(id))
    made.turns.append(made.turns[-1].model_copy(update={"observation": observation(end, f"http://{site}/end")}))
    made.final = made.turns[-1].observation
    made.task.evaluator = {
        "facts": [fact("The answer is 42", answer=number(42)), fact("It is shown", visited=[place("/end")])]
    }
    made.state = {site: {"state": {}, "visited": ["/", "/end"], "seen": [], "followed": []}}
    return made


def hash_of(id: str) -> int:
    return sum(map(ord, id)) % 97


class Scripted(RewardFunction):
    """Accepts every episode but those that are named; remembers what it was asked about."""

    rejects: list[str] = Field(default_factory=list)
    unsure: list[str] = Field(default_factory=list)
    breaks_on: list[str] = Field(default_factory=list)
    _asked: list[str] = PrivateAttr(default_factory=list)

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        await asyncio.sleep(0)
        self._asked.append(trajectory.id)
        if trajectory.id in self.breaks_on:
            raise ValueError("the model is away")
        success = trajectory.id not in self.rejects
        return Reward(value=float(success), success=success, valid=trajectory.id not in self.unsure, reason="scripted")


class Credulous(RewardFunction):
    """Believes whatever the agent says last."""

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return Reward(value=1.0, success=True, reason="it says so")


def fill(store: RunStore) -> None:
    """Three iterations of four episodes, of which as many are right as the iteration's number says, and then an episode
    that did not finish, one that was lost, and one of a task without a truth."""
    for iteration in (1, 2, 3):
        for each in range(4):
            id = f"{'shop' if each % 2 else 'wiki'}-{iteration}{each}"
            made = known(id, store.images, each < iteration, kind=id[:4], site=each, difficulty=1 + each // 2)
            store.add_trajectory(made, "rl", iteration)
    unfinished = known("cut", store.images, False, termination=Termination.MAX_STEPS, answer=None)
    lost = known("lost", store.images, False, valid=False, termination=Termination.TIMEOUT)
    elsewhere = trajectory("web", store.images)
    for made in (unfinished, lost, elsewhere):
        store.add_trajectory(made, "eval_rl", 3)
