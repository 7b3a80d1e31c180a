"""Keys of a recipe on the command line.

An override of a key that the command does not use is an error, because it would do nothing; a key that is written as
an option is one that says how it is written.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from webdojo.errors import ConfigError

if TYPE_CHECKING:
    from webdojo.recipe import Recipe

TRAINING_ALONE = {
    "train": "",
    "sft": "",
    "cycles": "",
    "collect": "",
    "curate": "",
    "evaluate.every": "",
    "rollout.group_size": "",
    "rollout.max_staleness": "",
    "rollout.max_steps": "evaluate.max_steps=…",
    "rollout.max_steps_by_difficulty": "evaluate.max_steps_by_difficulty=…",
    "model.path": "--model",
}
"""Keys that only training uses, with what to write instead."""

_ONE_EPISODE = dict.fromkeys(
    ("evaluate.runs", "evaluate.max_invalid", "rollout.concurrency", "browser.servers", "cluster"), ""
)


def _all_but(*used: str) -> dict[str, str]:
    """The sections that a command does not use, which uses these."""
    sections = "seed model engine browser env tasks reward harness rollout collect curate sft train evaluate cluster"
    return dict.fromkeys((each for each in sections.split() if each not in used), "")


UNUSED: dict[str, dict[str, str]] = {
    "train": dict.fromkeys(("collect", "curate"), ""),
    "eval": TRAINING_ALONE,
    "act": TRAINING_ALONE | _ONE_EPISODE,
    "act --url": TRAINING_ALONE | _ONE_EPISODE | {"tasks": "", "evaluate.tasks": ""},
    "collect": dict.fromkeys(
        ("curate", "sft", "cycles", "train", "evaluate", "cluster", "rollout.group_size", "rollout.max_staleness"), ""
    ),
    "record": dict.fromkeys(
        (
            *(
                "engine",
                "curate",
                "sft",
                "cycles",
                "train",
                "evaluate",
                "cluster",
                "browser.servers",
                "collect.teacher",
                "collect.noise",
            ),
            *("rollout.group_size", "rollout.max_staleness", "rollout.concurrency"),
        ),
        "",
    ),
    "tasks build": _all_but("model", "engine", "rollout") | {"model.path": "--model"},
    "tasks propose": _all_but("seed", "model", "engine", "browser", "env", "rollout") | {"model.path": "--model"},
    "judge distill": _all_but("model", "reward", "sft", "train")
    | dict.fromkeys(("sft.demos", "sft.data"), "")
    | {"seed": "--seed"},
    "explain": _all_but("rollout", "train"),
    "browser serve": _all_but("browser"),
    "openenv serve": _all_but("seed", "browser", "env", "tasks", "reward", "harness", "rollout"),
}
"""By command, the sections and keys that it does not use, with what to write instead."""


def recipe_for(
    command: str,
    name: str,
    overrides: list[str] | None,
    options: Sequence[str] = (),
    *,
    defaults: Sequence[str] = (),
    migrate: bool = False,
) -> Recipe:
    """Load the recipe of a command; `options` are overrides that its own options stand for, and `defaults` those that
    it begins with.

    Raises:
        ConfigError: the recipe is wrong, or an override names a key that the command does not use.
    """
    from webdojo.recipe import load_recipe

    recipe = load_recipe(name, [*defaults, *(overrides or []), *options], migrate=migrate)
    for override in overrides or []:
        key = override.partition("=")[0]
        if (instead := _instead(command, key)) is not None:
            advice = f"use {instead}" if instead else "leave it out"
            raise ConfigError(f"`webdojo {command}` does not use {key}, so {override!r} would do nothing: {advice}")
    return recipe


def _instead(command: str, key: str) -> str | None:
    """What to write instead of a key that a command does not use, empty where there is nothing; None: it uses it."""
    unused = UNUSED.get(command, {})
    return next((unused[each] for each in unused if f"{key}.".startswith(f"{each}.")), None)


def recipe_and_model(
    command: str,
    name: str,
    overrides: list[str] | None,
    model: str,
    endpoint: str,
    options: Sequence[str] = (),
    *,
    migrate: bool = False,
    asks: bool = True,
) -> tuple[Recipe, str]:
    """The recipe of a command, and the path of the model that it loads, `tiny` where `model` is empty.

    An engine with a key `model` asks for that by its name; `tiny` then only counts and cuts the text. A model that is
    an address is the one that is served there; it is called `served` where the endpoint is not to be asked.
    """
    from webdojo.policy.config import TINY

    given = list(options)
    if served := model.startswith(("http://", "https://")):
        if endpoint:
            raise ConfigError(f"--model {model} is an address, and --endpoint is one, too: give the model's name there")
        endpoint = model
    if endpoint:
        given += ["engine.name=chat", f"engine.base_url={json.dumps(endpoint)}"]
    recipe = recipe_for(command, name, overrides, given, migrate=migrate)
    if served:
        from webdojo.policy.chat.served import only_model
        from webdojo.policy.engine import ChatConfig

        assert isinstance(recipe.engine, ChatConfig)
        model = only_model(recipe.engine) if asks else "served"
    if "model" not in type(recipe.engine).model_fields:
        return recipe, model or TINY
    if model:
        given.append(f"engine.model={json.dumps(model)}")
    return recipe_for(command, name, overrides, given, migrate=migrate), TINY


def recipe_and_teacher(name: str, overrides: list[str] | None, model: str, endpoint: str) -> tuple[Recipe, list[str]]:
    """The recipe of a collection, and all overrides of it, by which the model that was named teaches; without one it is
    whoever the recipe's keys say.

    An engine with a key `model` asks for that by its name, and `model.path` stays the one whose tokens are stored.
    """
    given = ["collect.teacher=model"] if model or endpoint else []
    if endpoint:
        given += ["engine.name=chat", f"engine.base_url={json.dumps(endpoint)}"]
    recipe = recipe_for("collect", name, overrides, given)
    if model:
        key = "engine.model" if "model" in type(recipe.engine).model_fields else "model.path"
        given.append(f"{key}={json.dumps(model)}")
        recipe = recipe_for("collect", name, overrides, given)
    return recipe, [*(overrides or []), *given]


def measured_by(
    name: str, overrides: list[str] | None, protocol: str, judge: str, runs: int | None
) -> tuple[str, list[str]]:
    """The recipe of an evaluation and its overrides, as the options of `webdojo eval` ask for them.

    With a protocol that is its recipe, with the environment and the tasks of the one that was named. A judge is a
    reward's name, or a recipe whose reward section it is.
    """
    from webdojo.loops.judging.verdicts import names_recipe
    from webdojo.recipe import load_recipe

    given = [f"evaluate.runs={runs}"] if runs else []
    if names_recipe(judge):
        given.append(f"reward={load_recipe(judge).reward.model_dump_json()}")
    elif judge:
        given.append(f"reward={json.dumps(judge)}")
    if protocol:
        ours = load_recipe(name)
        given = [f"env={ours.env.model_dump_json()}", f"tasks={ours.tasks.model_dump_json()}", *given]
    return protocol or name, [*given, *(overrides or [])]


class RecipeCommand(TyperCommand):
    """A command with a recipe: an option that it does not have may stand for a key."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = {name for parameter in self.params for name in (*parameter.opts, *parameter.secondary_opts)}
        for name, _, value in (word.partition("=") for word in args if word.startswith("--")):
            if name not in options | {"--", "--help"}:
                self._explain(name, value, options)
        return super().parse_args(ctx, args)

    def _explain(self, name: str, value: str, options: set[str]) -> None:
        """Raise ConfigError where an unknown option is near a key, and nearer than any option."""
        from webdojo.recipe import all_keys
        from webdojo.recipe_hints import meant

        if difflib.get_close_matches(name, options, cutoff=0.8):
            return
        known = all_keys({})
        keys = [key for key in known if not any(other.startswith(f"{key}.") for other in known)]  # no sections
        keys = [key for key in keys if _instead(self.name or "", key) is None]
        if found := meant(name.lstrip("-"), keys):
            written = " or ".join(f"{key}={value or 'VALUE'}" for key in found)
            raise ConfigError(f"there is no option {name}; keys of the recipe are written without dashes: {written}")
