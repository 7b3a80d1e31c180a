"""Environments for TRL's `GRPOTrainer(environment_factory=…)`: the 13 browser tools as its tools, with screenshots.

TRL carries out each call by itself, so that several calls of one answer are several turns here, each with a screenshot
of its own. An answer that it cannot parse, or without a call, ends the rollout: the episode is unfinished and its
reward is 0, where our own loop tells the model and goes on. An invalid episode has the reward None: TRL gives it no
advantage, and leaves it out of its group's mean. Nothing here imports TRL.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from PIL import Image

from webdojo.agent.openwebrl import system_prompt
from webdojo.browser.tools import TOOLS, Schema, json_schema
from webdojo.envs.env import Split
from webdojo.errors import ConfigError
from webdojo.interop.chat import words
from webdojo.interop.host import EpisodeHost, HostedEpisode, Step
from webdojo.recipe import Recipe, recipe_of
from webdojo.rollout.background import BackgroundLoop
from webdojo.types import ToolCall

Content = list[dict[str, Any]]
"""Parts of a chat message: texts, and images as PIL has them."""
ORDER = "each shows the screen after it. A turn without a call ends the task, unfinished"
"""What TRL makes of the calls of one turn."""
_TYPES: dict[str, Any] = {"integer": int, "number": float, "string": str, "array": list[str]}


class BrowserEnvironment:
    """One rollout's browser; TRL makes as many as a batch needs, and uses them again.

    Beside `reset` and `get_reward`, its public methods are the browser tools.
    """

    def __init__(self, host: EpisodeHost, loop: BackgroundLoop) -> None:
        self._host, self._loop = host, loop
        self._episode: HostedEpisode | None = None

    def reset(self, task: str = "", seed: int | None = None, **row: Any) -> Content:
        """Begin an episode.

        Args:
            task: the id of a task; without one, the seed draws it.
            seed: of what the environment draws.
            row: the rest of the data set's row, which is not used.

        Returns:
            What the browser shows, which TRL appends to the prompt.
        """
        if self._episode is not None:
            self._loop.run(self._episode.give_up("its rollout was left"))
        chosen = self._host.choose(task, seed)
        self._episode = self._loop.run(self._host.begin(chosen, seed=seed))
        return self._content(self._episode.step(), f"Task: {self._episode.trajectory.task.instruction}", first=True)

    def get_reward(self) -> float | None:
        """The verdict on the episode, which is unfinished where the model stopped without `done`; None where it is
        invalid."""
        if self._episode is None:
            raise ConfigError("no episode has begun: reset comes first")
        self._loop.run(self._episode.stop())
        reward = self._episode.step().reward
        assert reward is not None, "an episode that is over has a verdict"
        return reward.value if reward.valid else None

    def _call(self, call: ToolCall) -> Content:
        if self._episode is None:
            raise ConfigError("no episode has begun: reset comes first")
        step = self._loop.run(self._episode.act([call]))
        return self._content(step, "\n".join(each.text for each in step.feedback))

    def _content(self, step: Step, said: str, first: bool = False) -> Content:
        picture = Image.open(io.BytesIO(self._host.store.images.get(step.observation.screenshot))).convert("RGB")
        return [{"type": "text", "text": words(step.observation, said, first)}, {"type": "image", "image": picture}]


def _tool(name: str) -> Callable[..., Content]:
    """The method of a browser tool, with the signature and the docstring from which TRL makes its schema."""

    def method(self: BrowserEnvironment, *values: Any, **named: Any) -> Content:
        # A call that lacks an argument, or has one too many, is answered by the browser's feedback, as a model's is.
        given = {**signature.bind_partial(self, *values).arguments, **named}
        arguments = {key: value for key, value in given.items() if key != "self" and value is not None}
        return self._call(ToolCall(name=name, arguments=arguments))

    tool, required = TOOLS[name], json_schema(name)["function"]["parameters"]["required"]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters, hints, lines = [inspect.Parameter("self", kind)], {}, [tool.about, "", "Args:"]
    for argument, schema in tool.arguments.items():
        hints[argument] = _TYPES[schema["type"]]
        default: Any = inspect.Parameter.empty
        if argument not in required:
            default = schema.get("default")
            hints[argument] = hints[argument] if default is not None else hints[argument] | None
        parameters.append(inspect.Parameter(argument, kind, default=default, annotation=hints[argument]))
        lines.append(f"    {argument}: {_about(schema)}")
    signature = inspect.Signature(parameters)
    method.__name__, method.__qualname__ = name, f"BrowserEnvironment.{name}"
    method.__doc__ = "\n".join(lines if tool.arguments else lines[:1])
    method.__annotations__ = hints
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def _about(schema: Schema) -> str:
    choices = ", ".join(f'"{choice}"' for choice in schema.get("enum", ()))
    return f"{schema['description']} (choices: [{choices}])" if choices else schema["description"]


for _name in TOOLS:
    setattr(BrowserEnvironment, _name, _tool(_name))


class Environments:
    """A host for TRL; a context manager around the training.

    Args:
        recipe: its sections `env`, `tasks`, `reward`, `browser` and `rollout` count; a name, a `.yaml` file or a
            `Recipe`.
        overrides: `section.key=value`, where `recipe` is a name or file.
        run: run folder that keeps the episodes; absent: nothing is kept.
        split: which tasks.
        tasks: at most so many.

    Raises:
        ConfigError, TaskError: the recipe is wrong.

    Examples:
        with Environments("quickstart", ["env.kinds=[wiki]"]) as environments:
            trainer = GRPOTrainer(
                model, train_dataset=Dataset.from_list(environments.rows()), environment_factory=environments.make
            )
            trainer.train()
    """

    def __init__(
        self,
        recipe: Recipe | str = "quickstart",
        overrides: Sequence[str] = (),
        run: Path | str | None = None,
        split: Split = "train",
        tasks: int = 100,
    ) -> None:
        # A rollout whose model is slow is not left: only the trainer knows when it goes on.
        self.host = EpisodeHost(
            recipe_of(recipe, overrides),
            "trl",
            run=Path(run) if run else None,
            split=split,
            tasks=tasks,
            idle_timeout_s=0,
        )
        self._loop: BackgroundLoop

    def make(self) -> BrowserEnvironment:
        """The `environment_factory`."""
        return BrowserEnvironment(self.host, self._loop)

    def rows(self) -> list[dict[str, Any]]:
        """A data set: the protocol as prompt, to which a reset adds the task, and the id of each task."""
        protocol = system_prompt(native=True, screenshots_kept=0, order=ORDER)
        messages = [{"role": "system", "content": protocol}, {"role": "user", "content": ""}]
        return [{"prompt": messages, "task": id} for id in self.host.tasks]

    def __enter__(self) -> Self:
        self._loop = BackgroundLoop("webdojo-trl")
        try:
            self._loop.run(self.host.__aenter__())
        except BaseException:
            self._loop.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.run(self.host.__aexit__())
        self._loop.close()
