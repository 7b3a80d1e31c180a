"""Every registered family through load, engine and learner, against the plain forward of `transformers`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from benchmarks.padded import collate
from tests.policy.conftest import FAMILIES, Images, chat
from tests.trainer.records import trajectory, turn
from webdojo.errors import EngineError, ModelError
from webdojo.policy.hf.decode import Decoder
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.hf.kv_cache import KnownPrefix
from webdojo.policy.model.forward import text_hidden
from webdojo.policy.model.layouts import LAYOUTS
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import samples_from_groups
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.learner import Learner
from webdojo.types import Prompt, Response, Sampling, TextSegment

TEMPERATURE = 0.8


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(family: str, family_dirs: dict[str, Path]) -> Path:
    torch.set_num_threads(1)
    return family_dirs[family]


def prompts(family: str, processor: Processor, images: Images) -> list[Prompt]:
    """A few, of different lengths, with images where the family reads them."""
    a, b, c = (images.random(1), images.random(2, 96, 64), images.random(3, 64, 128))
    shown: list[tuple[Any, ...]] = [(), (a,), (a, b), (c, a, c)] if LAYOUTS[family].images else [()] * 4
    return [chat(processor, f"find the red mug {'and the cart ' * 5 * k}", *pics) for k, pics in enumerate(shown)]


def plain_logprobs(model: Any, processor: Processor, images: Images, prompt: Prompt, ids: list[int]) -> torch.Tensor:
    """By the model's own forward: its positions, its placeholders, its masks, and no cache."""
    input_ids = torch.tensor([[*prompt.ids(processor.image_token_id), *ids]])
    inputs: dict[str, Any] = {"input_ids": input_ids, "use_cache": False}
    if prompt.images:
        pixels, grids = zip(*(processor.pixels(images.get(i)) for i in prompt.images), strict=True)
        inputs |= {"pixel_values": torch.cat(pixels), "image_grid_thw": torch.cat(grids)}
        inputs |= {"mm_token_type_ids": (input_ids == processor.image_token_id).long()}
    with torch.no_grad():
        logits = model(**inputs).logits[0, len(prompt) - 1 : -1].float() / TEMPERATURE
    logits[:, processor.banned(logits.shape[-1])] = float("-inf")
    return logits.log_softmax(-1).gather(-1, torch.tensor(ids)[:, None])[:, 0]


async def converse(engine: HFEngine, first: list[Prompt]) -> list[tuple[Prompt, Response]]:
    """Two turns from each prompt, all at once, the first ones asked twice."""
    sampling = Sampling(temperature=TEMPERATURE, max_tokens=10)
    answers = await asyncio.gather(*(engine.generate(p, sampling) for p in [*first, *first]))
    asked = list(zip([*first, *first], answers, strict=True))
    after = TextSegment(ids=tuple(engine.processor.encode("\n<|im_start|>user\nand now?<|im_end|>\n")))
    second = [Prompt(segments=(*p.segments, TextSegment(ids=tuple(r.ids)), after)) for p, r in asked]
    return [*asked, *zip(second, await asyncio.gather(*(engine.generate(p, sampling) for p in second)), strict=True)]


async def test_engine_logprobs_are_those_of_a_plain_forward(family: str, folder: Path, images: Images) -> None:
    model, processor = load_model(folder)
    engine = HFEngine(model, processor, images, threads=1)
    try:
        answered = await converse(engine, prompts(family, processor, images))
    finally:
        engine.close()
    assert engine.prefilled_tokens < 0.5 * engine.prompt_tokens, "beginnings were read again"
    untouched, _ = load_model(folder)
    for prompt, response in answered:
        expected = plain_logprobs(untouched, processor, images, prompt, response.ids)
        torch.testing.assert_close(torch.tensor(response.logprobs), expected, atol=1e-4, rtol=0)


async def test_the_learner_agrees_with_the_engine(family: str, folder: Path, images: Images) -> None:
    model, processor = load_model(folder)
    engine = HFEngine(model, processor, images, version=2, threads=1)
    try:
        answered = await converse(engine, prompts(family, processor, images))
        members = [trajectory([turn(p, r)], float(k % 2)) for k, (p, r) in enumerate(answered)]
        config = TrainConfig(batch_size=8, ppo_epochs=1, micro_batch_tokens=600, lr=1e-2)
        learner = Learner(*load_model(folder), images, config)
        metrics = learner.train_policy(samples_from_groups([members], config), TEMPERATURE)
        assert metrics["engine_gap_max"] < 1e-4

        await engine.update_weights(learner.model.state_dict(), 3)
        moved = await converse(engine, prompts(family, processor, images))
    finally:
        engine.close()
    for prompt, response in moved:
        assert set(response.versions) == {3}
        expected = plain_logprobs(learner.model, processor, images, prompt, response.ids)
        torch.testing.assert_close(torch.tensor(response.logprobs), expected, atol=1e-4, rtol=0)
    assert [r.ids for _, r in moved] != [r.ids for _, r in answered], "the update changed nothing"


def test_a_decode_step_is_a_forward_pass_of_the_model(folder: Path) -> None:
    model, processor = load_model(folder)
    names = list(model.state_dict())
    texts = ("find the red mug and add it to the cart", "the search box is empty, where is the cart?")
    ids = torch.tensor([processor.encode(text)[:12] for text in texts])
    positions = torch.arange(ids.shape[1]).expand(3, len(ids), -1)
    no_image = torch.zeros_like(ids, dtype=torch.bool)
    with torch.no_grad():
        expected = text_hidden(model, ids, positions, no_image, None, use_cache=False)
        decoder = Decoder(model)
        cache = decoder.cache()
        mask = cache.admit([3, 3], [KnownPrefix(None, 0)] * 2)
        text_hidden(model, ids[:, :3], positions[:, :, :3], no_image[:, :3], None, attention_mask=mask, cache=cache)
        steps = [decoder(ids[:, k], positions[0, :, k], cache) for k in range(3, ids.shape[1])]
        again = text_hidden(model, ids, positions, no_image, None, use_cache=False)
    torch.testing.assert_close(torch.stack(steps, 1), expected[:, 3:], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(again, expected, msg="joined weights are the model's own")
    assert list(model.state_dict()) == names


async def test_a_text_model_shows_no_images(family_dirs: dict[str, Path], images: Images) -> None:
    model, processor = load_model(family_dirs["qwen3"])
    assert processor.image_processor is None
    with pytest.raises(ModelError, match="a text model cannot read screenshots; take a harness that shows pages as"):
        processor.image_tokens(64, 64)
    seen = Processor.load(family_dirs["qwen3_vl"])
    shown = chat(seen, "what is this", images.random(1))
    with pytest.raises(ModelError, match="a text model cannot read screenshots"):
        collate([(shown, [])], processor, images)
    engine = HFEngine(model, processor, images, threads=1)
    try:
        with pytest.raises(EngineError, match=r"cannot be read: ModelError: a text model cannot read screenshots"):
            await engine.generate(shown, Sampling(max_tokens=2))
    finally:
        engine.close()


def test_a_sliding_window_is_refused(family_dirs: dict[str, Path], tmp_path: Path) -> None:
    model: PreTrainedModel
    model, processor = load_model(family_dirs["qwen3"])
    model.config.layer_types = ["sliding_attention", "full_attention"]
    model.config.use_sliding_window, model.config.sliding_window = True, 8
    model.save_pretrained(str(tmp_path))
    processor.save(tmp_path)
    with pytest.raises(ModelError, match="attends through a sliding window"):
        load_model(tmp_path)
