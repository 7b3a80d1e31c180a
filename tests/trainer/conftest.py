"""A random small Qwen3-VL, its screenshots, and samples on them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from transformers import PreTrainedModel

from tests.policy.conftest import Images, chat, images, loaded, model_dir
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import Sample

__all__ = ["images", "loaded", "make_samples", "model_dir"]

MakeSamples = Callable[..., list[Sample]]


@pytest.fixture
def make_samples(loaded: tuple[PreTrainedModel, Processor], images: Images) -> MakeSamples:
    """Builds `count` samples of different lengths; neighbours share a screenshot."""
    _, processor = loaded
    words = ["red mug", "cart", "search box", "blue lamp and a green chair"]

    def make(count: int, *, seed: int = 0, advantages: tuple[float, ...] = (1.0,)) -> list[Sample]:
        rng = random.Random(seed)
        samples = []
        for i in range(count):
            prompt = chat(processor, f"find the {rng.choice(words)}", images.random(i // 2))
            ids = [*processor.encode(f"click {rng.randrange(1000)} {rng.choice(words)}"), processor.stop_id]
            samples.append(
                Sample(
                    prompt=prompt,
                    response_ids=ids,
                    old_logprobs=[-3.0] * len(ids),
                    advantage=advantages[i % len(advantages)],
                    token_weights=[1 / (count * len(ids))] * len(ids),
                    versions=[0] * len(ids),
                    unit=i,
                )
            )
        return samples

    return make
