"""The actions of WebArena-Lite (WebAgent-R1, appendix A and table 7) and the tool calls that they stand for.

`calls_of` and `action_for` are inverse to each other, with one exception: typing into a list of options is the
action `Select Dropdown Option`, which has the same calls as `Type`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webdojo.agent.harness import ElementAt
from webdojo.agent.pycall import SHOWN, PyCall, nearest
from webdojo.agent.toolcall import brief, plain
from webdojo.browser.page.elements import ListNumber
from webdojo.browser.tools import check_call
from webdojo.errors import HarnessError
from webdojo.types import ToolCall

SCROLL_AMOUNT = 0.5
"""The fraction of the window that one scroll moves."""
WAIT_SECONDS = 2

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

_ENTER = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
_FORWARD = ToolCall(name="press_keys", arguments={"keys": ["alt+ArrowRight"]})
_BACK = ToolCall(name="go_back")
_NEW_TAB = ToolCall(name="new_tab")
_CLOSE_TAB = ToolCall(name="close_tab")
_WAIT = ToolCall(name="wait", arguments={"seconds": WAIT_SECONDS})

Functions = Mapping[str, tuple[str, ...]]
"""Arguments by the function's name."""
FunctionCall = tuple[str, dict[str, str]]
"""A function and its arguments."""

_SINGLE_CALLS: list[tuple[ToolCall, FunctionCall]] = [
    (_ENTER, ("do", {"action": "Press Enter"})),
    (_WAIT, ("do", {"action": "Wait"})),
    (_BACK, ("go_backward", {})),
    (_FORWARD, ("go_forward", {})),
    (_NEW_TAB, ("new_tab", {})),
    (_CLOSE_TAB, ("close_tab", {})),
]


def calls_of(call: PyCall) -> list[ToolCall]:
    """The tool calls of an action.

    Args:
        call: a call of a function of `FUNCTIONS` or `ADDRESS_BAR`.

    Raises:
        ValueError: an argument is missing or wrong; the message says which.
    """
    values = call.bound((FUNCTIONS | ADDRESS_BAR)[call.function])
    match call.function:
        case "do":
            calls = _do(values)
        case "exit":
            calls = [ToolCall(name="done", arguments={"answer": values.get("message", "")})]
        case "go_backward":
            calls = [_BACK]
        case "go_forward":
            calls = [_FORWARD]
        case "goto":
            calls = [ToolCall(name="goto_url", arguments={"url": values.get("url", "")})]
        case "new_tab":
            calls = [_NEW_TAB]
        case _:
            calls = [_CLOSE_TAB]
    for each in calls:
        if (reason := check_call(each)) is not None:
            raise ValueError(reason)
    return calls


def action_for(calls: Sequence[ToolCall], element_at: ElementAt, functions: Functions) -> tuple[FunctionCall, int]:
    """The action for the first of some tool calls, and how many of them it covers.

    Args:
        element_at: the number of the control at a point.
        functions: the functions that may be used.

    Raises:
        HarnessError: no action does what the first call does.
    """
    first = calls[0]
    for call, said in _SINGLE_CALLS:
        if call == first and said[0] in functions:
            return said, 1
    match first.name:
        case "click" | "hover":
            if (element := _element(first, element_at)) is not None:
                return _pointed(calls, element)
        case "scroll" if first.arguments == _scroll(first.arguments["direction"]).arguments:
            if first.arguments["direction"] in ("up", "down"):
                return ("do", {"action": f"Scroll {first.arguments['direction'].title()}"}), 1
        case "switch_tab":
            return ("do", {"action": "Switch Tab", "argument": str(first.arguments["index"])}), 1
        case "goto_url" if "goto" in functions:
            return ("goto", {"url": first.arguments["url"]}), 1
        case "done":
            return ("exit", {"message": first.arguments["answer"]}), 1
    raise HarnessError(f"no action says {brief([first])}; there are {', '.join([*functions, *ACTIONS])}")


def _do(values: Mapping[str, str]) -> list[ToolCall]:
    if "action" not in values:
        raise ValueError(f"do needs an action: {', '.join(ACTIONS)}")
    said = " ".join(values["action"].replace("_", " ").split())
    action = _BY_NAME.get(said.casefold())
    if action is None:
        raise ValueError(f'unknown action "{plain(said, SHOWN)}"; {nearest(said, list(ACTIONS))}')
    for name in ACTIONS[action]:
        if name not in values:
            raise ValueError(f"{action} needs {name}")
    text = values.get("argument", "")
    at = {"element": _number("element", values["element"])} if "element" in ACTIONS[action] else {}
    click = ToolCall(name="click", arguments=at)
    match action:
        case "Click":
            return [click]
        case "Right Click":
            return [ToolCall(name="click", arguments={**at, "button": "right"})]
        case "Hover":
            return [ToolCall(name="hover", arguments=at)]
        case "Type" | "Select Dropdown Option":
            return [click, _write(text)]
        case "Search":
            return [click, _write(text), _ENTER]
        case "Press Enter":
            return [_ENTER]
        case "Wait":
            return [_WAIT]
        case "Switch Tab":
            return [ToolCall(name="switch_tab", arguments={"index": _number("argument", text)})]
        case _:
            return [_scroll("up" if action == "Scroll Up" else "down")]


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


def _element(call: ToolCall, element_at: ElementAt) -> int | None:
    if "element" in call.arguments:
        number: int = call.arguments["element"]
        return number
    return element_at(call.arguments["x"], call.arguments["y"])


def _number(name: str, text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _NUMBER_DIGITS):
        raise ValueError(f'{name} must be a number, such as "7", not "{plain(text, SHOWN)}"')
    return int(digits)


def _write(text: str) -> ToolCall:
    return ToolCall(name="write", arguments={"text": text})


def _scroll(direction: str) -> ToolCall:
    return ToolCall(name="scroll", arguments={"direction": direction, "amount": SCROLL_AMOUNT})
