"""The learner's benchmarks: all ways learn the same, work is counted rightly."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from torch.utils.flop_counter import FlopCounterMode

SCRIPTS = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def learner() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module("learner")


def test_every_way_learns_the_same_from_what_it_counts(learner: ModuleType) -> None:
    (case,) = (replace(case, scale=32) for case in learner.CASES if case.name == "tiny 5")
    found = {way: learner.measure(case, way, 2000, 1, 60.0) for way in ("radix", *learner.APART)}
    assert len({round(one["loss"], 5) for one in found.values()}) == 1
    assert found["radix"]["tokens"] < found["packed"]["tokens"] < found["padded"]["tokens"]
    assert found["radix"]["flops"]["attention"] < found["packed"]["flops"]["attention"]
    assert all(one["flops"]["vision"] == 0 for one in found.values()), "its features are at hand"


def test_the_operations_are_those_that_torch_counts(learner: ModuleType) -> None:
    ways, counts = (importlib.import_module(name) for name in ("learner_ways", "learner_flops"))
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
