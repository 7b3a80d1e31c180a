"""Run folders of version 0.1 can be shown, reported, exported and resumed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.loops.conftest import SmallRecipe
from webdojo.cli import app
from webdojo.errors import ConfigError
from webdojo.loops.keep import garbage
from webdojo.loops.run_folder import saved_recipe
from webdojo.loops.start import train
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore

ARCHIVE = Path(__file__).parent.parent / "data" / "runs-0.1.tar.gz"


@pytest.fixture
def old(tmp_path: Path, model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with two runs of version 0.1 and the model that they name."""
    shutil.unpack_archive(ARCHIVE, tmp_path)
    (tmp_path / "model").symlink_to(model_dir)
    monkeypatch.chdir(tmp_path)
    assert "weather:" in (tmp_path / "finished" / "recipe.yaml").read_text()
    return tmp_path


def webdojo(*arguments: str) -> str:
    """What a command prints."""
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_its_recipe_is_read_into_the_same_values(old: Path, small_recipe: SmallRecipe) -> None:
    small = [
        "train.ppo_epochs=2",
        "train.schedule=constant",
        "model.path=model",
        "sft.demos=0",
        "evaluate.tasks=1",
        "rollout.max_staleness=0",
    ]
    assert saved_recipe(old / "finished", "quickstart", []) == small_recipe(*small, "train.iterations=2")
    expected = small_recipe(*small, "train.groups_per_iteration=2", "train.lr=1")
    assert saved_recipe(old / "unfinished", "quickstart", ["train.lr=1"]) == expected
    with pytest.raises(ConfigError, match=r"env of the run in .* cannot change half-way"):
        saved_recipe(old / "unfinished", "quickstart", ["env.perturbations=1"])


def test_it_is_listed_shown_reported_and_exported(old: Path) -> None:
    listed = {Path(run["run"]).name: run for run in json.loads(webdojo("runs", "list", ".", "--json"))}
    assert (listed["finished"]["recipe"], listed["finished"]["iterations"]) == ("quickstart", 2)
    assert listed["unfinished"]["iterations"] == 1
    shown = json.loads(webdojo("runs", "show", "finished", "--json"))
    assert (shown["recipe"], shown["iterations"], shown["model"]) == ("quickstart", 2, "model")
    assert "quickstart" in webdojo("runs", "show", "unfinished")
    for run in ("finished", "unfinished"):
        webdojo("report", run)
        page = (old / run / "report.html").read_text()
        assert "quickstart" in page and "weather" in page, "the recipe that it was run with is not shown"
        webdojo("runs", "export", run)
        lines = (old / run / "trajectories.jsonl").read_text().splitlines()
        assert {"rl", "eval_base"} <= {json.loads(line)["phase"] for line in lines}
        webdojo("runs", "trace", run)


def test_it_goes_on_and_keeps_its_episodes(old: Path) -> None:
    """It trains on tasks of today's training sites: version 0.1 took others, so its begun iteration begins anew."""
    with RunStore.open(old / "unfinished", readonly=True) as store:
        before = {phase: [row.id for row in store.rows(phase)] for phase in ("eval_base", "rl")}
    recipe = saved_recipe(old / "unfinished", "quickstart", [])
    result = train(recipe, old / "unfinished", resume=True)
    assert result["success_rl"]["n"] == 1
    with RunStore.open(old / "unfinished", readonly=True) as store:
        assert [row.id for row in store.rows("eval_base")] == before["eval_base"], "the base was measured again"
        assert set(before["rl"]) <= {row.id for row in store.rows("rl")}
        trained = store.get("trained groups 1")
        assert len(trained) == 2
        assert not {row.group_id for row in store.rows("rl") if row.id in before["rl"]} & set(trained)
        assert store.metrics("rl")[0]["effective_groups"] == 2
    written = load_recipe(str(old / "unfinished" / "recipe.yaml"))  # not migrated
    assert dump_recipe(written) == dump_recipe(recipe, whole_paths=True), "today's keys are not written"


def test_it_goes_on_from_the_command_line(old: Path) -> None:
    said = webdojo("train", "quickstart", "--run", "unfinished", "--resume", "--dry-run", "--full")
    assert "perturbations: 0" in said and "weather" not in said


def test_nothing_that_it_needs_can_go(old: Path) -> None:
    for run in ("finished", "unfinished"):
        with RunStore.open(old / run) as store:
            found = garbage(store)
        assert not any(found.values()), found


def test_its_checkpoints_act_by_its_recipe(old: Path) -> None:
    shutil.copytree("model", "finished/checkpoints/rl-0002")
    options = ["--model", "finished/checkpoints/rl-0002", "--url", "http://shop-0.localhost/", "--run", "acted"]
    done = CliRunner().invoke(app, ["act", "Open the cart", *options])
    assert done.exit_code in (0, 1), done.output
    assert "film: acted/trajectory.html" in done.stdout
