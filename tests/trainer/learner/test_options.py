"""The learner's options together, on a model that is sharded (over a mesh of one): as on one that is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import torch

from tests.policy.conftest import Images
from tests.trainer.conftest import MakeSamples
from tests.trainer.learner.test_optimizer import needs_torchao
from webdojo.loops.models import _learner
from webdojo.recipe import load_recipe
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.driver import lead
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.learner.ranks import Ranks

OPTIONS = {
    "adapters": ["model.lora.r=4", "model.lora.lora_dropout=0.1", "train.kl_coef=0.1"],
    "moments in 8 bits": ["train.optimizer=adamw_8bit"],
}


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    torch.compiler.set_stance("force_eager")
    yield
    torch.compiler.set_stance("default")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_torchao) if "8 bits" in name else name for name in OPTIONS]
)
def test_a_sharded_learner_does_the_same(
    model_dir: Path, images: Images, make_samples: MakeSamples, tmp_path: Path, name: str
) -> None:
    recipe = load_recipe(
        "quickstart",
        [
            *(f"model.path={model_dir}", "model.freeze_vision=false", "model.freeze_trainable_layers=0"),
            *("train.gradient_checkpointing=true", "train.optimizer_offload=true"),
            *("train.batch_size=4", "train.micro_batch_tokens=150", *OPTIONS[name]),
        ],
    )
    build = partial(_learner, recipe, images, str(model_dir))
    samples = make_samples(6, advantages=(1.0, -1.0))

    def learn(learner: Learner, folder: Path) -> tuple[list[dict[str, float]], list[torch.Tensor]]:
        figures = [learner.train_policy(samples, 0.8)]
        learner.save(folder)
        figures.append(learner.train_policy(samples, 0.8))
        return figures, learner.logprobs(samples, 0.8)

    plain = learn(build(Ranks()), tmp_path / "plain")
    with closing(lead(build, 1, "cpu")) as learner:
        sharded = learn(learner, tmp_path / "sharded")
    for one, other in zip(plain[0], sharded[0], strict=True):
        assert one.keys() == other.keys()
        for key in one.keys() - {"seconds"}:
            assert other[key] == pytest.approx(one[key], rel=1e-3, abs=1e-4), key
    assert_equal(plain[1], sharded[1])
    assert_equal(goes_on(build(Ranks()), tmp_path / "sharded", samples), sharded[1])
    with closing(lead(build, 1, "cpu")) as learner:
        assert_equal(goes_on(learner, tmp_path / "plain", samples), sharded[1])


def goes_on(learner: Learner, folder: Path, samples: list[Sample]) -> list[torch.Tensor]:
    learner.load(folder)
    learner.train_policy(samples, 0.8)
    return learner.logprobs(samples, 0.8)


def assert_equal(found: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)
