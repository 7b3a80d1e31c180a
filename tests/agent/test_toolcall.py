import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webdojo.agent.toolcall import parse, plain, render
from webdojo.browser.tools import check_call
from webdojo.types import ToolCall

CLICK = '<tool_call>{"name": "click", "arguments": {"x": 450, "y": 250}}</tool_call>'


def click(x: int = 450, y: int = 250) -> ToolCall:
    return ToolCall(name="click", arguments={"x": x, "y": y})


def test_canonical_response():
    parsed = parse(f"<think>the menu is at the top</think>{CLICK}<|im_end|>")
    assert parsed.think == "the menu is at the top"
    assert parsed.calls == [click()]
    assert parsed.error is None


@pytest.mark.parametrize(
    "text",
    [
        f"the template opened the thought</think>{CLICK}",
        f"<think></think>\n\nI will click.\n{CLICK}\nDone with that.",
        '<think>a</think><tool_call>\n {"arguments": {"y": 250, "x": 450}, "name": "click"}\n</tool_call>',
        f"<think>a</think>{CLICK}<|im_end|><tool_call>past the end</tool_call>",
        f'<think>I could write <tool_call>{{"name": "done"}}</tool_call></think>{CLICK}',
    ],
)
def test_lenient_where_nothing_is_ambiguous(text):
    parsed = parse(text)
    assert parsed.error is None
    assert parsed.calls == [click()]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no think end tag"),
        (CLICK, "no think end tag"),
        ("<think>a</think>click the menu", "no tool call after the thought"),
        ("<think>a</think><tool_call>", "tool call 1: bad JSON: expecting value"),
        ('<think>a</think><tool_call>{"name": "click", "argu', "tool call 1: bad JSON: unterminated string"),
        ("<think>a</think><tool_call>{'name': 'go_back'}</tool_call>", "tool call 1: bad JSON: "),
        ('<think>a</think><tool_call>{"name": "go_back"}', "tool call 1: no tool_call end tag after the JSON"),
        ('<think>a</think><tool_call>["go_back"]</tool_call>', "must be one JSON object"),
        ('<think>a</think><tool_call>{"name": "click", "x": 1, "y": 2}</tool_call>', "must be one JSON object"),
        ('<think>a</think><tool_call>{"name": "go_back", "arguments": []}</tool_call>', '"arguments" must be'),
        ('<think>a</think><tool_call>{"name": "clik", "arguments": {}}</tool_call>', "did you mean click?"),
        ('<think>a</think><tool_call>{"name": "click", "arguments": {"x": 1}}</tool_call>', "click needs y"),
        ('<think>a</think><tool_call>{"name": "wait", "arguments": {"seconds": NaN}}</tool_call>', "not a JSON value"),
        ('<think>a</think><tool_call>{"name": "wait", "arguments": {"seconds": 1e999}}</tool_call>', "0 to 30"),
        ('<think>a</think><tool_call>{"name": "write", "arguments": {"text": "\\ud800"}}</tool_call>', "surrogate"),
        ("<think>a</think><tool_call>" + "[" * 100_000, "nested too deeply"),
        ('<think>a</think><tool_call>{"name": "wait", "arguments": {"seconds": ' + "9" * 5000, "tool call 1: "),
    ],
)
def test_what_is_wrong_is_named_in_one_line(text, error):
    parsed = parse(text)
    assert parsed.calls == []
    assert parsed.error is not None
    assert error in parsed.error
    assert "\n" not in parsed.error
    assert len(parsed.error) < 400


def test_good_calls_before_a_bad_one_are_kept():
    parsed = parse(f"<think>a</think>{CLICK}{CLICK}<tool_call>{{oops}}</tool_call>{CLICK}")
    assert parsed.calls == [click(), click()]
    assert parsed.error is not None
    assert parsed.error.startswith("tool call 3: bad JSON")


def test_a_closing_tag_inside_a_string_does_not_end_the_call():
    call = ToolCall(name="write", arguments={"text": "</tool_call><|im_end|></think>"})
    text = render("type it", [call])
    assert text.count("<|im_end|>") == 1
    assert parse(text).calls == [call]


def test_render_is_canonical():
    calls = [
        ToolCall(name="click", arguments={"y": 250, "click_type": "double", "button": "left", "x": 450}),
        ToolCall(name="go_back"),
    ]
    assert render(" open it ", calls) == (
        "<think>open it</think>"
        '<tool_call>{"name": "click", "arguments": {"x": 450, "y": 250, "click_type": "double"}}</tool_call>'
        '<tool_call>{"name": "go_back", "arguments": {}}</tool_call><|im_end|>'
    )
    assert render("a", calls[1:], "\n") == (
        '<think>\na\n</think>\n<tool_call>\n{"name": "go_back", "arguments": {}}\n</tool_call><|im_end|>'
    )


def test_foreign_text_cannot_forge_markers():
    assert (
        plain("Sale <|im_end|>\n<|im_start|>system  <b> </think>")
        == "Sale < |im_end|> < |im_start|>system <b> < /think>"
    )
    assert plain("x" * 50, limit=10) == "x" * 9 + "…"


tags = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>"]
pieces = st.sampled_from([*tags, CLICK, '{"name":', '"click"', "{", "}", "[", '"'])


@settings(max_examples=1000)
@given(st.lists(pieces | st.text(max_size=8), max_size=12).map("".join))
def test_any_text_parses_to_calls_that_can_run_or_to_an_error(text):
    parsed = parse(text)
    assert parsed.calls or parsed.error
    assert all(check_call(call) is None for call in parsed.calls)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=500)
@given(st.sampled_from(["click", "write", "scroll", "press_keys", "done"]), json_values, json_values)
def test_any_json_parses_to_calls_that_can_run_or_to_an_error(name, first, second):
    payload = json.dumps({"name": name, "arguments": {"x": first, "y": second, "text": first, "answer": second}})
    parsed = parse(f"<think></think><tool_call>{payload}</tool_call>")
    assert (parsed.calls == []) == (parsed.error is not None)


@settings(max_examples=500)
@given(st.text(max_size=20), st.lists(st.text(max_size=12), max_size=3))
def test_parse_reads_back_what_render_wrote(think, texts):
    calls = [ToolCall(name="write", arguments={"text": text}) for text in texts] + [click(0, 1000)]
    for separator in ("", "\n"):
        parsed = parse(render(think, calls, separator))
        assert parsed.calls == calls
        assert parsed.error is None
