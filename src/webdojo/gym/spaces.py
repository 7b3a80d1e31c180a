"""Actions and observations as members of Gymnasium spaces.

An action has every field of every tool (docs/gymnasium.md lists them); `tool` selects the call, and fields that this
tool does not use are ignored. The keys of press_keys are words of `text`, and the blank is `Space`. `to_call` and
`to_action` are inverse to each other, except for arguments that equal their default and the spelling of keys. Invalid
actions, such as keys that no keyboard has, get feedback from the browser, as models do.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.error import CustomSpaceError
from gymnasium.vector.utils import create_shared_memory
from PIL import Image

from webdojo.browser.tools import COORDINATE_MAX, TOOLS, check_call, cut
from webdojo.errors import ActionError
from webdojo.types import Observation, ToolCall

TOOL_NAMES = tuple(TOOLS)
"""The tools by number, in the order of the paper's table."""
MAX_TABS = 100
"""The number of tabs that an action can switch to."""
MAX_TEXT = 4096
"""The most characters of `text`."""
_BUTTONS = TOOLS["click"].arguments["button"]["enum"]
_CLICKS = TOOLS["click"].arguments["click_type"]["enum"]
_DIRECTIONS = TOOLS["scroll"].arguments["direction"]["enum"]
_PRINTABLE_ASCII = "".join(chr(code) for code in range(32, 127))


class AnyText(spaces.Text):
    """Strings of up to `max_length` characters of any script; samples are printable ASCII."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=_PRINTABLE_ASCII)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"


@create_shared_memory.register(AnyText)
def _share_no_text(space: AnyText, n: int = 1, ctx: Any = None) -> NoReturn:
    """`AsyncVectorEnv` reads texts from its shared memory once, when it is made, so they would stay blank."""
    raise CustomSpaceError("texts cannot be shared: give vector_kwargs={'shared_memory': False}")


ACTION_SPACE = spaces.Dict(
    {
        "tool": spaces.Discrete(len(TOOL_NAMES)),
        "point": spaces.MultiDiscrete([COORDINATE_MAX + 1] * 2),
        "end": spaces.MultiDiscrete([COORDINATE_MAX + 1] * 2),
        "pointed": spaces.Discrete(2),
        "button": spaces.Discrete(len(_BUTTONS)),
        "clicks": spaces.Discrete(len(_CLICKS)),
        "text": AnyText(MAX_TEXT),
        "direction": spaces.Discrete(len(_DIRECTIONS)),
        "amount": spaces.Box(0, 10, (), np.float64),
        "seconds": spaces.Box(0, 30, (), np.float64),
        "tab": spaces.Discrete(MAX_TABS),
    }
)
"""Points are x and y in 0..1000 of the viewport, `amount` a fraction of it."""

_FIELDS = {
    **dict.fromkeys(("x", "y", "x1", "y1"), "point"),
    **dict.fromkeys(("x2", "y2"), "end"),
    **dict.fromkeys(("url", "answer", "keys"), "text"),
    "click_type": "clicks",
    "index": "tab",
}
"""The field that holds an argument; the others have the name of their field."""

TEXTS = {
    "url": AnyText(2048),
    "title": AnyText(512),
    "tabs": AnyText(8192),
    "instruction": AnyText(8192),
    "feedback": AnyText(2048),
}
"""`tabs` has one line a tab, `0 * http://… Title`, where the star marks the active one. `feedback` says what the last
action did; it is empty after a reset."""


def to_call(action: Mapping[str, Any]) -> ToolCall:
    """The tool call for an action; arguments that equal their default are left out.

    Raises:
        ActionError: a field that the tool uses is missing or outside the space; others may be missing.
    """
    if not isinstance(action, Mapping):
        raise ActionError(f"{action!r:.80} is no action, which is a dict: webdojo.gym.to_action makes one of a call")
    name = TOOL_NAMES[_field(action, "tool")]
    arguments = {}
    for argument, schema in TOOLS[name].arguments.items():
        field = _FIELDS.get(argument, argument)
        if name == "scroll" and field == "point" and not _field(action, "pointed"):
            continue
        value = _field(action, field)
        if field in ("point", "end"):
            value = value["xy".index(argument[0])]
        elif "enum" in schema:
            value = schema["enum"][value]
        elif schema["type"] == "array":
            value = value.split()
        if value != schema.get("default"):
            arguments[argument] = value
    return ToolCall(name=name, arguments=arguments)


def to_action(call: ToolCall) -> dict[str, Any]:
    """The action for a tool call; fields that its tool does not use are zero or empty.

    Raises:
        ActionError: the browser would refuse the call, or its text or tab does not fit into an action.
    """
    if not isinstance(call, ToolCall):
        raise ActionError(f"{call!r:.80} is no webdojo.types.ToolCall")
    reason = check_call(call)
    if reason is not None:
        raise ActionError(f"no action means this call: {reason}")
    given = call.arguments
    text = given.get("text") or given.get("url") or given.get("answer") or ""
    if len(text) > MAX_TEXT:
        raise ActionError(f"{call.name} has a text of {len(text)} characters; an action holds {MAX_TEXT}")
    if given.get("index", 0) >= MAX_TABS:
        raise ActionError(f"switch_tab index {given['index']} is too high; an action holds 0..{MAX_TABS - 1}")
    if "keys" in given:
        text = " ".join("".join(key.split()) or "Space" for key in given["keys"])  # in a spelling without blanks
    return {
        "tool": TOOL_NAMES.index(call.name),
        "point": np.array([given.get("x", given.get("x1", 0)), given.get("y", given.get("y1", 0))], np.int64),
        "end": np.array([given.get("x2", 0), given.get("y2", 0)], np.int64),
        "pointed": int(call.name == "scroll" and "x" in given),
        "button": _BUTTONS.index(given.get("button", _BUTTONS[0])),
        "clicks": _CLICKS.index(given.get("click_type", _CLICKS[0])),
        "text": text,
        "direction": _DIRECTIONS.index(given.get("direction", _DIRECTIONS[0])),
        "amount": np.array(given.get("amount", 0), np.float64),
        "seconds": np.array(given.get("seconds", 0), np.float64),
        "tab": given.get("index", 0),
    }


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


def observation_space(viewport_px: tuple[int, int]) -> spaces.Dict:
    """The space for a viewport of this width and height: `screenshot` (uint8, height × width × RGB) and `TEXTS`."""
    width, height = viewport_px
    return spaces.Dict({"screenshot": spaces.Box(0, 255, (height, width, 3), np.uint8), **deepcopy(TEXTS)})


def observe(seen: Observation, picture: bytes, instruction: str, feedback: str) -> dict[str, Any]:
    """A member of `observation_space(seen.viewport_px)`; `picture` is the encoded screenshot."""
    tabs = [f"{tab.index} {'* ' if tab.active else ''}{tab.url} {tab.title}".rstrip() for tab in seen.tabs]
    texts = {
        "url": seen.url,
        "title": seen.title,
        "tabs": "\n".join(tabs),
        "instruction": instruction,
        "feedback": feedback,
    }
    return {"screenshot": pixels(picture)} | {name: cut(texts[name], TEXTS[name].max_length) for name in TEXTS}


def pixels(picture: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Decode an image into an array of height × width × RGB."""
    return np.array(Image.open(io.BytesIO(picture)).convert("RGB"))
