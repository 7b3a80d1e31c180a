"""The learner's benchmarks: all ways learn the same, work is counted rightly, and without a GPU there is a plan."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import pytest
from torch.utils.flop_counter import FlopCounterMode

from tests.benchmarks.conftest import Script


@pytest.fixture(scope="module")
def learner(script: Script) -> ModuleType:
    return script("learner")


@pytest.fixture(scope="module")
def gpu(script: Script) -> ModuleType:
    return script("learner_gpu")


def test_every_way_learns_the_same_from_what_it_counts(learner: ModuleType) -> None:
    (case,) = (replace(case, scale=32) for case in learner.CASES if case.name == "tiny 5")
    found = {way: learner.measure(case, way, 2000, 1, 60.0) for way in ("radix", *learner.APART)}
    assert len({round(one["loss"], 5) for one in found.values()}) == 1
    assert found["radix"]["tokens"] < found["packed"]["tokens"] < found["padded"]["tokens"]
    assert found["radix"]["flops"]["attention"] < found["packed"]["flops"]["attention"]
    assert all(one["flops"]["vision"] == 0 for one in found.values()), "its features are at hand"


def test_the_operations_are_those_that_torch_counts(script: Script) -> None:
    ways, counts = (script(name) for name in ("learner_ways", "learner_flops"))
    model, processor = ways.load_model("tiny")
    pictures = ways.Pictures()
    sequences = ways.group_of_turns(processor, pictures, 1, 2, scale=32)
    with FlopCounterMode(display=False) as counter:
        ways.update(model, "varlen", sequences, 1000, processor, pictures)
    expected = {"linear": 0.0, "head": 0.0, "vision": 0.0}
    for batch, _ in ways.varlen(sequences, 1000, processor, pictures):
        found = counts.flops(model, counts.work_of(batch))
        expected = {part: expected[part] + found[part] for part in expected}
    products = sum(n for op, n in counter.get_flop_counts()["Global"].items() if "attention" not in str(op))
    assert products == pytest.approx(sum(expected.values()), rel=0.1)


def test_without_a_gpu_there_is_a_plan(
    gpu: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["learner_gpu.py", "--plan", "--turns", "15"])
    gpu.main()
    printed = capsys.readouterr().out
    assert all(f"15 turns, {way}: " in printed for way in gpu.GPU_WAYS)
    _, processor = gpu.load_model("tiny")
    rows = {row["way"]: row for row in gpu.plan([15], 65536, processor)}
    assert rows["packed, flex"]["tokens"] * 5 / rows["radix, flex"]["tokens"] == pytest.approx(3.3, abs=0.15)
    assert 4.3e9 < gpu.parameters(gpu.model_4b("meta")) < 4.6e9
    assert all(15 < row["expected_gb"] < 80 for row in rows.values())
