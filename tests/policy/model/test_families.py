"""Every registered family through load, engine and learner, against the plain forward of `transformers`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from benchmarks.padded import collate
from tests.policy.conftest import FAMILIES, FOREIGN, Images, chat
from tests.trainer.records import trajectory, turn
from webdojo.errors import EngineError, ModelError
from webdojo.policy.hf.decode import Decoder
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.hf.kv_cache import KnownPrefix
from webdojo.policy.model.forward import text_hidden
from webdojo.policy.model.layouts import LAYOUTS
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.trainer.batch import Sample, samples_from_groups
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.learner import Learner
from webdojo.types import Prompt, Response, Sampling, TextSegment

TEMPERATURE = 0.8


SHARED = [family for family in FAMILIES if LAYOUTS[family].shares]


@pytest.fixture(params=[*FAMILIES, *FOREIGN])
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(family: str, family_dirs: dict[str, Path]) -> Path:
    torch.set_num_threads(1)
    return family_dirs[family]


def prompts(family: str, processor: Processor, images: Images) -> list[Prompt]:
    """A few, of different lengths, with images where the family reads them."""
    a, b, c = (images.random(1), images.random(2, 96, 64), images.random(3, 64, 128))
    shown: list[tuple[Any, ...]] = [(), (a,), (a, b), (c, a, c)] if family != "qwen3" else [()] * 4
    return [chat(processor, f"find the red mug {'and the cart ' * 5 * k}", *pics) for k, pics in enumerate(shown)]


def plain_inputs(processor: Processor, images: Images, prompt: Prompt, ids: list[int]) -> dict[str, Any]:
    """What the model's own forward takes."""
    shown = [images.get(image) for image in prompt.images]
    return processor.model_inputs([*prompt.ids(processor.image_token_id), *ids], shown)


def plain_logprobs(model: Any, processor: Processor, images: Images, prompt: Prompt, ids: list[int]) -> torch.Tensor:
    """By the model's own forward: its positions, its placeholders, its masks, and no cache."""
    with torch.no_grad():
        logits = (
            model(**plain_inputs(processor, images, prompt, ids), use_cache=False)
            .logits[0, len(prompt) - 1 : -1]
            .float()
            / TEMPERATURE
        )
    logits[:, processor.banned(logits.shape[-1])] = float("-inf")
    return logits.log_softmax(-1).gather(-1, torch.tensor(ids)[:, None])[:, 0]


async def converse(engine: HFEngine, first: list[Prompt]) -> list[tuple[Prompt, Response]]:
    """Two turns from each prompt, all at once, the first ones asked twice."""
    sampling = Sampling(temperature=TEMPERATURE, max_tokens=10)
    answers = await asyncio.gather(*(engine.generate(p, sampling) for p in [*first, *first]))
    asked = list(zip([*first, *first], answers, strict=True))
    form = engine.processor.chat
    after = TextSegment(ids=tuple(engine.processor.encode(f"{form.next_user}and now?{form.user_end}")))
    second = [Prompt(segments=(*p.segments, TextSegment(ids=tuple(r.ids)), after)) for p, r in asked]
    return [*asked, *zip(second, await asyncio.gather(*(engine.generate(p, sampling) for p in second)), strict=True)]


async def test_engine_logprobs_are_those_of_a_plain_forward(family: str, folder: Path, images: Images) -> None:
    model, processor = load_model(folder)
    engine = HFEngine(model, processor, images, threads=1)
    try:
        answered = await converse(engine, prompts(family, processor, images))
    finally:
        engine.close()
    if family in SHARED:
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


async def test_greedy_answers_are_those_of_generate(family: str, folder: Path, images: Images) -> None:
    model, processor = load_model(folder)
    engine = HFEngine(model, processor, images, threads=1)
    asked = prompts(family, processor, images)
    try:
        greedy = Sampling(temperature=0.0, max_tokens=8)
        answers = await asyncio.gather(*(engine.generate(prompt, greedy) for prompt in asked))
    finally:
        engine.close()
    untouched: Any = load_model(folder)[0]
    banned = processor.banned(untouched.config.get_text_config().vocab_size).nonzero().flatten().tolist()
    for prompt, answer in zip(asked, answers, strict=True):
        inputs = plain_inputs(processor, images, prompt, [])
        said = untouched.generate(
            **inputs, max_new_tokens=8, do_sample=False, eos_token_id=processor.stop_id, suppress_tokens=banned
        )
        assert answer.ids == said[0, len(prompt) :].tolist()


def test_packed_scores_are_those_of_separate_samples(family: str, folder: Path, images: Images) -> None:
    model, processor = load_model(folder)
    answers = [[*processor.encode(words), processor.stop_id] for words in ("click here", "clear", "scroll")]
    turns = [(prompt, answer) for prompt in prompts(family, processor, images) for answer in answers]
    samples = [Sample(prompt, ids, [0.0] * len(ids), 0.0, [0.0] * len(ids), [0] * len(ids)) for prompt, ids in turns]
    learner = Learner(model, processor, images, TrainConfig(micro_batch_tokens=600))
    packed = learner.logprobs(samples, TEMPERATURE)
    untouched, _ = load_model(folder)
    for (prompt, ids), scores in zip(turns, packed, strict=True):
        expected = plain_logprobs(untouched, processor, images, prompt, ids)
        torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-5)


def test_a_checkpoint_serves(folder: Path, images: Images, tmp_path: Path) -> None:
    learner = Learner(*load_model(folder), images, TrainConfig())
    learner.save(tmp_path / "saved")
    again, _ = load_model(tmp_path / "saved")
    for (name, mine), (other, saved) in zip(
        learner.model.state_dict().items(), again.state_dict().items(), strict=True
    ):
        assert name == other and torch.equal(mine, saved)


@pytest.mark.parametrize("shared", SHARED)
def test_a_decode_step_is_a_forward_pass_of_the_model(shared: str, family_dirs: dict[str, Path]) -> None:
    model, processor = load_model(family_dirs[shared])
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
