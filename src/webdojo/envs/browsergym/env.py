"""The environment `browsergym` (see the package's docstring)."""

from __future__ import annotations

import asyncio
import random
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pydantic import Field, PrivateAttr

from webdojo.browser.config import BrowserConfig
from webdojo.browser.interface import BLANK, Session
from webdojo.envs.browsergym.process import TaskFailed, Worker, Workers
from webdojo.envs.env import Environment, Split, Visit
from webdojo.errors import ConfigError, Missing, TaskError
from webdojo.reward.function import RewardFunction
from webdojo.types import ImageSource, Reward, Task, Trajectory

if TYPE_CHECKING:  # it brings Playwright, and recipes need none
    from webdojo.browser.session import BrowserSession

KIND = "browsergym"
HOW_TO_INSTALL = (
    "make an environment of its own, `python -m venv browsergym-venv && browsergym-venv/bin/pip install "
    "browsergym-core websockets` with the packages of its tasks, and name its Python, "
    "env.python=browsergym-venv/bin/python"
)
_TRAINING_SEEDS = range(1_000_000)
_HELDOUT_SEEDS = range(1_000_000, 2_000_000)
_INFEASIBLE = re.compile(r"\s*(?:N/A|infeasible)\b", re.IGNORECASE)
"""Begins an answer that says that a task cannot be done."""


class ValidateReward(RewardFunction):
    """What a task's `validate` gives in all: the sum over its turns."""

    name: str = "validate"
    success_from: float = 1.0
    """The reward from which an episode counts as a success; BrowserGym's are between 0 and 1."""

    def needs_answer(self, task: Task) -> bool:
        return False

    def check(self, task: Task) -> None:
        if task.kind != KIND:
            raise TaskError(f"task {task.id!r} is not of BrowserGym, so nothing validates it: name another reward")

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        said = trajectory.state[KIND]
        value, ended = said["reward"], "its end" if said["done"] else "no end"
        return Reward(
            value=value, success=value >= self.success_from, reason=f"the task gave {value:g} and said {ended}"
        )


@dataclass
class _Stay:
    """An episode's task in its worker, and the session that it is attached to."""

    worker: Worker
    session: BrowserSession
    ready: bool = False
    """Whether the task has been set up."""
    state: dict[str, Any] = field(default_factory=lambda: {"reward": 0.0, "done": False, "messages": [], "info": {}})
    """What `validate` has said: the sum of the rewards, whether the task has ended the episode, what it would have told
    the agent as its user, and its facts."""


class BrowserGym(Environment):
    """Tasks that are registered with BrowserGym, in sessions of our browser."""

    name: str = KIND
    python: str = ""
    """The Python of an environment with `browsergym-core`, `websockets` and the packages that have the tasks."""
    imports: list[str] = []
    """Modules that register the tasks, such as `browsergym.miniwob`; they may be files of the working folder. Those of
    `browsergym.core` are there without it."""
    task_ids: list[str] = []
    """Which tasks: `browsergym/miniwob.click-test`."""
    task_options: dict[str, dict[str, Any]] = {}
    """Further arguments of a task by its id, such as `{browsergym/openended: {start_url: …, goal: …}}`."""
    timeout_s: float = Field(default=60, gt=0)
    """How long a task's own code may take to set up, and to validate a turn; then its worker is killed, and the episode
    is invalid."""

    _workers: Any = PrivateAttr(default=None)
    _stays: dict[str, _Stay] = PrivateAttr(default_factory=dict)

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        """`n` tasks: those of `task_ids` in turn, each time with another seed. Training and held-out seeds differ.

        A task's instruction is known when its episode has begun, and is in its trajectory.
        """
        self._find_python()
        if not self.task_ids:
            raise Missing("no task of BrowserGym is named: env.task_ids=[browsergym/miniwob.click-test]")
        rounds = -(-n // len(self.task_ids))
        seeds = random.Random(f"{KIND}-{split}-{seed}").sample(
            _TRAINING_SEEDS if split == "train" else _HELDOUT_SEEDS, rounds
        )
        return [self._task(id, number) for number in seeds for id in self.task_ids][:n]

    def samples(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return self.tasks(split, min(n, max(1, len(self.task_ids))), seed)

    def _task(self, id: str, seed: int) -> Task:
        return Task(
            id=f"{id}:{seed}",
            instruction=f"The goal of {id}, which it tells when it has begun.",
            start_url=BLANK,
            website=id.removeprefix("browsergym/"),
            kind=KIND,
            evaluator={"type": KIND},
            metadata={"task": id, "seed": seed},
        )

    @property
    def reward(self) -> RewardFunction:
        return ValidateReward()

    def check(self, task: Task) -> None:
        if task.kind != KIND:
            raise TaskError(f"task {task.id!r} is no task of BrowserGym; those have an id such as browsergym/openended")

    def check_browser(self, config: BrowserConfig) -> None:
        if config.servers or config.cdp_url:
            key = "servers" if config.servers else "cdp_url"
            raise ConfigError(f"tasks of BrowserGym attach to browsers of this machine alone: leave browser.{key} out")
        if not config.debugging_port:
            raise ConfigError(
                "tasks of BrowserGym attach to the browser: set browser.debugging_port=true, by which any program of "
                "this machine can"
            )

    def _find_python(self) -> str:
        if not self.python:
            raise Missing(f"BrowserGym needs an older Playwright than webdojo: {HOW_TO_INSTALL}")
        found = shutil.which(self.python)
        if found is None:
            raise Missing(f"env.python {self.python!r} is no program: {HOW_TO_INSTALL}")
        return found

    async def start(self) -> None:
        """Start a first worker, and see whether it has the tasks.

        Raises:
            Missing: its Python lacks BrowserGym, or a module that is named.
            TaskError: a task is registered by none of the modules.
        """
        self._workers = Workers(self._find_python(), self.imports)
        try:
            worker = await self._workers.take()
            unknown = (await worker.ask("find", self.timeout_s, tasks=self.task_ids))["unknown"]
        except TaskFailed as error:
            await self.close()
            raise Missing(
                f"the environment of env.python {self.python!r} cannot import what tasks of BrowserGym need ({error}): "
                f"{HOW_TO_INSTALL}"
            ) from None
        except BaseException:
            await self.close()
            raise
        if unknown:
            await self.close()
            raise TaskError(
                f"no module registers the task {unknown[0]!r} (env.task_ids): name the one that does in env.imports, "
                f"which is {self.imports}"
            )
        self._workers.give(worker)

    async def close(self) -> None:
        await self._workers.close()

    async def enter(self, visit: Visit, session: Session) -> None:
        """Let the task open its pages, and take the goal that it tells as the instruction.

        Raises:
            TaskError: the task tells no goal, or one with pictures.
            ConfigError: no DevTools client can attach to the session.
        """
        opened = cast("BrowserSession", session)
        self.check_browser(opened.config)
        stay = self._stays[visit.id] = _Stay(await self._workers.take(), opened)
        id = visit.task.metadata["task"]
        at = await opened.debug_target()
        async with opened.drawing():
            said = await stay.worker.ask(
                *("setup", self.timeout_s),
                **at._asdict(),
                task=id,
                seed=visit.task.metadata["seed"],
                options=self.task_options.get(id, {}),
            )
        stay.ready = True
        if said["images"]:
            raise TaskError(f"the goal of {id} has pictures, which no harness shows: leave it out of env.task_ids")
        if not said["goal"]:
            raise TaskError(f"{id} tells no goal: give it one, 'env.task_options={{{id}: {{goal: …}}}}'")
        stay.state["info"] = said["info"]
        visit.task = visit.task.model_copy(update={"instruction": said["goal"]})
        await opened.arrive()

    async def is_over(self, visit: Visit) -> bool:
        """Let the task validate the turn, with the agent's answer as a message to its user."""
        stay, answer = self._stays[visit.id], (visit.answer or "").strip()
        at = await stay.session.debug_target()
        async with stay.session.drawing():
            said = await stay.worker.ask(
                *("validate", self.timeout_s),
                page=at.page,
                role="infeasible" if _INFEASIBLE.match(answer) else "assistant",
                answer=answer,
            )
        state = stay.state
        state["reward"] += said["reward"]
        state["done"], state["info"] = said["done"], said["info"]
        if said["message"]:
            state["messages"].append(said["message"])
        return bool(said["done"])

    async def state(self, visit: Visit) -> dict[str, Any]:
        stay = self._stays.get(visit.id)
        return {KIND: stay.state} if stay is not None else {}

    async def leave(self, visit: Visit) -> None:
        """Let the task clean up, and keep its worker for the next."""
        stay = self._stays.pop(visit.id, None)
        if stay is None:
            return
        if not (stay.ready and stay.worker.alive):
            await self._workers.drop(stay.worker)
            return
        try:
            await stay.worker.ask("teardown", self.timeout_s)
        except BaseException:
            await asyncio.shield(self._workers.drop(stay.worker))
            raise
        self._workers.give(stay.worker)
