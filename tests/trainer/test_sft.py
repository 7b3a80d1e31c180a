from __future__ import annotations

import dataclasses

import pytest
import torch
from transformers import PreTrainedModel

from tests.policy.conftest import Images, chat
from tests.trainer.conftest import MakeSamples
from tests.trainer.records import TASK, response, trajectory, turn
from webdojo.errors import TrainError
from webdojo.policy.model.collate import collate
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import sft_samples
from webdojo.trainer.config import SFTConfig, TrainConfig
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.sft import hold_out, train_sft
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


@pytest.mark.parametrize("best", [True, False])
def test_held_out_loss_is_measured_after_every_epoch_and_the_best_epoch_can_stay(
    loaded: Loaded, images: Images, make_samples: MakeSamples, best: bool
) -> None:
    learner = Learner(*loaded, images, TrainConfig())
    samples = make_samples(6)
    # The same answers backwards: what is learned by heart makes them ever less likely.
    others = [dataclasses.replace(s, response_ids=s.response_ids[::-1]) for s in samples]
    tokens = sum(len(s.response_ids) for s in others)
    others = [dataclasses.replace(s, token_weights=[1 / tokens] * len(s.response_ids)) for s in others]
    found: dict[int, float] = {}

    def progress(done: int, total: int, metrics: dict[str, float]) -> None:
        if "val_loss" in metrics:
            found[done] = metrics["val_loss"]
            assert metrics["val_loss"] == pytest.approx(measured(), rel=1e-5)

    def measured() -> float:
        return -sum(float(lp.sum()) for lp in learner.logprobs(others, 1.0)) / tokens

    config = SFTConfig(epochs=12, lr=1e-2, batch_size=3, val_size=0.5, load_best_model_at_end=best)
    metrics = train_sft(learner, samples, config, progress, others)
    assert list(found) == list(range(2, 25, 2))
    losses = list(found.values())
    assert min(losses) < losses[-1], "nothing was learned by heart: the case shows nothing"
    assert metrics["val_loss"] == (min(losses) if best else losses[-1])
    assert metrics["epoch"] == (losses.index(min(losses)) + 1 if best else 12)
    assert measured() == pytest.approx(metrics["val_loss"], rel=1e-5)


def test_tasks_are_held_out_whole_and_by_seed() -> None:
    demos = [
        trajectory([], 1.0, id=f"{task}-{n}").model_copy(update={"task": TASK.model_copy(update={"id": f"t{task}"})})
        for task in range(10)
        for n in range(2)
    ]

    def split(share: float, seed: int = 0) -> tuple[set[str], set[str]]:
        learned, held = hold_out(demos, share, seed)
        assert sorted([*learned, *held], key=demos.index) == demos
        assert learned == sorted(learned, key=demos.index)
        return {demo.task.id for demo in learned}, {demo.task.id for demo in held}

    learned, held = split(0.3)
    assert not learned & held
    assert len(held) == 3
    assert split(0.3) == (learned, held) != split(0.3, seed=1)
    assert [len(split(share)[1]) for share in (0.0, 0.001, 0.999)] == [0, 1, 9]


def test_one_task_cannot_be_held_out_from_itself() -> None:
    with pytest.raises(TrainError, match=r"demonstrations of 1 task: raise sft\.demos"):
        hold_out([trajectory([], 1.0)], 0.1, 0)


def test_the_best_epoch_needs_something_to_tell_it_by() -> None:
    with pytest.raises(ValueError, match="set val_size"):
        SFTConfig(load_best_model_at_end=True)
