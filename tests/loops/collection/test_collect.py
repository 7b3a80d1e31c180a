"""`webdojo collect` from a recipe to a data set: teachers, verdicts, lineage, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.loops.collection.comparing import content
from tests.loops.collection.replaying import answering, stall
from tests.policy.chat.endpoint import Endpoint, completion, drop, refuse, say, truncate
from webdojo.cli import app
from webdojo.errors import BrowserError, BudgetError, ConfigError, StoreError
from webdojo.loops.collection.dataset import read_manifest
from webdojo.loops.run_folder import saved_recipe
from webdojo.loops.start import collect
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.run import RunStore

SMALL = ["collect.tasks=4", "rollout.concurrency=4"]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The oracle's episodes on four tasks."""
    folder = tmp_path_factory.mktemp("oracle") / "set"
    collect(load_recipe("quickstart", SMALL), folder, resume=False)
    return folder


def of_endpoint(endpoint: Endpoint, *more: str) -> Recipe:
    engine = [f"engine={{name: chat, base_url: '{endpoint.url}', model: m, timeout_s: 1, max_retries: 0}}"]
    return load_recipe("quickstart", [*SMALL, "collect.teacher=model", *engine, *more])


def replies(oracle: Path, lies_one_in: int = 0):
    return answering(oracle, Processor.load(model_folder("tiny")), lies_one_in)


def test_the_oracles_episodes_become_a_data_set_with_its_lineage(oracle: Path) -> None:
    manifest, recipe = read_manifest(oracle), load_recipe("quickstart", SMALL)
    tasks = [task.id for task in recipe.training_tasks()[:4]]
    assert [each["task"]["id"] for each in content(oracle)] == tasks, "not in the order of the tasks"
    assert manifest.complete and not manifest.unfinished and manifest.counts.successes == 4
    (source,) = manifest.lineage
    assert source["teacher"] == {"name": "oracle", "noise": 0.0}
    assert source["judge"]["name"] == "rules" and source["harness"]["name"] == "openwebrl"
    assert source["recipe"]["name"] == "quickstart" and source["seed"] == 0
    assert source["tasks"]["n"] == 4 and re.fullmatch("[0-9a-f]{64}", source["tasks"]["sha256"])
    assert {"webdojo", "chromium", "python"} <= source["versions"].keys()
    with pytest.raises(StoreError, match="already holds a run"):
        collect(recipe, oracle, resume=False)


def test_an_endpoint_that_fails_stalls_and_lies_teaches_what_a_sound_one_does(oracle: Path, tmp_path: Path) -> None:
    lying = replies(oracle, lies_one_in=3)
    with Endpoint(default=lying) as sound:
        collect(of_endpoint(sound, "collect.attempts=2"), tmp_path / "sound", resume=False)
    faults = [refuse(500), drop, stall, truncate, say("<html>")]
    with Endpoint(*faults, default=lying) as broken:
        collect(of_endpoint(broken, "collect.attempts=2"), tmp_path / "broken", resume=False)
    assert content(tmp_path / "broken") == content(tmp_path / "sound")
    counts = read_manifest(tmp_path / "sound").counts
    assert counts.trajectories == 8 and 0 < counts.successes < 8, "the judge believed a lie, or nobody lied"
    with RunStore.open(tmp_path / "broken", readonly=True) as store:
        assert [row.iteration for row in store.rows("collect")].count(1) == len(faults), "not each was tried once more"
    seeds = {body["seed"] for body in sound.bodies}
    assert len(seeds) == len(sound.bodies), "two responses were drawn alike"
    (source,) = read_manifest(tmp_path / "sound").lineage
    assert source["teacher"]["model"] == "m" and source["teacher"]["engine"]["base_url"] == sound.url


def test_an_endpoints_budget_ends_it_with_what_is_there_and_a_larger_one_completes_it(
    oracle: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    with Endpoint(default=replies(oracle)) as endpoint:
        with pytest.raises(BudgetError, match=r"all 5 requests .*raise engine\.budget_requests"):
            collect(of_endpoint(endpoint, "engine.budget_requests=5", "rollout.concurrency=1"), folder, resume=False)
        assert len(endpoint.bodies) == 5
        part = read_manifest(folder)
        assert not part.complete and 0 < part.counts.trajectories < 4 and "not begun" in part.unfinished.values()
        other = saved_recipe(folder, "quickstart", ["engine.budget_requests=0", "engine.model=n"])
        with pytest.raises(ConfigError, match=r"is of 'm', not of 'n'"):
            collect(other, folder, resume=True)
        recipe = saved_recipe(folder, "quickstart", ["engine.budget_requests=0"])
        collect(recipe, folder, resume=True)
    manifest = read_manifest(folder)
    assert manifest.complete and manifest.counts.trajectories == manifest.counts.successes == 4
    of_oracle = [each["turns"] for each in content(oracle)]
    assert [each["turns"] for each in content(folder)] == of_oracle, "the same tokens on the same screens"


def test_what_cannot_go_on_leaves_the_data_set_as_it_was(oracle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(oracle, folder)
    files = ("dataset.json", "result.json", "recipe.yaml", "info.json")
    before = [(folder / name).read_bytes() for name in files]
    with pytest.raises(BrowserError, match="browser"):
        more = ["collect.tasks=5", "browser.executable=/bin/false"]  # a program that is none
        collect(saved_recipe(folder, "quickstart", more), folder, resume=True)
    assert [(folder / name).read_bytes() for name in files] == before


def test_a_judges_budget_that_is_spent_at_once_leaves_a_data_set_of_what_was_judged(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    with Endpoint(default=say(completion("All is there.\nSUCCESS"))) as judge:

        def recipe(budget: int) -> Recipe:
            engine = f"{{base_url: '{judge.url}', model: j, budget_requests: {budget}}}"
            one = ["rollout.concurrency=1", f"reward={{name: openwebrl, engine: {engine}}}"]
            return load_recipe("quickstart", [*SMALL, *one])

        for _ in range(2):  # the second time it is spent before the first episode
            with pytest.raises(BudgetError, match="all 2 requests"):
                collect(recipe(2), folder, resume=folder.exists())
            part = read_manifest(folder)
            assert not part.complete and part.counts.trajectories == 2
            with RunStore.open(folder, readonly=True) as store:
                assert [row.valid for row in store.rows("collect")] == [True, True, None]
        collect(recipe(0), folder, resume=True)
    assert read_manifest(folder).complete and read_manifest(folder).counts.trajectories == 4


def test_what_a_collection_refuses(oracle: Path, tmp_path: Path) -> None:
    def said(*words: str) -> str:
        return str(CliRunner().invoke(app, ["collect", *words]).exception)

    assert "`webdojo collect` does not use sft.demos" in said("quickstart", "sft.demos=3")
    assert "noise 0.2 is of the oracle" in said("quickstart", "collect.noise=0.2", "--model", "tiny")
    env = ["env=web", "tasks.path=tasks.jsonl", "reward=rules"]
    assert "collect.teacher = oracle: the environment 'web' has no oracle" in said("quickstart", *env)
    assert "collect.noise of the run in" in said("quickstart", "collect.noise=0.2", "--run", str(oracle), "--resume")
    (tmp_path / "other").mkdir()
    with pytest.raises(StoreError, match=r"holds no data set .*--resume"):
        read_manifest(tmp_path / "other")
    with pytest.raises(ConfigError, match="noise"):
        load_recipe("quickstart", ["collect.noise=1"])


def test_the_command_says_what_it_made_and_goes_on_with_more_tasks(oracle: Path) -> None:
    again = ["collect", "quickstart", "collect.tasks=5", f"--run={oracle}", "--resume", "--json"]
    done = CliRunner().invoke(app, again)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["counts"]["tasks"] == 5 and told["path"] == str(oracle)
    with RunStore.open(oracle, readonly=True) as store:
        assert len(store.rows("collect")) == 5, "what was there was done again"
