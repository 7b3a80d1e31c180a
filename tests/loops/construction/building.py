"""A set that is built in a process of its own, by an endpoint's model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.loops.construction.construct import read_seeds
from webdojo.loops.construction.sets import build_set
from webdojo.policy.chat import client
from webdojo.recipe import Recipe, load_recipe


def recipe_at(url: str, *overrides: str) -> Recipe:
    given = ["engine.name=chat", f"engine.base_url={url}", "engine.model=m", "engine.max_retries=8"]
    return load_recipe("quickstart", [*given, "engine.timeout_s=5", *overrides])


def build(url: str, seeds: Path, out: Path, *overrides: str) -> dict[str, Any]:
    client.FIRST_PAUSE_S = 0.005
    return build_set(recipe_at(url, *overrides), "tiny", read_seeds(seeds, "records"), out)


def questions(folder: Path, *texts: str) -> Path:
    """A file of seeds."""
    path = folder / "seeds.txt"
    path.write_text("".join(f"{text}\n" for text in texts))
    return path
