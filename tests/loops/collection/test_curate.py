"""`webdojo curate`: what stays of a data set, what its report says, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.loops.collection.comparing import content
from webdojo.cli import app
from webdojo.errors import ConfigError, StoreError
from webdojo.loops.collection.curate import Report, curate, curation_recipe
from webdojo.loops.collection.dataset import MANIFEST, open_dataset, read_manifest
from webdojo.store.run import RunStore

STEPS = "curate.drop_steps=[format_error,no_op,repeated_screen]"


def curated(out: Path, *datasets: Path, keys: tuple[str, ...] = ()) -> Report:
    return curate(datasets, curation_recipe(datasets, keys), out)


def test_the_shortest_success_of_each_task_stays_without_its_detours(erring: Path, tmp_path: Path) -> None:
    out = tmp_path / "sft"
    done = CliRunner().invoke(app, ["curate", str(erring), STEPS, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    before, after = {each["id"]: each for each in content(erring)}, content(out)

    by_task: dict[str, list[dict[str, Any]]] = {}
    for each in before.values():
        if each["reward"]["success"]:
            by_task.setdefault(each["task"]["id"], []).append(each)
    assert [each["task"]["id"] for each in after] == list(by_task)
    for each in after:
        assert len(before[each["id"]]["turns"]) == min(len(other["turns"]) for other in by_task[each["task"]["id"]])
        shown = [turn["observation"]["screenshot"]["sha"] for turn in each["turns"]]
        assert len(set(shown)) == len(shown), "a screen is imitated twice"
        whole = before[each["id"]]["turns"]
        assert [turn for turn in whole if turn in each["turns"]] == each["turns"], "a step was changed"
    assert sum(reason["count"] for reason in told["dropped"].values()) == len(before) - len(after) > 0
    gone = sum(len(before[each["id"]]["turns"]) - len(each["turns"]) for each in after)
    assert sum(reason["count"] for reason in told["dropped_steps"].values()) == gone > 0, "no detour was dropped"
    assert told["why"].keys() == before.keys() - {each["id"] for each in after}
    assert told["after"]["successes"] == len(after) and told["before"]["trajectories"] == len(before)

    manifest = read_manifest(out)
    assert manifest.curation is not None and manifest.curation["rules"]["drop_steps"][2] == "repeated_screen"
    assert manifest.lineage == read_manifest(erring).lineage
    assert json.loads((out / "curation.json").read_text()) == {k: v for k, v in told.items() if k != "path"}
    page = (out / "curation.html").read_text()
    for reason in (*told["dropped"], *told["dropped_steps"]):
        assert f"{reason}:" in page
    assert page.count("data:image/jpeg;base64,") > 3 * len(told["dropped"]), "reasons without pictures"
    assert not re.search(r'(?:src|href)="http', page)


def test_data_sets_become_one_and_the_same_call_gives_the_same(erring: Path, tmp_path: Path) -> None:
    keys = ("curate.keep=all", "curate.outcomes=all")
    report = curated(tmp_path / "both", erring, erring, keys=keys)
    alone = content(erring)
    assert report.after.trajectories == 2 * len(alone)
    ids = read_manifest(tmp_path / "both").trajectories
    assert len(set(ids)) == len(ids) and ids[len(alone) :] == [f"{each['id']}.2" for each in alone]
    assert content(tmp_path / "both")[: len(alone)] == alone
    few = ("curate.max_tasks=3", "seed=5")
    first = curated(tmp_path / "first", erring, keys=few)
    second = curated(tmp_path / "second", erring, keys=few)
    assert first.why == second.why and first.after.tasks == 3
    assert content(tmp_path / "first") == content(tmp_path / "second")


def test_what_it_refuses_leaves_nothing_behind(erring: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"section `curate` and `seed` alone, so 'train\.lr=1'"):
        curated(tmp_path / "x", erring, keys=("train.lr=1",))
    with pytest.raises(StoreError, match="is there already"):
        curated(erring, erring)
    with pytest.raises(StoreError, match="holds no run"):
        curated(tmp_path / "x", tmp_path)
    with pytest.raises(ConfigError, match=r"curate\.mix names difficulty 9"):
        curated(tmp_path / "x", erring, keys=("curate.mix={9: 1}",))
    with pytest.raises(ConfigError, match=r"leaves nothing: .*out of the mix of difficulties"):
        curated(tmp_path / "x", erring, keys=("curate.mix={1: 0}",))
    other = tmp_path / "other"
    curated(other, erring)
    manifest = read_manifest(other)
    manifest.lineage[0]["harness"]["name"] = "webgym"
    (other / MANIFEST).write_text(manifest.model_dump_json())
    with pytest.raises(ConfigError, match=r"of two kinds: the harness of one is .*'webgym'.*: curate them apart"):
        curated(tmp_path / "x", erring, other)
    with RunStore.open(other) as store:
        shown = store.trajectory(manifest.trajectories[0]).turns[0].observation.screenshot
        store.images.path(shown).unlink()
    with pytest.raises(StoreError, match="has lost screenshots of"):
        curated(tmp_path / "x", other)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other"]


def test_a_data_set_is_also_a_run(erring: Path) -> None:
    with open_dataset(erring) as dataset:
        one = dataset.manifest.trajectories[0]
    shown = CliRunner().invoke(app, ["runs", "episodes", str(erring), "--json"])
    assert one in {each["id"] for each in json.loads(shown.stdout)["episodes"]}
    listed = json.loads(CliRunner().invoke(app, ["runs", "list", str(erring), "--json"]).stdout)
    assert (listed[0]["state"], listed[0]["iterations"]) == ("finished", 0)
