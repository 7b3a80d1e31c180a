"""The benchmark of samplers: who is reported where, what is not run twice, and what a replay says of stored groups."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.benchmarks.conftest import Script
from tests.rollout.records import task, trajectory
from webdojo.loops.run_folder import RL
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.tasks.samplers.success_window import SuccessWindow
from webdojo.tasks.samplers.uniform import Uniform


@pytest.fixture
def samplers(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    samplers = script("samplers")
    monkeypatch.setattr(script("record"), "RESULTS", tmp_path)
    return samplers


RATES = {0: {"uniform": 0.5, "mixed_outcomes": 0.6}, 1: {"uniform": 0.7, "mixed_outcomes": 0.9}}


def test_the_best_of_some_seeds_is_reported_on_others_and_no_arm_runs_twice(
    samplers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[int, str]] = []
    killed = [True]

    def arm(runs: Path, seed: int, name: str, episodes: int, overrides: list[str]) -> dict[str, Any]:
        if killed and (seed, name) == (1, "uniform"):
            raise KeyboardInterrupt(killed.pop())
        ran.append((seed, name))
        success = {"n": 200, "rate": RATES.get(seed, {}).get(name)}
        return {"seed": seed, "sampler": name, "success": success, "wasted": 0.5 if name == "uniform" else 0.25}

    def all_replayed(folder: Path) -> dict[str, dict[str, float]]:
        wasted = {"5": 0.3, "6": 0.1}[folder.name.split("-")[0]]  # of the one whose mean is the least
        others = {name: {"wasted": 0.25} for name in samplers.SAMPLERS}
        return others | {"uniform": {"wasted": 0.0}, "mixed_outcomes": {"wasted": wasted}}

    monkeypatch.setattr(samplers, "arm", arm)
    monkeypatch.setattr(samplers, "read", lambda folder: (folder,))
    monkeypatch.setattr(samplers, "all_replayed", all_replayed)
    monkeypatch.setattr(sys, "argv", ["samplers.py", "--choose", "5", "6", "--seeds", "0", "1"])
    with pytest.raises(KeyboardInterrupt):
        samplers.main()
    samplers.main()
    assert len(ran) == len(set(ran)) == 2 + 4

    record = json.loads((tmp_path / "samplers.json").read_text())
    assert record["headline"] == {
        "success_uniform": 0.6,
        "success_best": 0.75,
        "wasted_groups_uniform": 0.5,
        "wasted_groups_best": 0.25,
    }
    assert {row["best"] for row in record["rows"] if "best" in row} == {"mixed_outcomes"}
    assert {row["chosen_on"] for row in record["rows"] if "chosen_on" in row} == {5, 6}
    assert not list(tmp_path.glob("*.part.jsonl"))


def test_seeds_on_which_the_best_is_chosen_are_not_reported(
    samplers: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["samplers.py", "--choose", "1", "2", "--seeds", "2"])
    with pytest.raises(SystemExit):
        samplers.main()
    assert "share [2]" in capsys.readouterr().err


def test_a_replay_says_which_groups_a_sampler_would_have_passed_over(samplers: ModuleType, tmp_path: Path) -> None:
    tasks = [task(f"t{n}").model_copy(update={"difficulty": 1 + n % 2}) for n in range(20)]
    recipe = load_recipe("quickstart", ["rollout.group_size=2"])
    with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store:
        for number, each in enumerate(tasks):  # the easy ones are always solved
            for member in range(2):
                reward = 1.0 if each.difficulty == 1 else float(member)
                group = f"{each.id}-{number}"
                found = trajectory(each, reward, 0, f"{group}-{member}", group)
                store.add_trajectory(found, RL, 1 + number // 10)
        groups = samplers.ended_groups(store, recipe, tasks)
    assert [(group.task.id, group.iteration, group.third) for group in groups[9:11]] == [("t9", 1, 2), ("t10", 2, 3)]
    plain = samplers.replayed(groups, tasks, Uniform(), recipe)
    assert plain == {"wasted": 0.5, "drawn": 1, "skipped_wasted": 0, "skipped_useful": 0}
    window = samplers.replayed(groups, tasks, SuccessWindow(floor=0.2), recipe)
    # The first iteration knows of nothing; in the second a fifth of the five easy ones is drawn.
    assert window["wasted"] == pytest.approx((5 + 1) / (10 + 6))
    assert window["skipped_useful"] == 0
    assert window["skipped_wasted"] == pytest.approx(0.4)
    made_of = samplers.made_of(groups, lambda group: str(group.task.difficulty))
    assert made_of["1"] == {"groups": 10, "all_solved": 1, "all_failed": 0, "reward": 1}
    assert made_of["2"] == {"groups": 10, "all_solved": 0, "all_failed": 0, "reward": 0.5}
