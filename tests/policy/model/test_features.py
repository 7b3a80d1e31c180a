"""Kept visual features against the ones that the vision tower makes anew."""

from __future__ import annotations

import pytest
import torch
from transformers import PreTrainedModel

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat
from webdojo.errors import EngineError
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.features import FeatureCache
from webdojo.policy.model.forward import join_features, token_logprobs, vision_tower
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageRef, ImageSegment, Prompt, Sampling

Loaded = tuple[PreTrainedModel, Processor]


class CountedImages(Images):
    """Remembers what was read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def get(self, image: ImageRef) -> bytes:
        self.read.append(image.sha)
        return super().get(image)


@pytest.fixture
def images() -> CountedImages:
    return CountedImages()


def test_cached_features_give_the_same_logprobs_and_gradients(loaded: Loaded, images: CountedImages) -> None:
    model, processor = loaded
    tower = vision_tower(model)
    assert tower is not None
    tower.requires_grad_(False)
    a, b, c = images.random(1), images.random(2, 96, 64), images.random(3, 64, 128)
    answer = processor.encode("<think>the red mug</think><|im_end|>")
    todo = [
        (chat(processor, "none"), answer),
        (chat(processor, "two", b, a), answer),
        (chat(processor, "three", c, a, c), answer),
    ]
    fresh = token_logprobs(model, collate(todo, processor, images), 0.7).logprobs
    fresh.sum().backward()
    expected = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()

    cache = FeatureCache(model, processor, images, max_bytes=2**28)
    for prompt, _ in todo:
        cache.of(prompt)
    images.read.clear()
    shown = {sha: image for prompt, _ in todo for sha, image in cache.of(prompt).items()}
    batch = collate(todo, processor, images, {sha: image.grid for sha, image in shown.items()})
    features = join_features([image.features for image in shown.values()])
    cached = token_logprobs(model, batch, 0.7, features).logprobs
    cached.sum().backward()
    assert not images.read
    assert batch.pixel_values is None
    torch.testing.assert_close(cached, fresh, atol=1e-5, rtol=0)
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    assert found.keys() == expected.keys()
    for name, gradient in found.items():
        scale = float(expected[name].abs().max())
        torch.testing.assert_close(gradient, expected[name], atol=1e-4 * scale + 1e-6, rtol=1e-3, msg=name)


def test_memory_is_bounded_and_the_least_recently_used_goes_first(loaded: Loaded, images: CountedImages) -> None:
    model, processor = loaded
    a, b, c = (images.random(seed) for seed in range(3))
    ask = {ref.sha: chat(processor, "x", ref) for ref in (a, b, c)}
    one = FeatureCache(model, processor, images, max_bytes=2**28).of(ask[a.sha])[a.sha].bytes
    cache = FeatureCache(model, processor, images, max_bytes=2 * one)
    images.read.clear()
    for ref in (a, b, a, c, a, b):
        cache.of(ask[ref.sha])
    assert images.read == [a.sha, b.sha, c.sha, b.sha]
    assert cache._bytes == 2 * one

    none = FeatureCache(model, processor, images, max_bytes=one - 1)
    assert list(none.of(chat(processor, "x", a, b, a))) == [a.sha, b.sha]
    assert none._bytes == 0


def test_a_kept_image_is_checked_against_every_prompt(loaded: Loaded, images: CountedImages) -> None:
    model, processor = loaded
    cache = FeatureCache(model, processor, images, max_bytes=2**28)
    shown = images.random(1)
    cache.of(chat(processor, "x", shown))
    with pytest.raises(EngineError, match="has 5 tokens in the prompt but the vision tower makes 4"):
        cache.of(Prompt(segments=(ImageSegment(image=shown, tokens=5),)))


@pytest.mark.parametrize("part", ["visual", "language_model"])
async def test_new_weights_drop_features_only_where_the_vision_tower_changed(
    loaded: Loaded, images: CountedImages, part: str
) -> None:
    model, processor = loaded
    prompt = chat(processor, "find the red mug", images.random(1), images.random(2, 96, 64))
    greedy = Sampling(temperature=0, max_tokens=4)
    engine = HFEngine(model, processor, images, threads=1)
    try:
        await engine.generate(prompt, greedy)
        new = {
            name: value + 0.05 * torch.randn_like(value) if part in name and value.ndim > 1 else value.clone()
            for name, value in model.state_dict().items()
        }
        new["lm_head.weight"] = new["model.language_model.embed_tokens.weight"]
        images.read.clear()
        await engine.update_weights(new, 1)
        answer = await engine.generate(prompt, greedy)
    finally:
        engine.close()
    assert len(images.read) == (2 if part == "visual" else 0)
    with torch.no_grad():
        expected = token_logprobs(model, collate([(prompt, answer.ids)], processor, images), 1.0).logprobs
    torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)
