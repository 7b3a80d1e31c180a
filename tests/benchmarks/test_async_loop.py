"""The benchmark of the online loop: its headline is of all seeds in the record, whenever they were measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.benchmarks.conftest import Script


@pytest.fixture
def loop(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    loop = script("async_loop")
    monkeypatch.setattr(script("record"), "RESULTS", tmp_path)
    return loop


def of_arm(seed: int, rate: float, an_hour: float) -> dict[str, Any]:
    return {
        "turns_an_hour": an_hour,
        "turns_trained_an_hour": an_hour,
        "trajectories_an_hour": an_hour / 4,
        "success_rl": {"n": 200, "rate": rate},
        "clip_fraction": 0.05 * (seed + 1),
        "lost": 0.0,
        "used_twice": seed,
    }


def test_seeds_of_an_earlier_day_stay_in_the_record(
    loop: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def real(folder: Path, start: Path, seed: int, overrides: list[str], counted: slice) -> dict[str, Any]:
        ran.append(folder.name)
        rate = {"sync": 0.7, "async": 0.8, "async-coupled": 0.6}[folder.name.partition("-")[2]]
        return of_arm(seed, rate, 1000.0)

    monkeypatch.setattr(loop, "real", real)
    monkeypatch.setattr(loop, "warm_start", lambda folder, seed, overrides: folder)
    for seed in ("0", "1"):
        monkeypatch.setattr(sys, "argv", ["async_loop.py", "--real", "--seeds", seed])
        loop.main()
    assert ran == [f"{seed}-{arm}" for seed in (0, 1) for arm in ("sync", "async", "async-coupled")]

    record = json.loads((tmp_path / "async_loop.json").read_text())
    assert [(row["seed"], row["real"]) for row in record["rows"]] == [
        (seed, arm) for seed in (0, 1) for arm in ("sync", "async", "async, coupled")
    ]
    headline = record["headline"]
    assert headline["seeds"] == 2
    assert (headline["success_sync"], headline["success_async"], headline["success_async_coupled"]) == (0.7, 0.8, 0.6)
    assert headline["success_sync_low"] < 0.7 < headline["success_sync_high"] < 0.76, "of 400 tasks"
    assert headline["clip_fraction_async"] == pytest.approx(0.075)
    assert (headline["lost"], headline["used_twice"]) == (0, 3)


def test_the_speed_is_measured_in_an_order_that_favours_neither(
    loop: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def real(folder: Path, start: Path, seed: int, overrides: list[str], counted: slice) -> dict[str, Any]:
        ran.append(folder.name)
        slower = 1000.0 - 100 * (len(ran) - 1)  # the machine, from arm to arm
        return of_arm(seed, 0.7, slower * (1.1 if folder.name.endswith("async") else 1))

    monkeypatch.setattr(loop, "real", real)
    monkeypatch.setattr(loop, "warm_start", lambda folder, seed, overrides: folder)
    monkeypatch.setattr(sys, "argv", ["async_loop.py", "--speed", "--seeds", "0", "1"])
    loop.main()
    assert ran == [
        *("0-speed-0-sync", "0-speed-1-async", "0-speed-2-async", "0-speed-3-sync"),
        *("1-speed-0-async", "1-speed-1-sync", "1-speed-2-sync", "1-speed-3-async"),
    ]
    headline = json.loads((tmp_path / "async_loop.json").read_text())["headline"]
    assert headline.keys() == {
        f"x_sync_real{key}{end}" for key in ("", "_trajectories", "_trained") for end in ("", "_low", "_high")
    }
    assert headline["x_sync_real"] == headline["x_sync_real_low"] == headline["x_sync_real_high"] == pytest.approx(1.1)


def test_paced_loops_have_a_headline_of_their_own(
    loop: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "PHASED", 64)
    monkeypatch.setattr(loop, "GROUPS", 16)
    monkeypatch.setattr(loop, "FIXED", (64, 256))
    monkeypatch.setattr(sys, "argv", ["async_loop.py", "--paced", "--seeds", "0", "--iterations", "7"])
    loop.main()
    record = json.loads((tmp_path / "async_loop.json").read_text())
    assert len(record["rows"]) == 2 * 3 + 3
    assert record["headline"].keys() == {
        *("x_sync_paced", "x_phased_paced", "bubble_fraction"),
        *("x_sync_paced_thinking", "x_phased_paced_thinking", "bubble_fraction_thinking"),
        *("adaptive_to_best_fixed", "adaptive_to_most_fixed"),
    }
    assert record["headline"]["x_sync_paced"] > 1
