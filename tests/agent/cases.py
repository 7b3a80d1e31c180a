"""All harnesses with their options, and a conversation that each of them can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.codec import SmallCodec
from webdojo.agent.harness import Codec, Conversation, Harness
from webdojo.agent.harnesses import HARNESSES
from webdojo.errors import HarnessError
from webdojo.types import Feedback, FinishReason, ImageRef, Observation, Response, Tab, Task, ToolCall, Turn

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "openwebrl": [
        {},
        {"screenshots_kept": 3},
        {"keep_reasoning": "hidden"},
        {"keep_reasoning": "action_only"},
        {"keep_feedback": False, "tool_schemas": "signature"},
    ],
    "webgym": [
        {},
        {"mode": "marks", "screenshots_kept": 3},
        {"memory": False, "history_turns": 1},
        {"history_turns": 0, "fill": False},
    ],
    "webagent_r1": [{}, {"thinking": False, "pages_kept": 2}, {"address_bar": True}],
    "openwebvoyager": [{}, {"trees_kept": 2, "screenshots_kept": 1}, {"error_reflection": False, "fill": False}],
}
"""Options worth testing by harness; one that is not named here is tested as it comes."""

EVERYTHING_KEPT: dict[str, dict[str, Any]] = {
    "openwebrl": {"screenshots_kept": 99},
    "webgym": {"screenshots_kept": 99, "history_turns": 99},
    "webagent_r1": {"pages_kept": 99},
    "openwebvoyager": {"screenshots_kept": 99, "trees_kept": 99},
}
"""Options with which nothing ever leaves the context."""

TASK = Task(
    id="t",
    instruction="Find the Price of the red mug",
    start_url="http://shop-3.localhost/",
    website="shop-3.localhost",
    kind="shop",
)

Make = tuple[str, dict[str, Any]]


def every_variant() -> list[Any]:
    """Parameters for a test of all harnesses with all their variants."""
    return [
        pytest.param((name, options), id="-".join([name, *(f"{key}={value}" for key, value in options.items())]))
        for name in HARNESSES
        for options in VARIANTS.get(name, [{}])
    ]


def every_parser() -> list[Any]:
    """Parameters for a test of every way of reading responses."""
    variants: list[Make] = [(name, {}) for name in HARNESSES]
    variants += [("webgym", {"mode": "marks", "memory": False}), ("webagent_r1", {"thinking": False})]
    return [pytest.param(each, id="-".join([each[0], *each[1]])) for each in variants]


def make(variant: Make, codec: Codec | None = None) -> Harness:
    name, options = variant
    return HARNESSES.get(name).model_validate({"name": name, **options}).build(codec or SmallCodec())


def seven(x: int, y: int) -> int:
    """For agents that name elements by number: wherever they point, there is number 7."""
    return 7


def page_text(step: int) -> str:
    return f"page 'Mugs {step}'\n[7] link 'Mug {step}'"


def screen(step: int, **changes: object) -> Observation:
    url = f"http://shop-3.localhost/p/{step}"
    fields: dict[str, object] = {
        "screenshot": ImageRef(sha=f"{step:064x}", width=320, height=320, mime="image/jpeg"),
        "url": url,
        "title": f"Mugs {step}",
        "tabs": [Tab(index=0, url=url, title=f"Mugs {step}", active=True)],
        "viewport_px": (320, 320),
        "page_px": (320, 480),
        "text": page_text(step),
    }
    return Observation.model_validate(fields | changes)


CLICK = ToolCall(name="click", arguments={"x": 450, "y": 250})
WRITE = ToolCall(name="write", arguments={"text": "red mug; [7]"})
ENTER = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
STEPS: list[list[ToolCall]] = [
    [CLICK],
    [CLICK, WRITE, ENTER],
    [CLICK, WRITE],
    [ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})],
    [ToolCall(name="go_back")],
    [ToolCall(name="wait", arguments={"seconds": 2})],
    [ToolCall(name="goto_url", arguments={"url": "http://shop-3.localhost/"})],
    [ToolCall(name="done", arguments={"answer": "$9"})],
]
"""What a script may want to do; not every format has words for all of it."""


def sayable(harness: Harness) -> list[str]:
    """The steps in the words of a harness."""
    said = []
    for step in STEPS:
        try:
            said.append(harness.render("Find it. Price of the red mug is $9. Go on.", step, seven)[0])
        except HarnessError:
            continue
    assert len(said) >= 6, "a format that can do next to nothing"
    return said


def respond(codec: Codec, text: str) -> Response:
    ids = codec.encode(text)
    finish = FinishReason.STOP if text.endswith("<|im_end|>") else FinishReason.LENGTH
    return Response(ids=ids, logprobs=[-0.5] * len(ids), versions=[0] * len(ids), finish_reason=finish)


def talk(
    harness: Harness, texts: Sequence[str], max_tokens: int = 10**6, ok: bool = True
) -> tuple[Conversation, list[Turn]]:
    """A conversation in which the agent says these texts, and its turns."""
    observation = screen(0)
    conversation = harness.start(TASK, observation)
    turns = []
    for step, text in enumerate(texts, 1):
        prompt = conversation.prompt(max_tokens)
        response = respond(harness.codec, text)
        parsed = conversation.parse(harness.codec.decode(response.ids))
        feedback = [Feedback(ok=ok, text=f"{call.name} {step}") for call in parsed.calls]
        turns.append(
            Turn(observation=observation, prompt=prompt, response=response, text=text, parsed=parsed, feedback=feedback)
        )
        observation = screen(step)
        conversation.add(response, parsed, feedback, observation)
    return conversation, turns
