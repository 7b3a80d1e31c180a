from __future__ import annotations

import dataclasses

import pytest
from transformers import PreTrainedModel

from tests.policy.conftest import Images
from tests.train.conftest import MakeSamples
from webdojo.config import SFTConfig, TrainConfig
from webdojo.errors import TrainError
from webdojo.policy.processor import Processor
from webdojo.train.learner import Learner
from webdojo.train.sft import train_sft

Loaded = tuple[PreTrainedModel, Processor]


def test_sft_learns_eight_samples_by_heart(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    learner = Learner(*loaded, images, TrainConfig())
    samples = make_samples(8)
    losses: list[float] = []
    rates: list[float] = []

    def progress(done: int, total: int, metrics: dict[str, float]) -> None:
        assert (done, total) == (len(losses) + 1, 60)
        losses.append(metrics["loss"])
        rates.append(metrics["lr"])

    metrics = train_sft(learner, samples, SFTConfig(epochs=30, lr=3e-3, batch_size=4, warmup_ratio=0.1), progress)
    assert losses[0] > 3
    assert metrics["loss"] < 0.5
    assert metrics["optimizer_steps"] == 60
    assert max(rates) == 3e-3
    assert rates[0] < rates[5] > rates[-1]


def test_the_loss_is_nats_per_response_token(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    samples = make_samples(3)
    tokens = sum(len(s.response_ids) for s in samples)
    samples = [dataclasses.replace(s, weights=[1 / tokens] * len(s.weights)) for s in samples]
    learner = Learner(*loaded, images, TrainConfig())
    expected = -sum(float(lp.sum()) for lp in learner.logprobs(samples, 1.0)) / tokens
    metrics = train_sft(learner, samples, SFTConfig(epochs=1, batch_size=8))
    assert metrics["loss"] == pytest.approx(expected, rel=1e-4)


def test_sft_without_demonstrations_is_an_error(loaded: Loaded, images: Images) -> None:
    with pytest.raises(TrainError, match="no samples"):
        train_sft(Learner(*loaded, images, TrainConfig()), [], SFTConfig())
