"""The prompts of a harness against the chat templates that the model families are published with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.policy.conftest import Images, images
from webdojo.agent.harness import Conversation
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.types import (
    Feedback,
    FinishReason,
    ImageSegment,
    Observation,
    Prompt,
    Response,
    Tab,
    Task,
    TextSegment,
    ToolCall,
)

__all__ = ["images"]

ROOM = 10**6
TEMPLATES = Path(__file__).parent.parent / "data" / "chat_templates"
VISION = ["qwen2_5_vl", "qwen3_vl"]
TASK = Task(id="shop-1/a", instruction="Find the red mug", start_url="http://shop-1.localhost/", website="x")
THINK = "The search box is at the top. I type into it."
CALLS = [ToolCall(name="click", arguments={"x": 450, "y": 250}), ToolCall(name="write", arguments={"text": "mug"})]


@pytest.fixture(scope="module")
def processor() -> Processor:
    return Processor.load(model_folder("tiny"))


def template(family: str) -> str:
    return (TEMPLATES / f"{family}.jinja").read_text()


def expected(processor: Processor, family: str, messages: list[dict[str, Any]], *image_tokens: int) -> list[int]:
    """The template's ids, each image pad repeated as often as the image has tokens."""
    ids: Any = processor.tokenizer.apply_chat_template(
        messages, chat_template=template(family), add_generation_prompt=True, tokenize=True, return_dict=False
    )
    out: list[int] = []
    counts = iter(image_tokens)
    for token in ids:
        out += [token] * (next(counts) if token == processor.image_token_id else 1)
    assert next(counts, None) is None
    return out


def observation(images: Images, seed: int) -> Observation:
    tabs = [Tab(index=0, url="http://shop-1.localhost/", title="Shöp", active=True)]
    shot = images.random(seed, 320, 256)
    return Observation(screenshot=shot, url="http://shop-1.localhost/", title="Shöp", tabs=tabs, viewport_px=(320, 256))


def conversation(processor: Processor, images: Images) -> tuple[OpenWebRLHarness, Conversation]:
    harness = OpenWebRLHarness(OpenWebRLConfig(screenshots_kept=3), processor)
    return harness, harness.start(TASK, observation(images, 1))


def texts(processor: Processor, prompt: Prompt) -> list[str]:
    """The text of a prompt's messages, without their frame; screenshots and their markers are left out."""
    ids = [token for s in prompt.segments if isinstance(s, TextSegment) for token in s.ids]
    text = processor.decode(ids).replace("<|vision_start|><|vision_end|>", "")
    return [part.partition("\n")[2].removesuffix("<|im_end|>\n") for part in text.split("<|im_start|>")[1:]]


def without_images(processor: Processor, prompt: Prompt) -> list[int]:
    """What a text model reads of a prompt: no images, nor the markers around them."""
    markers = {processor.encode("<|vision_start|>")[0], processor.encode("<|vision_end|>")[0]}
    ids = [token for s in prompt.segments if isinstance(s, TextSegment) for token in s.ids]
    return [token for token in ids if token not in markers]


@pytest.mark.parametrize("family", VISION)
def test_the_first_prompt_is_the_template_s(processor: Processor, images: Images, family: str) -> None:
    _, first = conversation(processor, images)
    prompt = first.prompt(ROOM)
    system, user, _ = texts(processor, prompt)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": system},
        {"role": "user", "content": [{"type": "text", "text": user}, {"type": "image"}]},
    ]
    assert "Find the red mug" in user and "Shöp" in user
    assert prompt.ids(processor.image_token_id) == expected(processor, family, messages, 80)


def test_the_first_prompt_without_screenshots_is_the_text_template_s(processor: Processor, images: Images) -> None:
    _, first = conversation(processor, images)
    prompt = first.prompt(ROOM)
    system, user, _ = texts(processor, prompt)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    assert without_images(processor, prompt) == expected(processor, "qwen3", messages)


def two_turns(processor: Processor, images: Images) -> Prompt:
    """The prompt after one response with reasoning and two calls."""
    harness, talk = conversation(processor, images)
    text, _ = harness.render(THINK, CALLS)
    response = Response(ids=processor.encode(text), logprobs=[], versions=[], finish_reason=FinishReason.STOP)
    feedback = [Feedback(ok=True, text="Clicked."), Feedback(ok=True, text="Wrote.")]
    talk.add(response, talk.parse(text), feedback, observation(images, 2))
    return talk.prompt(ROOM)


@pytest.mark.parametrize("family", VISION)
def test_later_prompts_are_the_vision_templates_too(processor: Processor, images: Images, family: str) -> None:
    prompt = two_turns(processor, images)
    assert sum(isinstance(s, ImageSegment) for s in prompt.segments) == 2
    system, first, answer, second, _ = texts(processor, prompt)
    assert THINK in answer
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": system},
        {"role": "user", "content": [{"type": "text", "text": first}, {"type": "image"}]},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": [{"type": "text", "text": second}, {"type": "image"}]},
    ]
    assert prompt.ids(processor.image_token_id) == expected(processor, family, messages, 80, 80)


def test_past_reasoning_stays_where_the_text_template_would_strip_it(processor: Processor, images: Images) -> None:
    prompt = two_turns(processor, images)
    system, first, answer, second, _ = texts(processor, prompt)
    roles = zip(["system", "user", "assistant", "user"], [system, first, answer, second], strict=True)
    stripped = expected(processor, "qwen3", [{"role": role, "content": text} for role, text in roles])
    kept = without_images(processor, prompt)
    reasoning = processor.encode(f"<think>\n{THINK}\n</think>\n")
    start = next(k for k in range(len(kept)) if kept[k : k + len(reasoning)] == reasoning)
    assert THINK not in processor.decode(stripped)
    assert kept[:start] + kept[start + len(reasoning) :] == stripped
