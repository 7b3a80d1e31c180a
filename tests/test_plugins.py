"""Plugs: four ways to name one, what is said of one that is none, and their own keys in recipes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from pydantic import Field
from typer.testing import CliRunner

from webdojo.agent.harnesses import HARNESSES
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.cli import app
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Environment, Split
from webdojo.envs.registry import ENVIRONMENTS
from webdojo.envs.task_sets import SOURCES, load_tasks
from webdojo.errors import ConfigError
from webdojo.plugins import Registry, derived_from
from webdojo.policy.engines import ENGINES, HF
from webdojo.recipe import PLUGS, Recipe, dump_recipe, load_recipe
from webdojo.reward.registry import REWARDS
from webdojo.reward.rules import Rules
from webdojo.types import Task

SOURCE = '''"""An environment of somebody else."""

from pydantic import Field

from webdojo.envs.env import Environment
from webdojo.reward.rules import Rules
from webdojo.types import Task


class Notes(Environment):
    """A notebook."""

    address: str = "http://notes.example/"
    """Where it runs."""
    pages: int = Field(default=3, ge=1)

    def tasks(self, split, n, seed):
        return [Task(id=f"{split}-{i}", instruction="Write", start_url=self.address, website="notes.example",
                     evaluator={"facts": []}) for i in range(min(n, self.pages))]

    @property
    def reward(self):
        return Rules()


def numbered(path="", n=2):
    """Tasks."""
    return [Task(id=str(i), instruction="", start_url="http://a/", website="a") for i in range(n)]


LIMIT = 7
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a file that holds plugs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_env.py").write_text(SOURCE)
    return tmp_path


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package that brings plugs, as pip installs it; its name."""
    site = tmp_path / "site-packages"
    (site / "their_notes").mkdir(parents=True)
    (site / "their_notes" / "__init__.py").write_text(SOURCE)
    info = site / "their_notes-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-notes\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[webdojo.envs]\nnotes = their_notes:Notes\ndojo = their_notes:Notes\nlost = their_notes:Gone\n"
        "wrong = their_notes:LIMIT\n\n[webdojo.tasks]\nnumbered = their_notes:numbered\n"
    )
    monkeypatch.syspath_prepend(str(site))
    for registry in (ENVIRONMENTS, SOURCES):  # who has looked before keeps what there was
        registry.__dict__.pop("_installed", None)
    yield "their-notes"
    for registry in (ENVIRONMENTS, SOURCES):
        registry.__dict__.pop("_installed", None)
    sys.modules.pop("their_notes", None)


def test_an_instance_without_a_name_is_named_by_its_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plug = ENVIRONMENTS.get("./my_env.py:Notes")
    assert plug().name == "./my_env.py:Notes"
    (here / "other").mkdir()
    monkeypatch.chdir("other")
    assert plug().name == f"{here}/my_env.py:Notes"
    assert ENVIRONMENTS.get(plug().name) is plug


# --- four ways in -----------------------------------------------------------------------------


def test_built_in_plugs_have_names() -> None:
    assert ENVIRONMENTS.get("dojo") is Dojo
    assert REWARDS.get("rules") is Rules
    assert ENGINES.get("hf") is HF
    assert HARNESSES.get("openwebrl") is OpenWebRLConfig
    assert set(ENVIRONMENTS) >= {"dojo", "miniwob", "web", "webarena"}


@pytest.mark.parametrize("section", PLUGS)
def test_every_built_in_plug_is_named_as_it_is_listed_and_can_be_taken_as_it_comes(section: str) -> None:
    registry, default = PLUGS[section]
    assert default in registry.built_in
    for name, plug in registry.built_in.items():
        assert plug.model_fields["name"].default == name
        recipe = load_recipe("quickstart", [f"{section}={{name: {name}}}"])
        assert type(getattr(recipe, section)) is plug


def test_an_installed_package_brings_plugs_by_entry_points(installed: str) -> None:
    plug = ENVIRONMENTS.get("notes")
    assert (plug.__module__, plug.__name__) == ("their_notes", "Notes")
    assert ENVIRONMENTS.listed()["notes"] == installed
    assert "notes" in list(ENVIRONMENTS)
    assert ENVIRONMENTS.get("dojo") is Dojo, "a package replaced what is built in"
    assert ENVIRONMENTS.listed()["dojo"] == "webdojo"
    assert REWARDS.listed() == dict.fromkeys(REWARDS.built_in, "webdojo")
    recipe = load_recipe("quickstart", ["env={name: notes, pages: 2}"])
    assert [task.id for task in recipe.env.tasks("train", 9, 0)] == ["train-0", "train-1"]
    assert [task.id for task in load_tasks("numbered", n=3)] == ["0", "1", "2"]


class Mine(Environment):
    """An environment that a test brings."""

    hops: int = Field(default=1, ge=1)

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return []


def test_an_import_path_names_a_plug() -> None:
    assert ENVIRONMENTS.get(f"{__name__}:Mine") is Mine
    recipe = load_recipe("quickstart", [f"env={{name: '{__name__}:Mine', hops: 3}}"])
    assert isinstance(recipe.env, Mine) and recipe.env.hops == 3


def test_a_plug_that_is_made_in_python_is_named_by_its_import_path() -> None:
    assert Mine().name == f"{__name__}:Mine"
    recipe = Recipe(name="mine", env=Mine(hops=2))
    assert ENVIRONMENTS.get(recipe.env.name) is Mine
    assert pickle.loads(pickle.dumps(recipe)) == recipe


def test_a_file_names_a_plug_and_is_read_once(here: Path) -> None:
    plug = ENVIRONMENTS.get("./my_env.py:Notes")
    assert plug.__name__ == "Notes"
    assert ENVIRONMENTS.get("my_env.py:Notes") is ENVIRONMENTS.get(f"{here}/my_env.py:Notes") is plug
    (here / "other").mkdir()
    (here / "other" / "my_env.py").write_text(SOURCE)
    assert ENVIRONMENTS.get("other/my_env.py:Notes") is not plug


def test_a_file_is_found_from_any_working_folder_of_a_program(here: Path) -> None:
    """As a user runs it: nothing of the working folder is on the path."""
    command = [sys.executable, "-m", "webdojo.cli", "train", "quickstart", "env={name: ./my_env.py:Notes}"]
    done = subprocess.run(
        [*command, "sft.demos=0", "--dry-run", "--full"], cwd=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["env"] == {
        "name": "./my_env.py:Notes",
        "address": "http://notes.example/",
        "pages": 3,
    }


# --- what is said of one that is none ---------------------------------------------------------

BROKEN = {
    "raises.py": "import json\njson.loads('{')\n",
    "syntax.py": "class Notes(:\n",
    "config.py": "from webdojo.errors import ConfigError\nraise ConfigError('set NOTES_ADDRESS')\n",
}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("dojjo", r"unknown environment 'dojjo'; did you mean 'dojo'.*`\./file\.py:Name` or `package\.module:Name`"),
        ("zzz", r"unknown environment 'zzz'; there are apps, browsergym, dojo, miniwob, web, webarena"),
        ("./none.py:Notes", r"environment '\./none\.py:Notes': there is no file '\./none\.py' in /"),
        (
            "no_such_module:Notes",
            "environment 'no_such_module:Notes' cannot be imported: ModuleNotFoundError: No module",
        ),
        (
            "./raises.py:Notes",
            r"'\./raises\.py:Notes' cannot be imported \(raises.py, line 2\): JSONDecodeError: Expecting property name",
        ),
        ("./syntax.py:Notes", r"'\./syntax\.py:Notes' cannot be imported: SyntaxError"),
        ("./config.py:Notes", "^set NOTES_ADDRESS$"),
        ("./my_env.py:Note", r"environment '\./my_env\.py:Note': '\./my_env\.py' has no 'Note'; did you mean 'Notes'"),
        ("./my_env.py:Zzzz", r"'\./my_env\.py' has no 'Zzzz'$"),
        ("json:dumpss", "'json' has no 'dumpss'; did you mean 'dumps'"),
        (
            "./my_env.py:LIMIT",
            r"'\./my_env\.py:LIMIT' is a int, and must be a class derived from webdojo\.envs\.env\.Env",
        ),
        ("./my_env.py:numbered", "is a function, and must be a class derived from"),
        ("webdojo.reward.rules:Rules", "is the class Rules, and must be a class derived from webdojo.envs.env.Environ"),
    ],
)
def test_what_is_no_plug_is_one_clear_line(here: Path, name: str, says: str) -> None:
    for file, text in BROKEN.items():
        (here / file).write_text(text)
    with pytest.raises(ConfigError, match=says) as caught:
        ENVIRONMENTS.get(name)
    with pytest.raises(ConfigError, match=says):
        load_recipe("quickstart", [f"env={{name: '{name}'}}"])
    assert "\n" not in str(caught.value)


def test_a_file_that_failed_is_read_again(here: Path) -> None:
    file = here / "later.py"
    file.write_text("raise ValueError('not yet')\n")
    with pytest.raises(ConfigError, match="not yet"):
        ENVIRONMENTS.get("later.py:Notes")
    file.write_text(SOURCE)
    assert ENVIRONMENTS.get("later.py:Notes").__name__ == "Notes"


def test_an_entry_point_that_leads_nowhere_is_one_clear_line(installed: str) -> None:
    with pytest.raises(ConfigError, match="environment 'lost' cannot be imported: AttributeError"):
        ENVIRONMENTS.get("lost")
    with pytest.raises(ConfigError, match="environment 'wrong' is a int, and must be a class derived from"):
        ENVIRONMENTS.get("wrong")
    with pytest.raises(ConfigError, match="unknown environment 'note'; did you mean 'notes'"):
        ENVIRONMENTS.get("note")


def test_a_source_of_tasks_must_be_a_function(here: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"task set '\./my_env\.py:LIMIT' is a int, and must be a function that gives"
    ):
        load_tasks("./my_env.py:LIMIT")


def test_a_registry_of_ones_own() -> None:
    animals: Registry[type[int]] = Registry("zoo.animals", "animal", *derived_from(int), {"bool": bool})
    assert animals.get("bool") is bool
    assert animals.listed() == {"bool": "webdojo"}
    with pytest.raises(ConfigError, match=r"animal 'builtins:str' is the class str, and must be .* builtins\.int"):
        animals.get("builtins:str")


# --- their keys in a recipe -------------------------------------------------------------------

NOTES = ["env={name: ./my_env.py:Notes, pages: 2}", "sft.demos=0"]


def test_its_keys_are_checked_like_those_that_are_built_in(here: Path) -> None:
    for overrides, says in (
        (["env.pagse=2"], "unknown key 'env.pagse' in 'quickstart'; did you mean 'env.pages'"),
        (["env.kinds=[shop]"], r"unknown key 'env\.kinds' in 'quickstart'; env has name, address, pages"),
        (["env.pages=0"], "env.pages = 0 in the override env.pages=0: input should be greater than or equal to 1"),
        (["env.pages=many"], "env.pages = 'many' in the override env.pages=many: "),
    ):
        with pytest.raises(ConfigError, match=says):
            load_recipe("quickstart", [*NOTES, *overrides])


def test_the_resolved_recipe_shows_its_keys(here: Path) -> None:
    resolved = yaml.safe_load(dump_recipe(load_recipe("quickstart", NOTES)))
    assert resolved["env"] == {"name": "./my_env.py:Notes", "address": "http://notes.example/", "pages": 2}
    done = CliRunner().invoke(app, ["train", "quickstart", *NOTES, "--dry-run", "--full"])
    assert done.exit_code == 0, done.output
    assert yaml.safe_load(done.stdout)["env"] == resolved["env"]
    assert yaml.safe_load(done.stdout)["engine"] == {"name": "hf"}


def test_a_recipe_with_a_plug_from_a_file_survives_a_round_trip_and_pickling(here: Path) -> None:
    recipe = load_recipe("quickstart", NOTES)
    (here / "copy.yaml").write_text(dump_recipe(recipe))
    again = load_recipe("copy.yaml")
    assert again == recipe
    assert type(again.env) is type(recipe.env)
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert recipe.model_copy(deep=True) == recipe


def test_another_process_finds_the_plug_of_a_pickled_recipe(here: Path) -> None:
    """As a rank of the learner is started: it gets the recipe, and imports for itself."""
    (here / "recipe.pickle").write_bytes(pickle.dumps(load_recipe("quickstart", NOTES)))
    script = "import pickle; print(pickle.load(open('recipe.pickle', 'rb')).env.pages)"
    done = subprocess.run([sys.executable, "-c", script], cwd=here, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr
