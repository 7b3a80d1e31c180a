"""Actions and tool calls mean each other."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from webdojo.browser.tools import TOOLS, check_call
from webdojo.errors import ActionError
from webdojo.gym import ACTION_SPACE, to_action, to_call
from webdojo.gym.spaces import TOOL_NAMES
from webdojo.types import ToolCall

CALLS = [
    ToolCall(name="click", arguments={"x": 0, "y": 1000}),
    ToolCall(name="click", arguments={"x": 5, "y": 7, "button": "middle", "click_type": "double"}),
    ToolCall(name="hover", arguments={"x": 500, "y": 3}),
    ToolCall(name="drag", arguments={"x1": 1, "y1": 2, "x2": 3, "y2": 4}),
    ToolCall(name="write", arguments={"text": "grün ♥ 确定\n"}),
    ToolCall(name="write", arguments={"text": ""}),
    ToolCall(name="press_keys", arguments={"keys": ["ctrl+a", "Backspace", "é"]}),
    ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.3}),
    ToolCall(name="scroll", arguments={"direction": "left", "amount": 10, "x": 0, "y": 0}),
    ToolCall(name="goto_url", arguments={"url": "https://example.org/?q=a b"}),
    ToolCall(name="go_back"),
    ToolCall(name="wait", arguments={"seconds": 1.5}),
    ToolCall(name="new_tab"),
    ToolCall(name="switch_tab", arguments={"index": 2}),
    ToolCall(name="close_tab"),
    ToolCall(name="done", arguments={"answer": "42"}),
]


def test_the_table_has_every_tool():
    assert {call.name for call in CALLS} == set(TOOLS) == set(TOOL_NAMES)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_call_comes_back_from_its_action(call):
    action = to_action(call)
    assert ACTION_SPACE.contains(action)
    assert TOOL_NAMES[action["tool"]] == call.name
    assert to_call(action) == call


def test_the_choices_and_ranges_are_those_of_the_tools():
    for tool, argument, field in (
        ("click", "button", "button"),
        ("click", "click_type", "clicks"),
        ("scroll", "direction", "direction"),
    ):
        choices = ACTION_SPACE[field]
        assert isinstance(choices, spaces.Discrete)
        assert choices.n == len(TOOLS[tool].arguments[argument]["enum"])
    for tool, number in (("wait", "seconds"), ("scroll", "amount")):
        space, schema = ACTION_SPACE[number], TOOLS[tool].arguments[number]
        assert isinstance(space, spaces.Box)
        assert float(space.low) == schema.get("minimum", schema.get("exclusiveMinimum"))
        assert float(space.high) == schema["maximum"]


def test_defaults_and_spellings_of_keys_become_one():
    spoken = ToolCall(name="click", arguments={"x": 1, "y": 2, "button": "left", "click_type": "single"})
    assert to_call(to_action(spoken)) == ToolCall(name="click", arguments={"x": 1, "y": 2})
    keys = ToolCall(name="press_keys", arguments={"keys": ["ctrl + Enter", " ", "Page Down"]})
    same = to_call(to_action(keys))
    assert same.arguments["keys"] == ["ctrl+Enter", "Space", "PageDown"]
    assert check_call(same) is None


def test_sampled_actions_are_calls_and_come_back_where_the_browser_would_take_them():
    ACTION_SPACE.seed(1)
    taken = 0
    for _ in range(300):
        call = to_call(ACTION_SPACE.sample())
        if check_call(call) is None:
            taken += 1
            assert to_call(to_action(call)) == call
    assert taken > 200


@pytest.mark.parametrize(
    ("action", "refusal"),
    [
        ({"tool": TOOL_NAMES.index("press_keys"), "text": ""}, "must not be empty"),
        ({"tool": TOOL_NAMES.index("press_keys"), "text": "hello"}, "unknown key"),
        ({"tool": TOOL_NAMES.index("goto_url"), "text": ""}, "must not be empty"),
        ({"tool": TOOL_NAMES.index("scroll"), "direction": 0, "amount": 0.0, "pointed": 0}, "above 0"),
    ],
)
def test_nonsense_inside_the_space_is_a_call_that_the_browser_answers(action, refusal):
    """Also: fields that the tool does not use may be missing."""
    assert refusal in (check_call(to_call(action)) or "")


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ({"tool": 13}, r"the action's tool is 13, outside Discrete\(13\)"),
        ({"tool": 1}, "the action has no field 'point'"),
        ({"tool": 1, "point": np.array([3, 1001])}, r"the action's point is array\(\[   3, 1001\]\), outside"),
        ({"tool": 3, "text": "x" * 5000}, r"the action's text is 'xxx.*outside AnyText\(4096\)"),
        ({"tool": 8, "seconds": 31}, "the action's seconds is 31, outside"),
    ],
)
def test_what_lies_outside_the_space_is_an_error(action, says):
    with pytest.raises(ActionError, match=says):
        to_call(action)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (ToolCall(name="clik"), "unknown tool"),
        (ToolCall(name="hover", arguments={"x": 1}), "hover needs y"),
        (ToolCall(name="write", arguments={"text": "x" * 4097}), "4097 characters; an action holds 4096"),
        (ToolCall(name="switch_tab", arguments={"index": 100}), "index 100 is too high"),
    ],
)
def test_calls_without_an_action_are_an_error(call, says):
    with pytest.raises(ActionError, match=says):
        to_action(call)
