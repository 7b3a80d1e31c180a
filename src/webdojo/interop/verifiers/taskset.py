"""Tasks for `verifiers`, and the seat at which its agents do them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import verifiers.v1 as vf
from pydantic import Field

from webdojo.interop.host import EpisodeHost
from webdojo.recipe import load_recipe


class WebdojoTasksetConfig(vf.TasksetConfig):
    recipe: str = "quickstart"
    """Its sections `env`, `tasks`, `reward`, `browser` and `rollout` count; a name or a .yaml file."""
    overrides: list[str] = Field(default_factory=list)
    """Changes to the recipe, such as `env.kinds=[wiki]`."""
    split: Literal["train", "eval"] = "train"
    """Which tasks."""
    tasks: int = Field(default=100, ge=1)
    """At most so many."""
    run: Path | None = None
    """Run folder that keeps the episodes; None keeps them as traces of verifiers only."""

    @property
    def source(self) -> str:
        """What the tasks come from, as one text."""
        return self.model_dump_json(include={"recipe", "overrides", "split", "tasks", "run"})

    def make_host(self) -> EpisodeHost:
        """A host for these tasks, which has not started.

        Raises:
            ConfigError, TaskError: the recipe is wrong.
        """
        recipe = load_recipe(self.recipe, self.overrides)
        return EpisodeHost(recipe, "verifiers", run=self.run, split=self.split, tasks=self.tasks)


class WebdojoData(vf.TaskData):
    record: dict[str, Any]
    """Our `Task`, as plain JSON."""
    source: str
    """The host that it is done at: `WebdojoTasksetConfig.source`."""


class WebdojoTask(vf.Task[WebdojoData]):
    @property
    def key(self) -> str:
        """The id of our task, which always means the same task."""
        return str(self.data.record["id"])

    @vf.reward(weight=1.0)
    async def verdict(self, trace: vf.Trace) -> float:
        """What our reward function says, behind its gate."""
        return float(trace.info["webdojo"]["reward"])

    @vf.metric
    async def success(self, trace: vf.Trace) -> float:
        return float(trace.info["webdojo"]["success"])

    @vf.metric
    async def truncated(self, trace: vf.Trace) -> float:
        return float(trace.info["webdojo"]["truncated"])


class WebdojoTaskset(vf.Taskset[WebdojoTask, WebdojoTasksetConfig]):
    """The tasks of a recipe."""

    def load(self) -> Iterator[WebdojoTask]:
        for task in self.config.make_host().tasks.values():
            yield WebdojoTask(
                WebdojoData(
                    id=task.id,
                    name=task.id,
                    prompt=task.instruction,
                    record=task.model_dump(mode="json"),
                    source=self.config.source,
                ),
                self.config.task,
            )


class WebdojoSeatConfig(vf.SingleAgentEnvConfig):
    # The agent's loop runs in this process, so that a container would be empty.
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class WebdojoSeat(vf.SingleAgentEnv, vf.Env[WebdojoSeatConfig]):
    """One agent at a task; starts environment and browsers once for all episodes."""

    hosts: ClassVar[dict[str, EpisodeHost]] = {}
    """Those that run in this process, by the source of their tasks."""

    async def start(self) -> None:
        config = self.taskset.config
        host = config.make_host()
        await host.__aenter__()
        self.hosts[config.source] = host

    async def stop(self) -> None:
        host = self.hosts.pop(self.taskset.config.source, None)
        if host is not None:
            await host.__aexit__()
