"""By which protocol a number was made: a recipe of the package, and every value that differs from it and bears on the
number. Addresses, paths, limits of speed and what training alone reads do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from pydantic import BaseModel

from webdojo.evaluation.comparison import different
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


def compared_values(recipe_yaml: str) -> dict[str, Any]:
    """Of a stored recipe, whatever version wrote it, the values that bear on what an episode of a task is worth."""
    asked = ("seed", "evaluate.tasks", "evaluate.runs")
    return {key: value for key, value in _leaves(yaml.safe_load(recipe_yaml) or {}, "") if _bears(key, asked)}


def differs(recipe: Recipe) -> dict[str, list[Any]]:
    """By key, the value in the package's recipe of the same name, and the one here; empty where none differs, or the
    recipe is not one of the package.
    """
    if recipe.name not in recipe_names():
        return {}
    return different(protocol_values(load_recipe(recipe.name)), protocol_values(recipe))


def _bears(key: str, but: tuple[str, ...] = ()) -> bool:
    return key in JUDGE or (_within(key, BEARS) and not _within(key, BEARS_NOT + but))


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


def _leaves(section: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
