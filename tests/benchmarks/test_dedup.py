"""The benchmark of near-duplicates: made vectors, ways in processes of their own, and figures that follow from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.conftest import Script
from webdojo.tasks.dedup import near_duplicates

WRITTEN = Path(__file__).parent.parent.parent / "benchmarks" / "dedup_pairs.json"


@pytest.fixture(scope="module")
def dedup(script: Script) -> ModuleType:
    return script("dedup")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, script: Script, dedup: ModuleType) -> dict[str, Any]:
    """The record of a small run without peers, which need an environment of their own."""
    folder = tmp_path_factory.mktemp("results")
    arguments = ["--rows", "3000", "--dim", "128", "--peer-rows", "2000", "--peers"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script("record"), "RESULTS", folder)
        patch.setattr(sys, "argv", ["dedup.py", *arguments])
        dedup.main()
    return dict(json.loads((folder / "dedup.json").read_text()))


def test_the_vectors_hold_the_planted_duplicates(dedup: ModuleType) -> None:
    vectors = dedup.make_vectors(2000, 256, 0)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    found = near_duplicates(vectors, (1, 0.99, 0.95, 0.8))
    shares = {threshold: len(duplicates) / 2000 for threshold, duplicates in found.items()}
    assert shares[1] == pytest.approx(0.08, abs=0.03)
    assert shares[0.99] == pytest.approx(0.16, abs=0.04)
    assert shares[0.95] == pytest.approx(0.28, abs=0.06)
    assert 0.4 < shares[0.8] < 0.7


def test_the_record_holds_both_ways_of_ours_and_they_agree(printed: dict[str, Any]) -> None:
    full, flat, ours, plain = (row for row in printed["rows"] if row["part"] != "embedded")
    assert [row["rows"] for row in (full, flat, ours, plain)] == [3000, 2000, 2000, 2000]
    assert full["dropped"] > ours["dropped_right"] == plain["dropped_right"] > 300
    assert ours["pairs_missed"] == ours["dropped_wrongly"] == 0
    assert full["peak_rss_gb"] > 0
    headline = printed["headline"]
    assert headline == {
        **{key: full[key] for key in ("rows", "seconds", "peak_rss_gb")},
        "x_peer": None,
        "pairs_missed_peer": None,
    }


def test_the_fastest_peer_that_misses_none_is_the_one_to_beat(dedup: ModuleType) -> None:
    def of(way: str, seconds: float, missed: int) -> dict[str, Any]:
        return {"part": "peers", "way": way, "seconds": seconds, "pairs_missed": missed}

    full = {"part": "full", "way": "webdojo", "rows": 9, "seconds": 7.0, "peak_rss_gb": 1.0}
    beside = [of("webdojo", 2.0, 0), of("webdojo_plain", 3.0, 0), of("faiss", 9.0, 0), of("usearch", 8.0, 5)]
    headline = dedup.headline([full, *beside])
    assert (headline["x_peer"], headline["pairs_missed_peer"]) == (4.5, 5)


def test_pairs_in_either_order_give_the_greedy_pass(script: Script) -> None:
    ways = script("dedup_ways")
    pairs = [(np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 1, 2])), (np.array([3]), np.array([4]))]
    assert ways.greedy(iter(pairs), 5) == [1, 3], "row 2 is near row 1 alone, which is gone"


def test_the_pairs_with_known_answers_are_what_they_say(printed: dict[str, Any], script: Script) -> None:
    pairs = script("dedup_pairs")
    same, other = pairs.embedded()
    assert len(same) == len(other) > 100
    assert all(left != right for left, right in same + other)
    written = json.loads(WRITTEN.read_text())
    assert len(written) == 38
    rows = [row for row in printed["rows"] if row["part"] == "embedded"]
    for name in {row["set"] for row in rows}:
        recalls = [row["recall"] for row in rows if row["set"] == name]
        assert recalls == sorted(recalls), "a lower threshold takes no fewer"


def test_every_instruction_with_known_answers_is_in_the_benchmark(script: Script) -> None:
    pairs = script("dedup_pairs")
    if not pairs.DATA.exists():
        pytest.skip("needs ../shared/data, which this clone lacks")
    texts = {row["task_id"]: row["confirmed_task"] for row in json.loads(pairs.DATA.read_text())}
    for id, each in json.loads(WRITTEN.read_text()).items():
        assert len({texts[id], each["reworded"], each["another"]}) == 3
