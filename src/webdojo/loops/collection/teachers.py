"""Who does the tasks of a collection: the environment's own script, or a model that an engine serves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import count

from webdojo.agent.harness import Harness
from webdojo.agent.script import ScriptMaker
from webdojo.browser.interface import Session
from webdojo.policy.scripted import ScriptedActor
from webdojo.rollout.episode import Actor
from webdojo.types import Engine, Prompt, Response, Sampling

Teacher = Callable[[str], Actor[Session]]
"""Gives who answers the prompts of one episode, from the seed of all that it draws."""


def oracle_teacher(harness: Harness, oracle: ScriptMaker, noise: float = 0.0) -> Teacher:
    """The script of an environment; with the chance `noise` a step is a wrong turn, which the next one corrects."""
    view = harness.view

    def teacher(seed: str) -> Actor[Session]:
        return ScriptedActor(harness, lambda task: oracle(task, view, noise, seed))

    return teacher


def model_teacher(engine: Engine) -> Teacher:
    """The model of an engine, whose every response has a seed of its own."""

    def teacher(seed: str) -> Actor[Session]:
        return lambda task, session: SeededEngine(engine, seed)

    return teacher


class SeededEngine:
    """An engine whose answers in one episode follow from the episode's seed, as far as the engine keeps to seeds."""

    def __init__(self, engine: Engine, seed: str) -> None:
        self._engine, self._seed, self._turns = engine, seed, count()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        digest = hashlib.sha256(f"{self._seed}/{next(self._turns)}".encode()).digest()
        seed = int.from_bytes(digest[:4], "big") >> 1  # what every server takes: 31 bits
        return await self._engine.generate(prompt, sampling.model_copy(update={"seed": seed}))
