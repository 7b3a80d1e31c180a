"""Batched scoring against the models' own forward pass, one sample at a time."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from transformers import (
    PreTrainedModel,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3VLForConditionalGeneration,
)

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat, qwen2_5_vl_config, tiny_config
from webdojo.errors import EngineError
from webdojo.policy.model.collate import Sequence_
from webdojo.policy.model.fast_layers import multiply_patches
from webdojo.policy.model.forward import score, token_logprobs, vision_features
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageSegment, Prompt

Loaded = tuple[PreTrainedModel, Processor]


def samples(processor: Processor, images: Images) -> list[Sequence_]:
    a, b, c = images.random(1), images.random(2, 96, 64), images.random(3, 64, 128)
    return [
        (chat(processor, "no picture"), processor.encode("done<|im_end|>")),
        (chat(processor, "two", a, b), processor.encode("<think>the red mug</think><|im_end|>")),
        (chat(processor, "three of them", c, a, c), processor.encode("x")),
        (chat(processor, "nothing sampled yet", b), []),
        (chat(processor, "cart " * 20, b), processor.encode("click 512 40<|im_end|>")),
    ]


def plain(model: Any, processor: Processor, images: Images, sample: Sequence_, t: float) -> torch.Tensor:
    """Logprobs of one sample by the model's own forward, mrope and placeholder code."""
    prompt, response = sample
    one = collate([sample], processor, images)
    inputs: dict[str, Any] = {"input_ids": one.input_ids}
    if prompt.images:
        pixels, grids = zip(*(processor.pixels(images.get(i)) for i in prompt.images), strict=True)
        positions, _ = model.model.get_rope_index(one.input_ids, one.mm_token_type_ids, torch.cat(grids))
        assert torch.equal(positions, one.position_ids)
        inputs |= {"pixel_values": torch.cat(pixels), "image_grid_thw": torch.cat(grids)}
        inputs |= {"mm_token_type_ids": one.mm_token_type_ids}
    model.model.rope_deltas = None
    logits = model(**inputs).logits[0, len(prompt) - 1 : len(prompt) - 1 + len(response)].float() / t
    logits[:, processor.banned(logits.shape[-1])] = float("-inf")
    return logits.log_softmax(-1).gather(-1, torch.tensor(response, dtype=torch.long)[:, None])[:, 0]


def test_batched_scores_equal_the_plain_forward(loaded: Loaded, images: Images) -> None:
    model, processor = loaded
    todo = samples(processor, images)
    batch = collate(todo, processor, images)
    with torch.no_grad():
        scores = token_logprobs(model, batch, 0.7)
        for sample, ours in zip(todo, batch.split(scores.logprobs), strict=True):
            torch.testing.assert_close(ours, plain(model, processor, images, sample, 0.7), atol=1e-4, rtol=0)
    assert scores.logprobs.shape == scores.entropy.shape == (sum(len(r) for _, r in todo),)
    assert (scores.entropy > 0).all()


def test_each_distinct_image_is_encoded_once(loaded: Loaded, images: Images) -> None:
    _, processor = loaded
    batch = collate(samples(processor, images), processor, images)
    assert batch.image_grid_thw is not None
    assert batch.image_grid_thw.tolist() == [[1, 4, 4], [1, 4, 6], [1, 8, 4]]
    assert len(batch.feature_rows) == int(batch.mm_token_type_ids.sum())


def test_gradients_equal_those_of_separate_samples(loaded: Loaded, images: Images) -> None:
    model, processor = loaded
    todo = samples(processor, images)
    token_logprobs(model, collate(todo, processor, images), 0.7).logprobs.sum().backward()
    together = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    for sample in todo:
        if sample[1]:
            plain(model, processor, images, sample, 0.7).sum().backward()
    assert len(together) == len(list(model.parameters()))
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        scale = float(parameter.grad.abs().max())
        torch.testing.assert_close(together[name], parameter.grad, atol=1e-4 * scale + 1e-6, rtol=1e-3, msg=name)


def test_entropy_is_that_of_the_ids_that_can_be_sampled() -> None:
    logits = torch.tensor([[0.0, float("-inf"), 0.0, 0.0], [50.0, -60.0, -60.0, float("-inf")]], requires_grad=True)
    scores = score(logits, torch.tensor([0, 0]))
    torch.testing.assert_close(scores.entropy, torch.tensor([math.log(3), 0.0]))
    assert not scores.entropy.requires_grad, "only the log reads it: no graph over [T, vocabulary] for it"


def test_swapping_two_images_changes_logprobs(loaded: Loaded, images: Images) -> None:
    model, processor = loaded
    a, b = images.random(1), images.random(2)
    answer = processor.encode("the red mug<|im_end|>")
    batch = collate([(chat(processor, "which", *pair), answer) for pair in ((a, b), (b, a))], processor, images)
    with torch.no_grad():
        first, second = batch.split(token_logprobs(model, batch, 1.0).logprobs)
    assert float((first - second).abs().max()) > 1e-3


def test_temperature_zero_scores_at_one(loaded: Loaded, images: Images) -> None:
    model, processor = loaded
    batch = collate(samples(processor, images), processor, images)
    with torch.no_grad():
        assert torch.equal(token_logprobs(model, batch, 0.0).logprobs, token_logprobs(model, batch, 1.0).logprobs)


def test_image_token_mismatch_names_both_numbers(loaded: Loaded, images: Images) -> None:
    processor = loaded[1]
    wrong = Prompt(segments=(ImageSegment(image=images.random(1), tokens=5),))
    with pytest.raises(EngineError, match=r"has 5 tokens in the prompt but the vision tower makes 4"):
        collate([(wrong, [])], processor, images)


def test_responses_with_banned_ids_are_refused(loaded: Loaded, images: Images) -> None:
    processor = loaded[1]
    prompt = chat(processor, "x")
    for token in (processor.image_token_id, processor.vocab_size):
        with pytest.raises(EngineError, match=f"holds id {token}, which is banned"):
            collate([(prompt, [token])], processor, images)


def test_matrix_patch_embedding_equals_the_convolution(loaded: Loaded, images: Images) -> None:
    _, processor = loaded
    pixels, grid = processor.pixels(images.get(images.random(1, 96, 64)))
    torch.manual_seed(0)
    config = tiny_config(processor)
    model = Qwen3VLForConditionalGeneration(config).eval()
    names = list(model.state_dict())
    with torch.no_grad():
        by_convolution = vision_features(model, pixels, grid)
        multiply_patches(model)
        by_matrix = vision_features(model, pixels, grid)
    assert list(model.state_dict()) == names
    torch.testing.assert_close(by_convolution.embeds, by_matrix.embeds)
    torch.testing.assert_close(by_convolution.deepstack[0], by_matrix.deepstack[0])


def test_qwen2_5_vl_goes_through_the_same_path(loaded: Loaded, images: Images) -> None:
    processor = loaded[1]
    torch.manual_seed(0)
    model = Qwen2_5_VLForConditionalGeneration(qwen2_5_vl_config(processor)).eval()
    todo = samples(processor, images)
    batch = collate(todo, processor, images)
    with torch.no_grad():
        for sample, ours in zip(todo, batch.split(token_logprobs(model, batch, 0.7).logprobs), strict=True):
            torch.testing.assert_close(ours, plain(model, processor, images, sample, 0.7), atol=1e-4, rtol=0)


def test_a_chunked_head_gives_the_same_scores_and_gradients(
    loaded: Loaded, images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, processor = loaded
    batch = collate(samples(processor, images), processor, images)
    found = []
    for limit in (2**26, 5 * model.config.text_config.vocab_size):
        monkeypatch.setattr("webdojo.policy.model.forward.MAX_LOGITS", limit)
        scores = token_logprobs(model, batch, 0.7, entropy_grad=True)
        (scores.logprobs.sum() + scores.entropy.sum()).backward()
        found.append((scores, {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}))
        model.zero_grad(set_to_none=True)
    (whole, expected), (chunked, gradients) = found
    torch.testing.assert_close(chunked.logprobs, whole.logprobs)
    torch.testing.assert_close(chunked.entropy, whole.entropy)
    for name, gradient in expected.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-3, atol=1e-5 * float(gradient.abs().max()))
