"""Memory that runs out in an update is told by the row that needed it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel

from tests.policy.conftest import Images
from tests.trainer.conftest import MakeSamples
from tests.trainer.learner.test_learner import settings, weights_of
from webdojo.errors import TrainError
from webdojo.policy.model.forward import TokenScores, text_model
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.learner import Learner, Means

Loaded = tuple[PreTrainedModel, Processor]


def on_the_cpu() -> None:
    torch.empty(2**60, dtype=torch.uint8)


def on_a_gpu() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")


def something_else() -> None:
    torch.zeros(2) @ torch.zeros(3)


def step(learner: Learner, samples: list[Sample], fail: object) -> None:
    def loss(members: Sequence[Sample], scores: TokenScores) -> tuple[torch.Tensor, dict[str, float]]:
        assert callable(fail)
        fail()
        raise AssertionError("memory did not run out")

    learner.step(samples, share=1.0, temperature=1.0, lr=1e-3, loss=loss, means=Means())


@pytest.mark.parametrize("fail", [on_the_cpu, on_a_gpu])
@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (
            {"micro_batch_tokens": 100_000},
            r"set train\.gradient_checkpointing=true, or lower train\.micro_batch_tokens",
        ),
        ({"micro_batch_tokens": 1, "gradient_checkpointing": True}, r"step; lower rollout\.max_context_tokens"),
    ],
)
def test_the_row_is_named_with_what_to_lower(
    loaded: Loaded, images: Images, make_samples: MakeSamples, fail: object, options: dict[str, object], advice: str
) -> None:
    learner = Learner(*loaded, images, settings(**options))
    before = weights_of(learner.model)
    samples = make_samples(4)
    with pytest.raises(TrainError, match=advice) as caught:
        step(learner, samples, fail)
    longest = max(map(len, samples))
    if options["micro_batch_tokens"] == 1:
        assert f"(1 turns, the longest of {longest} tokens, 1 screenshots)" in str(caught.value)
    else:
        assert f"(4 turns, the longest of {longest} tokens, 2 screenshots)" in str(caught.value)
    assert all(torch.equal(now, before[name]) for name, now in weights_of(learner.model).items())


def test_other_errors_stay_what_they_are(loaded: Loaded, images: Images, make_samples: MakeSamples) -> None:
    with pytest.raises(RuntimeError, match="size"):
        step(Learner(*loaded, images, settings()), make_samples(2), something_else)


def test_moments_that_do_not_fit_are_named(
    loaded: Loaded, images: Images, make_samples: MakeSamples, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Learner(*loaded, images, settings(batch_size=8))
    learner._optimizer.register_step_pre_hook(lambda *_: on_the_cpu())
    with pytest.raises(TrainError, match=r"optimizer's step over [\d,]+ values.*train\.optimizer=adamw_8bit"):
        learner.train_policy(make_samples(4), 1.0)


@pytest.mark.parametrize(
    ("where", "advice"), [("_apply", r"set train\.kl_coef=0"), ("forward", r"out of memory in a micro-batch of")]
)
def test_a_reference_that_does_not_fit_is_named(
    model_dir: Path,
    images: Images,
    make_samples: MakeSamples,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    advice: str,
) -> None:
    model, processor = load_model(model_dir)
    reference = load_model(model_dir)[0]
    learner = Learner(model, processor, images, settings(kl_coef=0.1), reference=reference)
    moved = reference if where == "_apply" else text_model(reference)  # `to` moves by `_apply`
    monkeypatch.setattr(moved, where, lambda *_, **__: on_the_cpu())
    with pytest.raises(TrainError, match=advice):
        learner.train_policy(make_samples(4), 1.0)
