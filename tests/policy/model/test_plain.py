"""Model types that have no layout: what is read off their folders, and how the engine answers for them."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from jinja2 import TemplateError
from transformers import AutoConfig, LlamaConfig, LlamaForCausalLM, ViTConfig
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

from tests.policy.conftest import CHAT_TEMPLATES, FOREIGN, SPECIALS, Images, chat, scaled, tiny_tokenizer
from tests.policy.model.test_families import plain_logprobs
from webdojo.agent.chatml import CHATML, Chat
from webdojo.errors import EngineError, ModelError
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.auto_processor import load_processor, without_videos
from webdojo.policy.model.chat_template import chat_format
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.loading import load_model, save_model
from webdojo.policy.model.processor import Processor
from webdojo.types import FinishReason, Prompt, Response, Sampling, TextSegment

SAMPLING = Sampling(temperature=0.8, max_tokens=60)


@pytest.fixture
def gemma3(family_dirs: dict[str, Path]) -> Path:
    torch.set_num_threads(1)
    return family_dirs["gemma3"]


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    """A text model with the template of Qwen3."""
    tokenizer = tiny_tokenizer(SPECIALS)
    tokenizer.chat_template = (CHAT_TEMPLATES / "qwen3.jinja").read_text()
    tokenizer.save_pretrained(str(tmp_path))
    config = LlamaConfig(
        vocab_size=len(tokenizer) + 3,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
    )
    scaled(LlamaForCausalLM(config)).save_pretrained(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("family", FOREIGN)
def test_prompts_are_those_of_template_and_processor(family: str, family_dirs: dict[str, Path], images: Images) -> None:
    ours = load_processor(family_dirs[family])
    shot = images.random(1, 96, 64)
    talk = Chat(ours, "You browse.")
    asked = [talk.system, talk.text(talk.user), *talk.image(shot), talk.text("find the mug"), talk.turn]
    response = Response(
        ids=[*ours.encode("I look."), ours.stop_id], logprobs=[], versions=[], finish_reason=FinishReason.STOP
    )
    more = [TextSegment(ids=tuple(response.ids)), talk.text(f"{talk.after(response)}and now?"), talk.turn]

    config = AutoConfig.from_pretrained(str(family_dirs[family]))
    theirs = without_videos(PROCESSOR_MAPPING[type(config)]).from_pretrained(str(family_dirs[family]))
    picture = {"type": "image", "image": ours.sized(images.get(shot))}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": [{"type": "text", "text": "You browse."}]},
        {"role": "user", "content": [picture, {"type": "text", "text": "find the mug"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}]},
        {"role": "user", "content": [{"type": "text", "text": "and now?"}]},
    ]
    for segments, count in ((asked, 2), ([*asked, *more], 4)):
        made = theirs.apply_chat_template(
            messages[:count], tokenize=True, return_dict=True, add_generation_prompt=True, return_tensors="pt"
        )
        ids = Prompt(segments=tuple(segments)).ids(ours.image_token_id)
        assert ours.decode(ids) == ours.decode(made["input_ids"][0].tolist())
        assert torch.equal(ours.model_inputs(ids, [images.get(shot)])["pixel_values"], made["pixel_values"])


def test_a_response_ends_with_the_family_s_token_and_holds_no_other(gemma3: Path) -> None:
    processor = load_processor(gemma3)
    assert processor.tokenizer.convert_ids_to_tokens(processor.stop_id) == "<end_of_turn>"
    assert processor.encode("done<|im_end|>")[-1] == processor.stop_id
    assert processor.decode([processor.stop_id]) == "<|im_end|>"
    banned = processor.tokenizer.convert_ids_to_tokens(list(processor.vision_ids))
    assert {"<bos>", "<start_of_turn>", "<image_soft_token>"} <= set(banned) and "<end_of_turn>" not in banned


async def test_new_weights_and_cancelled_calls_interrupt_an_answer(gemma3: Path, images: Images) -> None:
    model, processor = load_model(gemma3)
    new, _ = load_model(gemma3)
    with torch.no_grad():
        for parameter in new.parameters():
            parameter.mul_(1.05)
    engine = HFEngine(model, processor, images, threads=1)
    never_ends = SAMPLING.model_copy(update={"logit_bias": {processor.stop_id: -1e9}, "max_tokens": 40})
    prompt = chat(processor, "find the red mug", images.random(1))
    try:
        first = asyncio.create_task(engine.generate(prompt, never_ends))
        second = asyncio.create_task(engine.generate(prompt, never_ends))
        async with asyncio.timeout(60):
            while not (engine._batch.running and len(engine._batch.running[0].ids) > 3):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert engine.health().running == 1
        await engine.update_weights(new.state_dict(), 1)
        answer = await first
        second.cancel()
        after = await engine.generate(prompt, SAMPLING)
    finally:
        engine.close()
    assert set(answer.versions) == {0, 1} and answer.versions == sorted(answer.versions) and len(answer.ids) == 40
    assert set(after.versions) == {1}
    expected = plain_logprobs(new, processor, images, prompt, after.ids)
    torch.testing.assert_close(torch.tensor(after.logprobs), expected, atol=1e-4, rtol=0)


async def test_a_text_model_of_any_type_answers(llama: Path, images: Images, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "webdojo"):
        model, processor = load_model(llama)
    assert "model type 'llama' takes the plain path" in caplog.text
    assert processor.chat == load_processor(llama).chat
    assert processor.chat.first_user == CHATML.first_user and processor.chat.next_user == CHATML.next_user
    save_model(model, processor, llama / "again")
    engine = HFEngine(*load_model(llama / "again"), images, threads=1)
    try:
        with pytest.raises(ModelError, match="a text model cannot read screenshots"):
            processor.image_tokens(64, 64)
        prompt = chat(processor, "find the red mug")
        answer = await engine.generate(prompt, SAMPLING)
        seen = chat(Processor.load(model_folder("tiny")), "what is this", images.random(1))
        with pytest.raises(EngineError, match="a text model cannot read screenshots"):
            await engine.generate(seen, SAMPLING)
    finally:
        engine.close()
    expected = plain_logprobs(model, processor, images, prompt, answer.ids)
    torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=1e-4, rtol=0)


def test_what_holds_no_chat_is_refused(llama: Path, tmp_path: Path) -> None:
    (llama / "chat_template.jinja").unlink()
    with pytest.raises(ModelError, match="it has no chat template: add its chat_template"):
        load_model(llama)
    ViTConfig().save_pretrained(str(tmp_path / "vit"))
    with pytest.raises(ModelError, match="model type 'vit' answers no chat: take a causal language model"):
        load_model(tmp_path / "vit")


def test_a_template_without_a_system_role_gets_its_text_before_the_user_s() -> None:
    def render(messages: list[tuple[str, str]], opened: bool) -> str:
        if messages[0][0] == "system":
            raise TemplateError("no system role")
        return "<s>" + "".join(f"[INST]{t}[/INST]" if r == "user" else f" {t}</s>" for r, t in messages) + " " * opened

    form, stop = chat_format(render, ["<s>", "</s>"])
    assert stop == "</s>"
    assert (form.system, form.first_user, form.user) == (("<s>[INST]", "\n\n"), "<s>[INST]", "")
    assert (form.next_user, form.user_end, form.assistant) == ("[INST]", "[/INST]", " ")
    with pytest.raises(ModelError, match="begins with no special token"):
        chat_format(render, ["<s>"])
