"""The actions of WebArena-Lite (WebAgent-R1, appendix A and table 7) and the tool calls that they stand for.

`calls_of` and `action_for` are inverse to each other, with one exception: typing into a list of options is the
action `Select Dropdown Option`, which has the same calls as `Type`.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from webdojo.agent.harness import ElementAt
from webdojo.agent.pycall import SHOWN, PyCall
from webdojo.agent.toolcall import brief, plain
from webdojo.browser.tools import ListNumber, check_call
from webdojo.errors import HarnessError
from webdojo.types import ToolCall

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "do": ("action", "argument", "element"),
    "exit": ("message",),
    "go_backward": (),
    "go_forward": (),
}
"""The functions of the paper, with their arguments."""
ADDRESS_BAR: dict[str, tuple[str, ...]] = {"goto": ("url",), "new_tab": (), "close_tab": ()}
"""More functions, for what a person can do with the browser's own controls."""

_ELEMENT = ("element",)
_TEXT = ("argument", "element")
ACTIONS: dict[str, tuple[str, ...]] = {
    "Click": _ELEMENT,
    "Right Click": _ELEMENT,
    "Type": _TEXT,
    "Search": _TEXT,
    "Hover": _ELEMENT,
    "Scroll Up": (),
    "Scroll Down": (),
    "Press Enter": (),
    "Switch Tab": ("argument",),
    "Select Dropdown Option": _TEXT,
    "Wait": (),
}
"""The actions of `do`, with the arguments that each needs."""

_BY_NAME = {name.casefold(): name for name in ACTIONS}
_NUMBER_DIGITS = 9

_HALF_WINDOW, _WAIT_S = 0.5, 2
_ENTER = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
_FIXED = {
    "Scroll Up": ToolCall(name="scroll", arguments={"direction": "up", "amount": _HALF_WINDOW}),
    "Scroll Down": ToolCall(name="scroll", arguments={"direction": "down", "amount": _HALF_WINDOW}),
    "Press Enter": _ENTER,
    "Wait": ToolCall(name="wait", arguments={"seconds": _WAIT_S}),
    "go_backward": ToolCall(name="go_back"),
    "go_forward": ToolCall(name="press_keys", arguments={"keys": ["alt+ArrowRight"]}),
    "new_tab": ToolCall(name="new_tab"),
    "close_tab": ToolCall(name="close_tab"),
}
"""The call of each action, and of each function, that has no arguments."""

FunctionCall = tuple[str, dict[str, str]]
"""A function and its arguments."""


def calls_of(call: PyCall) -> list[ToolCall]:
    """The tool calls of an action; the message of a ValueError says which argument is missing or wrong."""
    values = call.bound((FUNCTIONS | ADDRESS_BAR)[call.function])
    match call.function:
        case "do":
            calls = _do(values)
        case "exit":
            calls = [ToolCall(name="done", arguments={"answer": values.get("message", "")})]
        case "goto":
            calls = [ToolCall(name="goto_url", arguments={"url": values.get("url", "")})]
        case function:
            calls = [_FIXED[function]]
    for each in calls:
        if (reason := check_call(each)) is not None:
            raise ValueError(reason)
    return calls


def action_for(calls: Sequence[ToolCall], element_at: ElementAt, names: Collection[str]) -> tuple[FunctionCall, int]:
    """The action for the first of some tool calls, and how many of them it covers; HarnessError if no name does."""
    first = calls[0]
    for name, call in _FIXED.items():
        said: FunctionCall = ("do", {"action": name}) if name in ACTIONS else (name, {})
        if call == first and said[0] in names:
            return said, 1
    match first.name:
        case "click" | "hover":
            at = first.arguments
            element = at["element"] if "element" in at else element_at(at["x"], at["y"])
            if element is not None:
                return _pointed(calls, element)
        case "switch_tab":
            return ("do", {"action": "Switch Tab", "argument": str(first.arguments["index"])}), 1
        case "goto_url" if "goto" in names:
            return ("goto", {"url": first.arguments["url"]}), 1
        case "done":
            return ("exit", {"message": first.arguments["answer"]}), 1
    raise HarnessError(f"no action says {brief([first])}; there are {', '.join([*names, *ACTIONS])}")


def _do(values: Mapping[str, str]) -> list[ToolCall]:
    if "action" not in values:
        raise ValueError(f"do needs an action: {', '.join(ACTIONS)}")
    said = " ".join(values["action"].replace("_", " ").split())
    action = _BY_NAME.get(said.casefold())
    if action is None:
        match = difflib.get_close_matches(said[:80], ACTIONS, n=1, cutoff=0.5)
        hint = f"did you mean {match[0]}?" if match else f"there are {', '.join(ACTIONS)}"
        raise ValueError(f'unknown action "{plain(said, SHOWN)}"; {hint}')
    for name in ACTIONS[action]:
        if name not in values:
            raise ValueError(f"{action} needs {name}")
    if action in _FIXED:
        return [_FIXED[action]]
    if action == "Switch Tab":
        return [ToolCall(name="switch_tab", arguments={"index": _number("argument", values["argument"])})]
    at = {"element": _number("element", values["element"])}
    click = ToolCall(name="click", arguments=at)
    typed = [click, ToolCall(name="write", arguments={"text": values.get("argument", "")})]
    named = {
        "Click": [click],
        "Right Click": [ToolCall(name="click", arguments={**at, "button": "right"})],
        "Hover": [ToolCall(name="hover", arguments=at)],
        "Search": [*typed, _ENTER],
    }
    return named.get(action, typed)


def _pointed(calls: Sequence[ToolCall], element: int) -> tuple[FunctionCall, int]:
    """The action for a click or a hover at an element, with the typing that may follow a click."""
    first, at = calls[0], {"element": str(element)}
    if first.name == "hover":
        return ("do", {"action": "Hover", **at}), 1
    kind = (first.arguments.get("button", "left"), first.arguments.get("click_type", "single"))
    if kind == ("right", "single"):
        return ("do", {"action": "Right Click", **at}), 1
    if kind != ("left", "single"):
        raise HarnessError(f"no action says {brief([first])}; there are {', '.join(ACTIONS)}")
    if len(calls) == 1 or calls[1].name != "write":
        return ("do", {"action": "Click", **at}), 1
    text = calls[1].arguments["text"]
    if len(calls) > 2 and calls[2] == _ENTER:
        return ("do", {"action": "Search", "argument": text, **at}), 3
    action = "Select Dropdown Option" if isinstance(element, ListNumber) else "Type"
    return ("do", {"action": action, "argument": text, **at}), 2


def _number(name: str, text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _NUMBER_DIGITS):
        raise ValueError(f'{name} must be a number, such as "7", not "{plain(text, SHOWN)}"')
    return int(digits)
