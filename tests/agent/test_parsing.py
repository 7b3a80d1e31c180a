"""Parsing is total and linear, for every harness: any text gives calls that can run, or an error with its reason."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agent.cases import TASK, Make, every_parser, every_variant, make, sayable, screen, talk
from tests.codec import SmallCodec
from webdojo.agent.harness import Conversation
from webdojo.browser.tools import TOOLS, check_call
from webdojo.types import Parsed, ToolCall

EXAMPLES = max(300, settings.default.max_examples if settings.default else 0)
"""Of every variant; `--hypothesis-profile=fuzz` asks for more."""

TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>", "<|im_end|>", "<|im_start|>"]
LABELS = ["Memory:", "Progress:", "Intention:", "Action:", "Thought:", "ANSWER;", "\nAction: ", "\nThought: "]
VERBS = ["Click [7]", "Type [7]; x", "Scroll [WINDOW]; down", "GoBack", "Wait", "do(", "exit(", 'action="Click"', ")"]
LOOK_ALIKES = [
    "＜tool_call＞",
    "‹think›",
    "Аction: ",
    "Thought：",
    "［7］",
    "Click [７]",
    "“name”",
    "\u200b",
    "\ufeff",
    "Ⅶ",
]
NUMBERS = ["9" * 20, "9" * 5000, "-1", "1e999", "NaN", "-Infinity", "0x10", "1_000", "0.1"]
JSON = ['{"name":', '"computer_use"', '"arguments":', '{"action": "left_click",', '"coordinate": [1, 2]', "{}", "null"]
JSON += ["{", "}", "[", "]", '"', "\\", "\\ud800", ",", ":", "[[[[", '{"a":' * 50]

pieces = st.sampled_from([*TAGS, *LABELS, *VERBS, *LOOK_ALIKES, *NUMBERS, *JSON, "\n", " "]) | st.text(max_size=8)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from([10**19, -(10**30)]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(
    st.sampled_from(["action", "coordinate", "element", "text", "direction", "time", "url", "x", "y", "seconds"]),
    json_values | st.sampled_from(["left_click", "type", "scroll", "answer", "down", [4, 5], 7, 2.5, True]),
    max_size=4,
)
calls = st.builds(
    lambda name, given: f"<tool_call>{json.dumps({'name': name, 'arguments': given})}</tool_call>",
    st.sampled_from(["computer_use", *TOOLS]),
    arguments,
)


@st.composite
def damaged(draw: st.DrawFn, sound: list[str]) -> str:
    """A response that was sound, with pieces cut out, doubled, moved or put in."""
    text = draw(st.sampled_from(sound))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        put = draw(st.one_of(st.just(""), st.just(text[start:end] * 2), pieces, calls, st.just(text)))
        text = text[:start] + put + text[end:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


def check(parsed: Parsed) -> None:
    """What every reading of a response promises."""
    assert parsed.calls or parsed.error
    for call in parsed.calls:
        assert check_call(call) is None, call
    if parsed.error is not None:
        assert parsed.error == " ".join(parsed.error.split()) and len(parsed.error) < 600
    assert Parsed.model_validate_json(parsed.model_dump_json()) == parsed, "it is stored as JSON"


@pytest.mark.parametrize("variant", every_parser())
def test_any_text_gives_calls_or_an_error_with_its_reason(variant: Make) -> None:
    harness = make(variant)
    sound = sayable(harness)
    conversation = harness.start(TASK, screen(0))
    for text in sound:
        assert conversation.parse(text).error is None

    @settings(max_examples=EXAMPLES)
    @given(st.one_of(st.lists(pieces | calls, max_size=14).map("".join), damaged(sound), st.text()))
    def any_text(text: str) -> None:
        check(conversation.parse(text))

    any_text()


@pytest.mark.parametrize("variant", every_variant())
def test_a_conversation_goes_on_after_any_text(variant: Make) -> None:
    harness = make(variant)
    sound = sayable(harness)

    @settings(max_examples=max(100, EXAMPLES // 20))
    @given(st.lists(st.lists(pieces, max_size=8).map("".join) | damaged(sound), max_size=4))
    def any_texts(texts: list[str]) -> None:
        # A response ends at <|im_end|>, and <|im_start|> is never sampled.
        texts = [text.replace("<|im_start|>", "").partition("<|im_end|>")[0] for text in texts]
        conversation, _ = talk(harness, texts, ok=False)
        text = harness.codec.decode(conversation.prompt(10**6).ids(4))
        assert text.count("<|im_start|>user\n") == 1 + text.count("<|im_start|>assistant\n") - 1

    any_texts()


@pytest.mark.parametrize("variant", every_variant())
def test_what_is_rendered_is_read_back_and_rendered_again_the_same(variant: Make) -> None:
    harness = make(variant)
    conversation = harness.start(TASK, screen(0))
    for text in sayable(harness):
        parsed = conversation.parse(text)
        assert parsed.error is None
        assert not parsed.calls or harness.render(parsed.think, parsed.calls)[1] == len(parsed.calls)


UNITS = [*TAGS, *LABELS, *VERBS[:5], "{", "[", '"', "\\", " ", "\n", "9", '{"a":', "<tool_call>{", "Action: Type [7];"]
UNITS += ['<tool_call>{"name": "go_back", "arguments": {}}</tool_call>']


@pytest.mark.parametrize("variant", every_parser())
def test_time_grows_no_faster_than_the_text(variant: Make) -> None:
    harness = make(variant)
    conversation = harness.start(TASK, screen(0))
    heads = [
        "",
        "</think>",
        "Thought:",
        "Memory: {}\nProgress: {}\nIntention:",
        "Action: Type [7]; ",
        'Memory: {"a": "',
    ]
    for head in [*heads, sayable(harness)[1].removesuffix("<|im_end|>")]:
        for unit in UNITS:
            short, long = (head + unit * (size // len(unit)) for size in (30_000, 240_000))
            # Eight times the text in 64 times the time would be quadratic; CPU time, and the best of three tries.
            assert _seconds(conversation, long) < 24 * _seconds(conversation, short) + 0.02, (head, unit)


def _seconds(conversation: Conversation, text: str) -> float:
    taken = []
    for _ in range(3):
        begin = time.process_time()
        conversation.parse(text)
        taken.append(time.process_time() - begin)
    return min(taken)


def test_numbers_and_depths_that_no_page_has_are_errors() -> None:
    for variant in [("webgym", {"mode": "marks"}), ("openwebvoyager", {})]:
        conversation = make(variant, SmallCodec()).start(TASK, screen(0))
        for text in ("Thought: x\nAction: Click [" + "9" * 50 + "]", "Thought: x\nAction: Click [0]", "{" * 100_000):
            assert conversation.parse(text).calls == []
    parts = "Memory: {}\nProgress: {}\nIntention: i\nAction: a\n"
    call = '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "element": %s}}</tool_call>'
    marks = make(("webgym", {"mode": "marks"})).start(TASK, screen(0))
    assert marks.parse(parts + call % "12").calls == [ToolCall(name="click", arguments={"element": 12})]
    for number in ("0", "-1", "9" * 30, "9" * 5000, "1.0", '"12"', "true", "[12]", "1e999"):
        parsed = marks.parse(parts + call % number)
        assert parsed.calls == [] and parsed.error, number
