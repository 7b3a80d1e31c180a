"""A result says by which protocol it was made, and what differs from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdojo.loops.results.protocol import differs, protocol_values
from webdojo.recipe import load_recipe, recipe_names


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_of_the_package_is_its_own_protocol(name: str) -> None:
    assert differs(load_recipe(name)) == {}


def test_what_bears_on_the_number_is_told_with_both_values() -> None:
    given = ["evaluate.tasks=10", "evaluate.sampling.top_k=0", "browser.viewport_px=[300, 200]", "seed=3"]
    assert differs(load_recipe("quickstart", given)) == {
        "seed": [0, 3],
        "browser.viewport_px": [[320, 320], [300, 200]],
        "evaluate.tasks": [200, 10],
        "evaluate.sampling.top_k": [20, 0],
    }


@pytest.mark.parametrize(
    "given",
    [
        "train.lr=1",
        "rollout.concurrency=2",
        "tasks.eval_path=mine.json",
        "reward.timeout_s=5",
        "reward.engine.base_url=http://127.0.0.1:1/v1",
        "reward.engine.api_key_env=MINE",
        "evaluate.max_invalid=1",
        "env.episodes_per_minute=2",
    ],
)
def test_addresses_paths_speed_and_training_do_not(given: str) -> None:
    assert differs(load_recipe("openwebrl", [given])) == {}


def test_of_another_plug_the_name_is_told_and_not_its_options() -> None:
    assert differs(load_recipe("openwebrl", ["reward=webjudge"])) == {"reward.name": ["openwebrl", "webjudge"]}
    assert differs(load_recipe("openwebrl", ["reward.engine.model=o4-mini"])) == {
        "reward.engine.model": ["gpt-4.1", "o4-mini"]
    }


def test_a_recipe_of_somebodys_own_is_held_against_none(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("base: quickstart\nname: mine\nevaluate: {tasks: 3}\n")
    recipe = load_recipe(str(tmp_path / "mine.yaml"))
    assert differs(recipe) == {}
    assert protocol_values(recipe)["evaluate.tasks"] == 3
