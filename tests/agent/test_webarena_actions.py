"""Each action, the tool calls that it stands for, and the way back."""

import pytest

from webdojo.agent.harness import no_elements
from webdojo.agent.pycall import PyCall, find, read
from webdojo.agent.webarena_actions import ACTIONS, ADDRESS_BAR, FUNCTIONS, action_for, calls_of
from webdojo.browser.tools import ListNumber, check_call
from webdojo.errors import HarnessError
from webdojo.types import ToolCall

ALL = FUNCTIONS | ADDRESS_BAR


def tool(name: str, **arguments: object) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


CLICK, MUG, ENTER = tool("click", element=7), tool("write", text="mug"), tool("press_keys", keys=["Enter"])

SAID = {
    'do(action="Click", element="7")': [CLICK],
    'do(action="Right Click", element="7")': [tool("click", element=7, button="right")],
    'do(action="Hover", element="7")': [tool("hover", element=7)],
    'do(action="Type", argument="mug", element="7")': [CLICK, MUG],
    'do(action="Search", argument="mug", element="7")': [CLICK, MUG, ENTER],
    'do(action="Press Enter")': [ENTER],
    'do(action="Scroll Up")': [tool("scroll", direction="up", amount=0.5)],
    'do(action="Scroll Down")': [tool("scroll", direction="down", amount=0.5)],
    'do(action="Switch Tab", argument="1")': [tool("switch_tab", index=1)],
    'do(action="Wait")': [tool("wait", seconds=2)],
    "go_backward()": [tool("go_back")],
    "go_forward()": [tool("press_keys", keys=["alt+ArrowRight"])],
    'goto(url="http://a.localhost/")': [tool("goto_url", url="http://a.localhost/")],
    "new_tab()": [tool("new_tab")],
    "close_tab()": [tool("close_tab")],
    'exit(message="29.90")': [tool("done", answer="29.90")],
}


def parsed(text: str) -> PyCall:
    begin = find(ALL, text)
    assert begin is not None
    return read(text, begin)[0]


@pytest.mark.parametrize(("text", "calls"), SAID.items())
def test_actions_and_calls_say_the_same(text, calls):
    assert calls_of(parsed(text)) == calls
    assert not [reason for reason in map(check_call, calls) if reason]
    (function, arguments), said = action_for([*calls, tool("go_back")], no_elements, ALL)
    assert (PyCall(function, named=dict(arguments)), said) == (parsed(text), len(calls))


def test_a_list_is_typed_into_by_an_action_of_its_own():
    text = 'do(action="Select Dropdown Option", argument="mug", element="7")'
    assert calls_of(parsed(text)) == [CLICK, MUG]
    calls = [tool("click", x=10, y=20), MUG]
    assert action_for(calls, lambda x, y: ListNumber(7), ALL)[0] == ("do", dict(parsed(text).named))
    assert action_for(calls, lambda x, y: 7, ALL)[0][1]["action"] == "Type"
    assert {parsed(text).named["action"], *(parsed(text).named.get("action") for text in SAID)} >= set(ACTIONS)


def test_points_are_named_by_the_element_there():
    hover = tool("hover", x=3, y=1200)
    assert action_for([hover], lambda x, y: x + y, ALL)[0] == ("do", {"action": "Hover", "element": "1203"})
    explicit = tool("click", x=3, y=4, button="left", click_type="single")
    assert action_for([explicit], lambda x, y: 1, ALL)[0] == ("do", {"action": "Click", "element": "1"})


@pytest.mark.parametrize(
    "call",
    [
        tool("click", x=10, y=20),
        tool("click", element=7, click_type="double"),
        tool("click", element=7, button="middle"),
        tool("drag", x1=1, y1=2, x2=3, y2=4),
        tool("write", text="mug"),
        tool("press_keys", keys=["Tab"]),
        tool("scroll", direction="left", amount=0.5),
        tool("scroll", direction="down", amount=0.25),
        tool("scroll", direction="down", amount=0.5, x=1, y=2),
        tool("wait", seconds=3),
        tool("close_tab"),
        tool("goto_url", url="http://a.localhost/"),
        tool("new_tab"),
    ],
)
def test_what_no_action_says_is_an_error_that_names_it(call):
    with pytest.raises(HarnessError, match=rf"no action says {call.name}\("):
        action_for([call], no_elements, FUNCTIONS)


def test_names_of_actions_are_read_leniently():
    for text in ('do("scroll_down")', 'do(action=" Scroll  DOWN ")', 'do("Scroll Down", None, 5)'):
        assert calls_of(parsed(text)) == SAID['do(action="Scroll Down")']
    assert calls_of(parsed('do("Type", 2023, 7)')) == [CLICK, tool("write", text="2023")]
    assert calls_of(parsed("exit(29.90)")) == [tool("done", answer="29.90")]
