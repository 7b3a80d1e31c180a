"""What a model may call, and what it is told when a call is wrong."""

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webdojo.browser.actions import web_address
from webdojo.browser.keys import normalise_keys
from webdojo.browser.tools import TOOLS, ToolFailed, check_call, json_schema, signature
from webdojo.types import ToolCall

GOOD = [
    ("click", {"x": 0, "y": 1000}),
    ("click", {"x": 5, "y": 5, "button": "right", "click_type": "double"}),
    ("hover", {"x": 1, "y": 2}),
    ("drag", {"x1": 1, "y1": 2, "x2": 3, "y2": 4}),
    ("write", {"text": ""}),
    ("press_keys", {"keys": ["ctrl+a", "Backspace"]}),
    ("scroll", {"direction": "down", "amount": 0.5}),
    ("scroll", {"direction": "left", "amount": 1, "x": 3, "y": 4}),
    ("goto_url", {"url": "http://a.localhost/"}),
    ("go_back", {}),
    ("wait", {"seconds": 0}),
    ("new_tab", {}),
    ("switch_tab", {"index": 0}),
    ("close_tab", {}),
    ("done", {"answer": ""}),
    ("done", {}),
]

BAD = [
    ("clik", {"x": 1, "y": 1}, "did you mean click?"),
    ("teleport_now", {}, "tools: click, hover"),
    ("click", {"x": 1}, 'click needs y; use click(x, y, button="left", click_type="single")'),
    ("click", {"x": 1, "y": 2, "z": 3}, 'click has no argument "z"'),
    ("click", {"x": "1", "y": 2}, "x must be an integer, not '1'"),
    ("click", {"x": True, "y": 2}, "x must be an integer, not True"),
    ("click", {"x": 1.5, "y": 2}, "x must be an integer, not 1.5"),
    ("click", {"x": 1001, "y": 2}, "x must be 0 to 1000, not 1001"),
    ("click", {"x": 1, "y": -1}, "y must be 0 to 1000, not -1"),
    ("click", {"x": 1, "y": 1, "button": "up"}, "button must be one of left, right, middle"),
    ("click", {"x": None, "y": 1}, "x must be an integer, not None"),
    ("write", {"text": ["a"]}, "text must be a string"),
    ("press_keys", {"keys": []}, "keys must not be empty"),
    ("press_keys", {"keys": "Enter"}, "keys must be a list of strings, not 'Enter'"),
    ("press_keys", {"keys": [1]}, "keys must be a list of strings"),
    ("scroll", {"direction": "down", "amount": 0}, "amount must be above 0 and at most 10"),
    ("scroll", {"direction": "down", "amount": math.nan}, "amount must be above 0 and at most 10"),
    ("scroll", {"direction": "down", "amount": 1, "x": 3}, "give both x and y"),
    ("goto_url", {"url": ""}, "url must not be empty"),
    ("wait", {"seconds": 31}, "seconds must be 0 to 30"),
    ("switch_tab", {"index": -1}, "index must be 0 or more"),
    ("go_back", {"steps": 1}, 'go_back has no argument "steps"; use go_back()'),
    ("write", {}, "write needs text"),
]


def test_the_tools_are_those_of_the_papers_table_in_its_order() -> None:
    assert list(TOOLS) == [
        *("click", "hover", "drag", "write", "press_keys", "scroll", "goto_url", "go_back"),
        *("wait", "new_tab", "switch_tab", "close_tab", "done"),
    ]


@pytest.mark.parametrize(("name", "arguments"), GOOD)
def test_good_calls_pass(name: str, arguments: dict[str, Any]) -> None:
    assert check_call(ToolCall(name=name, arguments=arguments)) is None


@pytest.mark.parametrize(("name", "arguments", "reason"), BAD)
def test_bad_calls_get_a_one_line_reason(name: str, arguments: dict[str, Any], reason: str) -> None:
    said = check_call(ToolCall(name=name, arguments=arguments))
    assert said is not None and reason in said
    assert "\n" not in said and len(said) < 160


def test_signatures_show_defaults() -> None:
    assert signature("click") == 'click(x, y, button="left", click_type="single")'
    assert signature("scroll") == "scroll(direction, amount, x=None, y=None)"
    assert signature("new_tab") == "new_tab()"


def test_schemas_are_openai_functions() -> None:
    schema = json_schema("click")
    assert schema["type"] == "function" and schema["function"]["name"] == "click"
    parameters = schema["function"]["parameters"]
    assert parameters["required"] == ["x", "y"]
    assert parameters["properties"]["x"]["maximum"] == 1000
    assert parameters["properties"]["button"]["enum"] == ["left", "right", "middle"]
    assert json_schema("press_keys")["function"]["parameters"]["properties"]["keys"]["type"] == "array"
    json.dumps([json_schema(name) for name in TOOLS])


KEYS = st.one_of(
    st.sampled_from(["ctrl", "Shift", " ctrl ", "alt", "+", " ", "  a", "A", "Enter", "ctrl+a", "ctrl+İ", "a+", ""]),
    st.text(max_size=4),
)


@given(st.lists(KEYS, max_size=4))
@example(["ctrl", " "])
@example(["shift", "  a"])
@example(["shift", "ctrl+İ"])
def test_keys_that_pass_can_be_pressed(keys: list[str]) -> None:
    if check_call(ToolCall(name="press_keys", arguments={"keys": keys})) is None:
        assert all(normalise_keys(keys))


@given(st.one_of(st.text(), st.text("[]:/@?#.ahtps1%").map("http://{}".format)))
@example("http://[")
@example("[x")
def test_addresses_that_pass_can_be_opened_or_are_refused(url: str) -> None:
    if check_call(ToolCall(name="goto_url", arguments={"url": url})) is None:
        with contextlib.suppress(ToolFailed):
            assert web_address(url).lower().startswith("http")
