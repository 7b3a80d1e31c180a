"""The benchmark of the embedded web: agents act in real Chromium, and its record has the figures that it promises."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.benchmarks.conftest import Script


@pytest.mark.slow
def test_it_measures_agents_and_keeps_a_record(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sites = script("sites")
    monkeypatch.setattr(sites.record, "RESULTS", tmp_path)
    monkeypatch.setattr(sites, "tasks_per_s", partial(sites.tasks_per_s, 100))
    monkeypatch.setattr(sites, "KINDS", ["wiki", "travel"])
    command = "sites.py --tasks 4 --perturbed-tasks 1 --idle-tasks 4 --clicker-tasks 1 --answers 200"
    monkeypatch.setattr(sys, "argv", command.split())
    sites.main()
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed == json.loads((tmp_path / "sites.json").read_text())
    assert [path.name for path in tmp_path.iterdir()] == ["sites.json"]
    headline = printed["headline"]
    assert (headline["oracle"], headline["oracle_perturbed"], headline["false_accepts"]) == (1, 1, 0)
    assert (headline["null_agent"], headline["closed_book"], headline["random_clicker"]) == (0, 0, 0)
    assert headline["kinds"] == 2 and headline["tasks_per_s"] > 1 and headline["page_cpu_ms"] > 0
    by_kind = {row["kind"]: row["n"] for row in printed["rows"] if row["part"] == "oracle" and "kind" in row}
    assert by_kind == {"wiki": 2, "travel": 2}
    tools = next(row["tools"] for row in printed["rows"] if row["part"] == "oracle" and "tools" in row)
    assert tools["done"] == 4 and tools["click"] >= 1
