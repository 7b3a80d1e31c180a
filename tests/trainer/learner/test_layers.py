"""Recomputed and compiled layers give the gradients of plain ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

from tests.policy.conftest import Images
from tests.trainer.conftest import MakeSamples
from tests.trainer.learner.test_learner import gradients, settings
from webdojo.policy.model.loading import load_model
from webdojo.trainer.learner.learner import Learner


@pytest.fixture
def fresh_compiler() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


class Kept(torch.autograd.graph.saved_tensors_hooks):
    """Counts the values that forward passes keep for their backward passes."""

    def __init__(self) -> None:
        self.values = 0
        super().__init__(self._keep, lambda tensor: tensor)

    def _keep(self, tensor: torch.Tensor) -> torch.Tensor:
        self.values += tensor.numel()
        return tensor


def assert_equal_gradients(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    assert found.keys() == expected.keys()
    scale = max(float(g.norm()) for g in expected.values())
    assert scale > 1e-4
    for name, gradient in expected.items():
        assert float((found[name] - gradient).norm()) < 1e-5 * scale, name


@pytest.mark.parametrize("frozen", ["nothing", "tower", "first layer"])
def test_recomputed_layers_give_the_same_gradients(
    model_dir: Path, images: Images, make_samples: MakeSamples, frozen: str
) -> None:
    samples = make_samples(6, advantages=(1.0, -0.5))
    found = []
    for recompute in (False, True):
        model, processor = load_model(model_dir)
        if frozen != "nothing":
            model.model.visual.requires_grad_(False)
        if frozen == "first layer":
            model.requires_grad_(False)
            model.model.language_model.layers[1].requires_grad_(True)
        options = settings(gradient_checkpointing=recompute, micro_batch_tokens=150, grad_clip=1e9)
        learner = Learner(model, processor, images, options)
        kept = Kept()
        with kept:
            found.append((gradients(learner, samples), torch.cat(learner.logprobs(samples, 0.8)), kept.values))
    assert_equal_gradients(found[1][0], found[0][0])
    torch.testing.assert_close(found[1][1], found[0][1], rtol=0, atol=0)
    assert found[1][2] < 0.7 * found[0][2], "nothing is recomputed"


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_compiler")
def test_compiled_layers_give_the_same_gradients_for_rows_of_any_length(
    model_dir: Path, images: Images, make_samples: MakeSamples, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Graphs as for the default backend, which would spend minutes on making machine code of them.
    compiler = CompileCounterWithBackend("aot_eager")
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=compiler))
    samples = make_samples(6, advantages=(1.0, -0.5))
    found = []
    for compiled in (False, True):
        model, processor = load_model(model_dir)
        model.model.visual.requires_grad_(False)
        learner = Learner(model, processor, images, settings(compile=compiled, micro_batch_tokens=100, grad_clip=1e9))
        assert len({piece.micro_batch.tokens for piece in learner._scoring.pieces(samples)}) > 1
        found.append(gradients(learner, samples))
    assert_equal_gradients(found[1], found[0])
    assert compiler.frame_count > 0, "nothing is compiled"
