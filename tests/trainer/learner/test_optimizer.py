"""Kinds of AdamW: which values decay, what the state weighs, 8-bit moments that learn and resume, and learning
rates."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.policy.conftest import Images
from tests.trainer.conftest import MakeSamples
from tests.trainer.learner.test_learner import settings, weights_of
from webdojo.errors import ConfigError
from webdojo.policy.model.loading import load_model
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.learner.optimizer import constant, cosine, make_optimizer, state_bytes, step_optimizer

needs_torchao = pytest.mark.skipif(find_spec("torchao") is None, reason="needs webdojo[torchao]")


def config(kind: str) -> TrainConfig:
    return TrainConfig.model_validate({"optimizer": kind, "lr": 1e-2, "weight_decay": 0.1})


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """torchao compiles its step; what it computes is the same without, and minutes of compiling are saved."""
    torch.compiler.set_stance("force_eager")
    yield
    torch.compiler.set_stance("default")


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 33))


def learn(module: nn.Module, optimizer: torch.optim.Optimizer, steps: int, seed: int) -> list[float]:
    """Losses of steps on random targets, which are the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.randn(32, 64, generator=generator), torch.randn(32, 33, generator=generator)
    losses = []
    for _ in range(steps):
        loss = (module(x) - y).square().mean()
        loss.backward()
        step_optimizer(optimizer, 1e-2, config("adamw"))
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    return losses


def test_only_matrices_decay() -> None:
    module = network()
    optimizer = make_optimizer(list(module.named_parameters()), config("adamw"))
    decays = {name: group["weight_decay"] for group in optimizer.param_groups for name in group["param_names"]}
    assert decays == {"0.weight": 0.1, "2.weight": 0.1, "0.bias": 0.0, "2.bias": 0.0}
    (group,) = make_optimizer([("w", module.get_parameter("0.weight"))], config("adamw")).param_groups
    assert group["param_names"] == ["w"]


@pytest.mark.parametrize("kind", ["adamw", pytest.param("adamw_8bit", marks=needs_torchao)])
def test_the_state_weighs_what_is_foretold(kind: str) -> None:
    module = network()
    optimizer = make_optimizer(list(module.named_parameters()), config(kind))
    learn(module, optimizer, 1, 0)

    def weight(value: Any) -> int:
        parts = (value.codes, value.scale, value.qmap) if type(value).__name__ == "OptimState8bit" else (value,)
        return sum(part.nbytes for part in parts)

    for parameter in module.parameters():
        held = sum(weight(value) for value in optimizer.state[parameter].values())
        assert held == state_bytes(kind, parameter.numel())
    large = 64 * 128
    assert state_bytes("adamw_8bit", large) < 0.4 * state_bytes("adamw", large)


@needs_torchao
def test_8_bit_moments_learn_as_fast() -> None:
    module, plain = network(), network()
    exact = learn(plain, make_optimizer(list(plain.named_parameters()), config("adamw")), 60, 0)
    losses = learn(module, make_optimizer(list(module.named_parameters()), config("adamw_8bit")), 60, 0)
    assert losses[-1] == pytest.approx(exact[-1], rel=0.1)
    assert losses[-1] < 0.2 * losses[0]


@needs_torchao
def test_a_learner_with_8_bit_moments_resumes_bit_for_bit(
    model_dir: Path, images: Images, make_samples: MakeSamples, tmp_path: Path
) -> None:
    samples = make_samples(6, advantages=(1.0, -1.0))
    options = settings(optimizer="adamw_8bit", optimizer_offload=True)
    whole = Learner(*load_model(model_dir), images, options, seed=3)
    whole.train_policy(samples, 1.0)
    whole.save(tmp_path / "half")
    whole.train_policy(samples, 1.0)
    resumed = Learner(*load_model(model_dir), images, options, seed=99)
    resumed.load(tmp_path / "half")
    kinds = {type(state["exp_avg"]).__name__ for state in resumed._optimizer.state.values()}
    assert "OptimState8bit" in kinds
    resumed.train_policy(samples, 1.0)
    expected = weights_of(whole.model)
    assert all(torch.equal(now, expected[name]) for name, now in weights_of(resumed.model).items())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="moments move between a GPU and the machine's memory")
def test_offloaded_moments_leave_the_gpu_between_steps() -> None:
    module = network().cuda()
    offloaded = config("adamw").model_copy(update={"optimizer_offload": True})
    optimizer = make_optimizer(list(module.named_parameters()), offloaded)
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    step_optimizer(optimizer, 1e-2, offloaded)
    assert {state["exp_avg"].device.type for state in optimizer.state.values()} == {"cpu"}
    step_optimizer(optimizer, 1e-2, offloaded)


def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchao", None)
    monkeypatch.setitem(sys.modules, "torchao.optim", None)
    with pytest.raises(ConfigError, match=r"pip install 'webdojo\[torchao\]'"):
        make_optimizer(list(network().named_parameters()), config("adamw_8bit"))


def test_constant_warms_up_linearly_then_stays() -> None:
    rates = [constant(step, peak=2.0, warmup_steps=4) for step in range(6)]
    assert rates == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0, 2.0])
    assert constant(0, peak=2.0, warmup_steps=0) == 2.0


def test_cosine_peaks_after_warm_up_and_falls_to_near_zero() -> None:
    rates = [cosine(step, peak=1.0, warmup_steps=10, total_steps=100) for step in range(100)]
    assert rates[:10] == pytest.approx([(s + 1) / 10 for s in range(10)])
    assert rates[10] == 1.0
    assert rates[55] == pytest.approx(0.5)
    assert 0 < rates[99] < 1e-3
    assert all(a >= b for a, b in itertools.pairwise(rates[10:]))
