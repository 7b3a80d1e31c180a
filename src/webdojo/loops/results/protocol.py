"""By which protocol a number was made: a recipe of the package, and every value that differs from it and bears on the
number. Addresses, paths, limits of speed and what training alone reads do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from webdojo.recipe import Recipe, load_recipe, recipe_names

BEARS = (
    "seed",
    "env",
    "tasks",
    "reward",
    "harness",
    "evaluate",
    "browser.viewport_px",
    "rollout.max_context_tokens",
    "rollout.task_timeout_s",
)
"""Sections and keys that an evaluation's number depends on."""
BEARS_NOT = (
    "env.host",
    "env.port",
    "env.path",
    "env.eval_path",
    "env.sites",
    "env.episodes_per_minute",
    "env.train_sites",
    "env.seeds",
    "tasks.path",
    "tasks.eval_path",
    "tasks.sampler",
    "tasks.blocklist",
    "reward.max_concurrency",
    "reward.timeout_s",
    "reward.engine",
    "reward.model",
    "evaluate.every",
    "evaluate.max_invalid",
)
"""Those of them that it does not."""
JUDGE = ("reward.engine.name", "reward.engine.model", "reward.engine.extra_body", "reward.model.path")
"""And those that bear on it all the same."""


def protocol_values(recipe: Recipe) -> dict[str, Any]:
    """The values that bear on an evaluation's number, by dotted key, as plain JSON."""
    return {key: value for key, value in _flat(recipe, "") if _bears(key)}


def differs(recipe: Recipe) -> dict[str, list[Any]]:
    """By key, the value in the package's recipe of the same name, and the one here; empty where none differs, or the
    recipe is not one of the package.

    Of a plug with another name only the name counts: its options have no counterpart.
    """
    if recipe.name not in recipe_names():
        return {}
    there, here = protocol_values(load_recipe(recipe.name)), protocol_values(recipe)
    both = {key: [there.get(key), here.get(key)] for key in [*there, *here] if there.get(key) != here.get(key)}
    others = [key.removesuffix("name") for key in both if key.endswith(".name")]
    return {key: pair for key, pair in both.items() if not any(_option_of(plug, key) for plug in others)}


def _option_of(plug: str, key: str) -> bool:
    return key.startswith(plug) and key != f"{plug}name"


def _bears(key: str) -> bool:
    return key in JUDGE or (_within(key, BEARS) and not _within(key, BEARS_NOT))


def _within(key: str, sections: tuple[str, ...]) -> bool:
    return any(f"{key}.".startswith(f"{section}.") for section in sections)


def _flat(section: BaseModel, prefix: str) -> Iterator[tuple[str, Any]]:
    """The keys of a section and of those in it, with their values."""
    dumped = section.model_dump(mode="json")
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", dumped[name]
