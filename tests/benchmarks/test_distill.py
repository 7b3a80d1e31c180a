"""The benchmark of the distilled judge: the gap is what the rules do not confirm, and nothing that is done is done
again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.benchmarks.conftest import Script
from tests.loops.judging.known import RECIPE, fill, known
from webdojo.store.run import RunStore

ARMS = {"truth": (0.0, 0.5), "weak": (0.75, 0.25), "distilled": (0.25, 0.5)}
"""By arm the gap and the true success of every iteration."""


@pytest.fixture
def bench(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(script("record"), "RESULTS", tmp_path)
    return script("distill")


def test_the_gap_of_an_iteration_is_what_its_reward_reports_less_what_is_true(
    bench: ModuleType, tmp_path: Path
) -> None:
    with RunStore.create(tmp_path / "run", RECIPE, {}) as store:
        fill(store)
        deceived = known("deceived", store.images, False)
        assert deceived.reward is not None
        deceived.reward.success = True
        unsure = known("unsure", store.images, True, valid=False)
        for each in (deceived, unsure):
            store.add_trajectory(each, "rl", 1)
    rows = {(row["phase"], row["iteration"]): row for row in bench.curve(tmp_path / "run", "weak")}
    assert list(rows) == [("rl", 1), ("rl", 2), ("rl", 3), ("eval_rl", 3)]
    first = rows["rl", 1]
    assert (first["n"], first["invalid"], first["reported"], first["true"]) == (5, 1, 0.4, 0.2)
    assert first["gap"]["value"] == pytest.approx(0.2)
    assert [rows["rl", step]["gap"]["value"] for step in (2, 3)] == [0, 0]
    assert rows["eval_rl", 3]["n"] == 1, "what the web failed and what has no truth is in no figure"


def point(arm: str, phase: str, iteration: int) -> dict[str, Any]:
    gap, true = ARMS[arm]
    n = 20
    tp, fp = round(true * n), round(gap * n)
    counts = {"tp": tp, "fp": fp, "fn": 0, "tn": n - tp - fp, "invalid": 0}
    shares = {"n": n, "counts": counts, "true": true, "gap": {"value": gap}}
    return {"part": "curve", "arm": arm, "phase": phase, "iteration": iteration, **shares}


def test_a_benchmark_that_was_stopped_goes_on_and_its_headline_is_of_the_last_iterations(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    killed = [True]

    def train(folder: Path, seed: int, overrides: list[str]) -> None:
        if killed and folder.name == "weak":
            raise KeyboardInterrupt(killed.pop())
        made.append(f"{seed} {folder.name}")
        assert ("train.iterations=3" in overrides) is (folder.name != "start")
        given = [key for key in overrides if key.startswith("reward")]
        wanted = {"weak": [f"reward={bench.WEAK}"], "distilled": ["reward=distilled", f"reward.path={judge(seed)}"]}
        assert given == wanted.get(folder.name, [])

    def judge(seed: int) -> Path:
        return tmp_path / "runs" / f"seed-{seed}" / "judge"

    def distil(runs: Path, out: Path, seed: int, student: list[str]) -> dict[str, Any]:
        made.append(f"{seed} judge")
        assert (out, student) == (judge(seed), ["sft.epochs=1"])
        return {"examples": {"trajectories": 10}, "left_out": {}}

    def judges(out: Path, report: Any) -> list[dict[str, Any]]:
        counts = {"tp": 3, "fp": 1, "fn": 0, "tn": 4}
        figures = {"f1": {"value": 0.9}, "accuracy": {"value": 0.875}, "counts": counts}
        return [{"part": "judge", "judge": name, **figures} for name in ("distilled", "weak")]

    def curve(folder: Path, arm: str) -> list[dict[str, Any]]:
        early = {**point(arm, "rl", 1), "counts": {"tp": 20, "fp": 0, "fn": 0, "tn": 0, "invalid": 0}}
        return [early, point(arm, "rl", 2), point(arm, "rl", 3), point(arm, "eval_rl", 3)]

    for double in (train, distil, judges, curve):
        monkeypatch.setattr(bench, double.__name__, double)
    arguments = [
        "--seeds",
        "0",
        "1",
        "--iterations",
        "3",
        "--student",
        "sft.epochs=1",
        "--runs",
        str(tmp_path / "runs"),
    ]
    monkeypatch.setattr(sys, "argv", ["distill.py", *arguments])
    with pytest.raises(KeyboardInterrupt):
        bench.main()
    bench.main()
    assert made == [f"{seed} {name}" for seed in (0, 1) for name in ("start", "truth", "judge", "weak", "distilled")]
    record = json.loads((tmp_path / "distill.json").read_text())
    for arm, (gap, true) in ARMS.items():
        assert (record["headline"][f"gap_{arm}"], record["headline"][f"true_{arm}"]) == (gap, true)
    assert (record["headline"]["f1_distilled"], record["headline"]["n"]) == (0.9, 16)
    assert not list(tmp_path.glob("*.part.jsonl"))
