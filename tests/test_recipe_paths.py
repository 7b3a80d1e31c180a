"""A recipe that names files means the same from every folder, and a run goes on from any."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.test_plugins import SOURCE
from webdojo.errors import ConfigError
from webdojo.loops.judging.verdicts import fingerprint, log_path
from webdojo.loops.run_folder import check_goes_on, saved_recipe
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.recipe_paths import folderless, whole_path
from webdojo.store.run import RunStore

MINE = """
name: mine
env: {name: "./my_env.py:Notes", pages: 2}
reward: {name: "./my_reward.py:Mine"}
tasks: {path: tasks.jsonl, source: "my_env.py:numbered"}
model: {path: weights}
sft: {demos: 0}
train: {policy_loss: "my_loss.py:mine"}
"""
REWARD = """
from webdojo import Reward, RewardFunction


class Mine(RewardFunction):
    async def score(self, trajectory, images):
        return Reward(value=1, success=True)
"""
LOSS = """
from webdojo.trainer.losses import Loss

mine = Loss(lambda logprobs, tokens, bounds: logprobs, lambda bounds: "")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a recipe and what it names; the working folder is another."""
    folder = tmp_path / "project"
    (folder / "weights").mkdir(parents=True)
    for name, text in {
        "mine.yaml": MINE,
        "based.yaml": "base: mine.yaml\nname: mine\n",
        "my_env.py": SOURCE,
        "my_reward.py": REWARD,
        "my_loss.py": LOSS,
        "tasks.jsonl": json.dumps({"id": "a", "instruction": "Do", "start_url": "http://a/", "website": "a"}),
    }.items():
        (folder / name).write_text(text)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return folder


@pytest.mark.parametrize("name", ["mine.yaml", "based.yaml"])
def test_what_lies_beside_a_recipe_is_found_from_elsewhere(project: Path, name: str) -> None:
    recipe = load_recipe(f"../project/{name}")
    assert recipe.env.name == f"{project}/my_env.py:Notes"
    assert recipe.reward.name == f"{project}/my_reward.py:Mine"
    assert recipe.train.policy_loss == f"{project}/my_loss.py:mine"
    assert (recipe.tasks.path, recipe.model.path) == (f"{project}/tasks.jsonl", f"{project}/weights")
    assert recipe.tasks.source == f"{project}/my_env.py:numbered"


def test_in_its_own_folder_a_recipe_keeps_its_names(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    recipe = load_recipe("mine.yaml")
    assert (recipe.env.name, recipe.tasks.path) == ("./my_env.py:Notes", "tasks.jsonl")
    assert "./my_env.py:Notes" in dump_recipe(recipe)


def test_a_run_goes_on_from_any_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = project / "runs" / "mine"
    monkeypatch.chdir(project)
    begun = load_recipe("mine.yaml")
    info = {"model": "weights", "processor": whole_path("weights")}
    RunStore.create(run, dump_recipe(begun, whole_paths=True), info).close()
    monkeypatch.chdir(project.parent / "elsewhere")
    resumed = saved_recipe(Path("../project/runs/mine"), "mine", ["train.iterations=3"])
    assert resumed.env.name == f"{project}/my_env.py:Notes"
    check_goes_on(run, load_recipe("../project/mine.yaml"), "../project/weights")
    with pytest.raises(ConfigError, match=r"holds an evaluation of 'weights', not of 'weights2'"):
        check_goes_on(run, resumed, "weights2")
    shutil.copy(project / "my_reward.py", "my_reward.py")
    with pytest.raises(ConfigError, match=r"reward of the run in .* cannot change half-way"):
        saved_recipe(run, "mine", ["reward.name=./my_reward.py:Mine"])


def test_a_run_goes_on_where_its_files_lie_elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, elsewhere = project / "runs" / "mine", project.parent / "elsewhere"
    RunStore.create(run, dump_recipe(load_recipe("../project/mine.yaml"), whole_paths=True), {}).close()
    monkeypatch.chdir(elsewhere)
    shutil.copytree(project / "weights", "weights")
    other = ["model.path=weights", "tasks.path=copied.jsonl"]
    with pytest.raises(ConfigError, match=r"model\.path of the run in .* cannot change half-way"):
        saved_recipe(run, "mine", other[:1])
    shutil.rmtree(project / "weights")
    shutil.move(project / "tasks.jsonl", "copied.jsonl")
    resumed = saved_recipe(run, "mine", other)
    assert (resumed.model.path, resumed.tasks.path) == ("weights", "copied.jsonl")


def test_a_file_that_is_gone_is_one_clear_line(project: Path) -> None:
    RunStore.create(project / "run", dump_recipe(load_recipe("../project/mine.yaml"), whole_paths=True), {}).close()
    (project / "my_env.py").unlink()
    gone = rf"environment '{project}/my_env.py:Notes': there is no file '{project}/my_env.py': put it there, or name"
    with pytest.raises(ConfigError, match=gone):
        saved_recipe(project / "run", "mine", [])


def test_a_judge_keeps_its_verdicts_wherever_it_is_named_from(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = load_recipe("../project/mine.yaml").reward
    monkeypatch.chdir(project)
    near = load_recipe("mine.yaml").reward
    assert far.name != near.name and fingerprint(far) == fingerprint(near)
    assert log_path(tmp_path, far) == log_path(tmp_path, near)
    assert folderless("package.module:Mine") == "package.module:Mine"


def test_only_a_folder_of_a_model_is_a_path(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "tiny").mkdir()
    monkeypatch.chdir(project)
    assert [whole_path(name) for name in ("tiny", "owner/name", "weights")] == [
        "tiny",
        "owner/name",
        f"{project}/weights",
    ]
