"""The 13 tools as a Gymnasium action space, and back.

An action has every field of every tool; `tool` selects the call, and fields that this tool does not use
are ignored. `to_call` and `to_action` are pure and inverse to each other, except for arguments that equal
their default and the spelling of keys. An action may be invalid, such as keys that no keyboard has: the
browser then answers with feedback, as it does to a model.

| tool | fields |
|---|---|
| click | `point`, `button`, `clicks` |
| hover | `point` |
| drag | `point` to `end` |
| write, done | `text` |
| press_keys | `text`: keys with blanks between them, `ctrl+a Backspace`; the blank itself is `Space` |
| scroll | `direction`, `amount`; at `point` where `pointed` is 1, else in the middle |
| goto_url | `text`: the address |
| wait | `seconds` |
| switch_tab | `tab` |
| go_back, new_tab, close_tab | none |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from webdojo.browser.tools import COORDINATE_MAX, TOOLS, check_call
from webdojo.errors import ActionError
from webdojo.gym.observations import AnyText
from webdojo.types import ToolCall

TOOL_NAMES = tuple(TOOLS)
"""The tools by number, in the order of the paper's table."""
BUTTONS = ("left", "right", "middle")
CLICKS = ("single", "double")
DIRECTIONS = ("up", "down", "left", "right")
MAX_TABS = 100
"""The number of tabs that an action can switch to."""
MAX_TEXT = 4096
"""The most characters of `text`."""


def _points() -> spaces.MultiDiscrete:
    return spaces.MultiDiscrete([COORDINATE_MAX + 1, COORDINATE_MAX + 1])


ACTION_SPACE = spaces.Dict(
    {
        "tool": spaces.Discrete(len(TOOL_NAMES)),
        "point": _points(),
        "end": _points(),
        "pointed": spaces.Discrete(2),
        "button": spaces.Discrete(len(BUTTONS)),
        "clicks": spaces.Discrete(len(CLICKS)),
        "text": AnyText(MAX_TEXT),
        "direction": spaces.Discrete(len(DIRECTIONS)),
        "amount": spaces.Box(0, 10, (), np.float64),
        "seconds": spaces.Box(0, 30, (), np.float64),
        "tab": spaces.Discrete(MAX_TABS),
    }
)
"""Points are x and y in 0..1000 of the viewport, `amount` a fraction of it."""


def to_call(action: Mapping[str, Any]) -> ToolCall:
    """The tool call for an action; arguments that equal their default are left out.

    Args:
        action: a member of `ACTION_SPACE`; fields that its tool does not use may be missing.

    Raises:
        ActionError: a field that the tool uses is missing or outside the space.
    """
    name = TOOL_NAMES[_field(action, "tool")]
    return ToolCall(name=name, arguments=_arguments(name, action))


def _arguments(name: str, action: Mapping[str, Any]) -> dict[str, Any]:
    match name:
        case "click":
            button, clicks = BUTTONS[_field(action, "button")], CLICKS[_field(action, "clicks")]
            other = {"button": button} if button != BUTTONS[0] else {}
            return _xy(action, "point") | other | ({"click_type": clicks} if clicks != CLICKS[0] else {})
        case "hover":
            return _xy(action, "point")
        case "drag":
            return _xy(action, "point", "x1", "y1") | _xy(action, "end", "x2", "y2")
        case "write":
            return {"text": _field(action, "text")}
        case "press_keys":
            return {"keys": _field(action, "text").split()}
        case "scroll":
            at = _xy(action, "point") if _field(action, "pointed") else {}
            return {"direction": DIRECTIONS[_field(action, "direction")], "amount": _field(action, "amount")} | at
        case "goto_url":
            return {"url": _field(action, "text")}
        case "wait":
            return {"seconds": _field(action, "seconds")}
        case "switch_tab":
            return {"index": _field(action, "tab")}
        case "done":
            return {"answer": _field(action, "text")}
    return {}  # go_back, new_tab, close_tab


def to_action(call: ToolCall) -> dict[str, Any]:
    """The action for a tool call; fields that its tool does not use are zero or empty.

    Raises:
        ActionError: the browser would refuse the call, or its text or tab does not fit into an action.
    """
    reason = check_call(call)
    if reason is not None:
        raise ActionError(f"no action means this call: {reason}")
    given = call.arguments
    text = given.get("text") or given.get("url") or given.get("answer") or ""
    if len(text) > MAX_TEXT:
        raise ActionError(f"{call.name} has a text of {len(text)} characters; an action holds {MAX_TEXT}")
    if given.get("index", 0) >= MAX_TABS:
        raise ActionError(f"switch_tab index {given['index']} is too high; an action holds 0..{MAX_TABS - 1}")
    return {
        "tool": TOOL_NAMES.index(call.name),
        "point": np.array([given.get("x", given.get("x1", 0)), given.get("y", given.get("y1", 0))], np.int64),
        "end": np.array([given.get("x2", 0), given.get("y2", 0)], np.int64),
        "pointed": int(call.name == "scroll" and "x" in given),
        "button": BUTTONS.index(given.get("button", BUTTONS[0])),
        "clicks": CLICKS.index(given.get("click_type", CLICKS[0])),
        "text": " ".join(_without_blanks(key) for key in given["keys"]) if "keys" in given else text,
        "direction": DIRECTIONS.index(given.get("direction", DIRECTIONS[0])),
        "amount": np.array(given.get("amount", 0), np.float64),
        "seconds": np.array(given.get("seconds", 0), np.float64),
        "tab": given.get("index", 0),
    }


def _without_blanks(key: str) -> str:
    """The same key in a spelling without blanks."""
    return "".join(key.split()) or "Space"


def _xy(action: Mapping[str, Any], field: str, x: str = "x", y: str = "y") -> dict[str, int]:
    left, top = _field(action, field)
    return {x: left, y: top}


def _field(action: Mapping[str, Any], name: str) -> Any:
    """A field as plain Python: an int, a float, a string or a list of two ints."""
    if name not in action:
        raise ActionError(f"the action has no field {name!r}; see webdojo.gym.ACTION_SPACE")
    space = ACTION_SPACE[name]
    text = isinstance(space, AnyText)
    value = action[name] if text else np.asarray(action[name], space.dtype)
    if not space.contains(value):
        raise ActionError(f"the action's {name} is {action[name]!r:.80}, outside {space}; see webdojo.gym.ACTION_SPACE")
    return value if text else value.tolist()
