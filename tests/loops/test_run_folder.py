"""Which folder a run lives in when the user does not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdojo.errors import ConfigError, StoreError
from webdojo.loops.run_folder import check_goes_on, resume_or_next, saved_recipe
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore


def start(folder: Path, overrides: list[str] | None = None) -> None:
    RunStore.create(folder, dump_recipe(load_recipe("quickstart", overrides)), {"model": "m"}).close()


def finish(folder: Path) -> None:
    with RunStore.open(folder) as store:
        store.write_result({"success_rl": {"rate": 1.0}})


def test_from_nothing_to_the_second_run(tmp_path):
    first, second = tmp_path / "quickstart", tmp_path / "quickstart-2"
    assert resume_or_next(tmp_path / "not-there-yet", "quickstart") == (
        tmp_path / "not-there-yet" / "quickstart",
        False,
    )
    assert resume_or_next(tmp_path, "quickstart") == (first, False)
    start(first)
    assert resume_or_next(tmp_path, "quickstart") == (first, True)
    finish(first)
    assert resume_or_next(tmp_path, "quickstart") == (second, False)
    start(second)
    assert resume_or_next(tmp_path, "quickstart") == (second, True)


def test_the_newest_unfinished_run_is_the_one_to_resume(tmp_path):
    for number in (2, 9, 10):
        start(tmp_path / f"quickstart-{number}")
    assert resume_or_next(tmp_path, "quickstart") == (tmp_path / "quickstart-10", True)
    for number in (2, 9, 10):
        finish(tmp_path / f"quickstart-{number}")
    assert resume_or_next(tmp_path, "quickstart") == (tmp_path / "quickstart-11", False)


def test_folders_of_other_recipes_and_other_files_are_left_alone(tmp_path):
    start(tmp_path / "quickstart-large")
    start(tmp_path / "openwebrl")
    (tmp_path / "quickstart").mkdir()
    (tmp_path / "quickstart" / "notes.txt").write_text("mine")
    assert resume_or_next(tmp_path, "quickstart") == (tmp_path / "quickstart-2", False)


def test_a_resumed_run_keeps_its_own_recipe_but_for_new_overrides(tmp_path):
    start(tmp_path, ["train.lr=0.5", "seed=3"])
    recipe = saved_recipe(tmp_path, "quickstart", ["train.iterations=99"])
    assert (recipe.train.lr, recipe.seed, recipe.train.iterations) == (0.5, 3, 99)


def test_resuming_what_is_not_there_or_another_recipe(tmp_path):
    with pytest.raises(StoreError, match="holds no run"):
        saved_recipe(tmp_path, "quickstart", [])
    start(tmp_path / "run")
    with pytest.raises(ConfigError, match="started with recipe 'quickstart', not 'openwebrl'"):
        saved_recipe(tmp_path / "run", "openwebrl", [])


@pytest.mark.parametrize(
    "override",
    [
        "seed=4",
        "env.kinds=[wiki]",
        "model.path=/elsewhere",
        "evaluate.sampling.top_k=1",
        "rollout.sampling.temperature=0.3",
        "tasks.source=webgym",
        "rollout.group_size=4",
        "browser.viewport_px=[640,640]",
        "harness.screenshots_kept=2",
    ],
)
def test_what_stored_episodes_depend_on_cannot_change_half_way(tmp_path, override):
    start(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot change half-way.*start a new run in another folder"):
        saved_recipe(tmp_path, "quickstart", [override])


@pytest.mark.parametrize("override", ["env.port=7", "tasks.sampler=mixed_outcomes", "train.iterations=3"])
def test_what_they_do_not_depend_on_can(tmp_path, override):
    start(tmp_path)
    assert saved_recipe(tmp_path, "quickstart", [override]) == load_recipe("quickstart", [override])


def test_a_result_is_not_replaced_by_one_of_fewer_episodes(tmp_path):
    start(tmp_path, ["evaluate.tasks=6", "evaluate.runs=2"])
    fewer = load_recipe("quickstart", ["evaluate.tasks=1", "evaluate.runs=2"])
    check_goes_on(tmp_path, fewer, "m")
    finish(tmp_path)
    check_goes_on(tmp_path, load_recipe("quickstart", ["evaluate.tasks=7", "evaluate.runs=2"]), "m")
    with pytest.raises(ConfigError, match=r"^evaluate.tasks = 1 would replace the result in .*, which is of 6: leave"):
        check_goes_on(tmp_path, fewer, "m")
    with pytest.raises(ConfigError, match=r"^evaluate.runs = 1 would replace the result"):
        check_goes_on(tmp_path, load_recipe("quickstart", ["evaluate.tasks=6"]), "m")
