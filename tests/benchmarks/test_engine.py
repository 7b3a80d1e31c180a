"""The engine's benchmark: both ways sample the same, and its record has the figures that it promises."""

import json
import sys
from pathlib import Path

import pytest

from tests.benchmarks.conftest import Script


def test_it_compares_the_engine_with_generate_and_keeps_a_record(
    tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = script("engine")
    monkeypatch.setattr(engine.record, "RESULTS", tmp_path)
    command = "engine.py --at-once 1 9 --repeats 2 --turns 2 --tokens 4 --threads 1"
    monkeypatch.setattr(sys, "argv", command.split())
    engine.main()
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed == json.loads((tmp_path / "engine.json").read_text())
    headline = printed["headline"]
    assert headline["equal_ids"] == 1 and headline["max_abs_logprob_diff"] < 1e-4
    assert headline["x_generate_1"] > 0 and headline["x_generate_9"] > 0
    rows = {(row["way"], row["at_once"]): row for row in printed["rows"]}
    assert set(rows) == {(way, n) for way in ("generate", "engine") for n in (1, 9)}
    assert all(row["responses"] == 2 * row["at_once"] and row["tokens_per_response"] == 4 for row in rows.values())
    nine = rows["engine", 9]
    # of eight equal first prompts one is read, and of all second ones what follows the first screenshot
    assert 0.4 < headline["prefill_saved"] == nine["prefill_saved"] < 0.9
    assert nine["prefill_saved"] == pytest.approx(1 - nine["prefilled_tokens"] / nine["prompt_tokens"], abs=1e-4)
