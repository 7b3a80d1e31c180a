"""Packed rows against one sample a turn, on a few turns of every harness: what the learner's benchmark measures."""

from __future__ import annotations

from types import ModuleType

import pytest
from transformers import PreTrainedModel

from tests.benchmarks.conftest import Script
from tests.policy.conftest import loaded, model_dir
from webdojo.agent.harnesses import HARNESSES
from webdojo.policy.model.processor import Processor
from webdojo.store.images import MemoryImages

__all__ = ["loaded", "model_dir"]

CASES = {
    # members, turns, repeated, images that the prompts of a member show
    "openwebrl": (3, 3, True, 1 + 1 + 1),
    "webgym": (2, 2, False, 1 + 2),
    "webgym without memory": (1, 2, True, 1 + 1),
    "webagent_r1": (2, 2, False, 0),
    "openwebvoyager": (2, 3, True, 1 + 2 + 3),
}


@pytest.fixture(scope="module")
def scripts(script: Script) -> tuple[ModuleType, ModuleType]:
    return script("harness_turns"), script("learner_exactness")


@pytest.mark.parametrize("name", CASES)
def test_packed_rows_are_exact_on_the_turns_of_a_harness(
    name: str, loaded: tuple[PreTrainedModel, Processor], scripts: tuple[ModuleType, ModuleType]
) -> None:
    turns, exactness = scripts
    model, processor = loaded
    members, count, repeated, shown = CASES[name]
    images = MemoryImages()
    harness = turns.HARNESSES[name].build(processor)
    sequences = turns.group_turns(harness, images, members, count, repeated=repeated)
    whole, parts = exactness.compare(model, processor, images, sequences)
    assert whole["rows"] == 1 < parts["rows"]
    assert whole["tokens"] < parts["tokens"] <= whole["tokens_apart"]
    assert whole["images"] == members * shown
    distinct = -(-count // 2) if repeated else members * count
    assert whole["distinct_images"] == (distinct if shown else 0)
    for case in (whole, parts):
        assert case["abs_loss_diff"] <= 1e-5
        assert case["max_rel_grad_diff"] <= 1e-4


def test_every_harness_of_a_recipe_has_its_turns(scripts: tuple[ModuleType, ModuleType]) -> None:
    turns, _ = scripts
    assert {config.name for config in turns.HARNESSES.values()} == set(HARNESSES)
    assert set(CASES) == set(turns.HARNESSES)
