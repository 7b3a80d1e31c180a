from __future__ import annotations

import dataclasses

import pytest
import torch
from transformers import PreTrainedModel

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat
from tests.trainer.conftest import MakeSamples
from tests.trainer.records import response, trajectory, turn
from webdojo.errors import TrainError
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import sft_samples
from webdojo.trainer.config import SFTConfig, TrainConfig
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.sft import train_sft
from webdojo.types import Prompt, TextSegment

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
    samples = [dataclasses.replace(s, token_weights=[1 / tokens] * len(s.token_weights)) for s in samples]
    learner = Learner(*loaded, images, TrainConfig())
    expected = -sum(float(lp.sum()) for lp in learner.logprobs(samples, 1.0)) / tokens
    metrics = train_sft(learner, samples, SFTConfig(epochs=1, batch_size=8))
    assert metrics["loss"] == pytest.approx(expected, rel=1e-4)


def test_sft_without_demonstrations_is_an_error(loaded: Loaded, images: Images) -> None:
    with pytest.raises(TrainError, match="no samples"):
        train_sft(Learner(*loaded, images, TrainConfig()), [], SFTConfig())


def test_each_turn_of_a_demonstration_is_a_target_and_its_history_is_none(loaded: Loaded, images: Images) -> None:
    model, processor = loaded
    turns, said = [], list[int]()
    for step in range(3):
        asked = chat(processor, "find the red mug", images.random(step)).segments
        context = Prompt(segments=(TextSegment(ids=tuple(said)), *asked) if said else asked)
        answer = [*processor.encode(f"click {step}"), processor.stop_id]
        turns.append(turn(context, response(answer)))
        said += answer
    with torch.no_grad():
        apart = [
            token_logprobs(model, collate([(t.prompt, t.response.ids)], processor, images), 1.0).logprobs for t in turns
        ]
    tokens = sum(len(t.response.ids) for t in turns)
    learner = Learner(model, processor, images, TrainConfig())
    metrics = train_sft(learner, sft_samples([trajectory(turns, 1.0)]), SFTConfig(epochs=1, batch_size=8))
    assert metrics["tokens"] == tokens
    assert metrics["loss"] == pytest.approx(-float(torch.cat(apart).sum()) / tokens, rel=1e-4)
