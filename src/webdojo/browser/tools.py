"""The 13 browser tools (OpenWebRL Table 6): one table defines what each call may look like.

Prompts, the call checker and the session all read `TOOLS`, so a model is told exactly what is accepted. Every
coordinate is an integer in 0..1000 of the viewport, whatever its size in pixels. Harnesses whose agents name elements
by number send `element` where a tool takes `x` and `y`; no schema shows it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Literal

from webdojo.browser.keys import combine, read_chord
from webdojo.types import ToolCall

COORDINATE_MAX = 1000
"""Coordinates run from 0 to this, both ends included."""


class ToolFailed(Exception):
    """The call was well-formed but cannot be executed here and now; the message is what the agent reads."""


ArgumentKind = Literal["integer", "number", "string", "keys"]

_KIND_NAMES = {"integer": "an integer", "number": "a number", "string": "a string", "keys": "a list of strings"}


@dataclass(frozen=True)
class ArgumentSpec:
    """One argument of a tool."""

    name: str
    kind: ArgumentKind
    about: str
    required: bool = True
    default: str | None = None
    """The value of an optional argument that is not given; None means that it has none."""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    low_excluded: bool = False
    nonempty: bool = False


@dataclass(frozen=True)
class ToolSpec:
    """One tool, with its arguments in the order in which signatures show them."""

    name: str
    about: str
    arguments: tuple[ArgumentSpec, ...] = ()

    def argument(self, name: str) -> ArgumentSpec | None:
        return next((argument for argument in self.arguments if argument.name == name), None)


def _coordinate(name: str, about: str, required: bool = True) -> ArgumentSpec:
    return ArgumentSpec(name, "integer", about, required=required, low=0, high=COORDINATE_MAX)


_X = _coordinate("x", "Horizontal position, 0 (left) to 1000 (right).")
_Y = _coordinate("y", "Vertical position, 0 (top) to 1000 (bottom).")
_BUTTONS = ("left", "right", "middle")
_CLICKS = ("single", "double")
_DIRECTIONS = ("up", "down", "left", "right")

_SPECS = (
    ToolSpec(
        "click",
        "Click the mouse at a point of the screen.",
        (
            _X,
            _Y,
            ArgumentSpec("button", "string", "Mouse button.", required=False, default="left", choices=_BUTTONS),
            ArgumentSpec("click_type", "string", "Clicks in a row.", required=False, default="single", choices=_CLICKS),
        ),
    ),
    ToolSpec("hover", "Move the mouse to a point, to show tooltips or open menus.", (_X, _Y)),
    ToolSpec(
        "drag",
        "Press the left button at one point and release it at another.",
        (
            _coordinate("x1", "Start, horizontal, 0..1000."),
            _coordinate("y1", "Start, vertical, 0..1000."),
            _coordinate("x2", "End, horizontal, 0..1000."),
            _coordinate("y2", "End, vertical, 0..1000."),
        ),
    ),
    ToolSpec(
        "write",
        "Clear the focused field and type text into it.",
        (ArgumentSpec("text", "string", "Text to type; empty only clears."),),
    ),
    ToolSpec(
        "press_keys",
        "Press keys one after another, or a combination such as ctrl+a.",
        (ArgumentSpec("keys", "keys", 'Key names, for example ["Enter"] or ["ctrl+a", "Backspace"].', nonempty=True),),
    ),
    ToolSpec(
        "scroll",
        "Scroll the page, or the element at a point, by a fraction of the viewport.",
        (
            ArgumentSpec("direction", "string", "Where to.", choices=_DIRECTIONS),
            ArgumentSpec("amount", "number", "Fraction of the viewport.", low=0, high=10, low_excluded=True),
            _coordinate("x", "Point to scroll at; with y. The middle of the screen if absent.", required=False),
            _coordinate("y", "Point to scroll at; with x.", required=False),
        ),
    ),
    ToolSpec(
        "goto_url",
        "Open an address in the current tab.",
        (ArgumentSpec("url", "string", "An http or https address.", nonempty=True),),
    ),
    ToolSpec("go_back", "Go back to the previous page of this tab."),
    ToolSpec(
        "wait",
        "Pause, to let the page settle.",
        (ArgumentSpec("seconds", "number", "Seconds to pause.", low=0, high=30),),
    ),
    ToolSpec("new_tab", "Open a new blank tab."),
    ToolSpec("switch_tab", "Switch to another tab.", (ArgumentSpec("index", "integer", "0 is the first tab.", low=0),)),
    ToolSpec("close_tab", "Close the current tab."),
    ToolSpec(
        "done",
        "End the task and give the final answer.",
        (ArgumentSpec("answer", "string", "The final answer, or a short report of what was done."),),
    ),
)

TOOLS: dict[str, ToolSpec] = {spec.name: spec for spec in _SPECS}
"""All tools by name, in the order of the table in the paper."""


def check_call(call: ToolCall) -> str | None:
    """Return why a call cannot be executed, in one line, or None where it can."""
    spec = TOOLS.get(call.name)
    if spec is None:
        nearest = difflib.get_close_matches(call.name, TOOLS, n=1, cutoff=0.5)
        hint = f"did you mean {nearest[0]}?" if nearest else f"tools: {', '.join(TOOLS)}"
        return f'unknown tool "{_short(call.name)}"; {hint}'
    if "element" in call.arguments and spec.argument("x") is not None:
        return _check_element(call, spec)
    for name in call.arguments:
        if spec.argument(name) is None:
            return f'{spec.name} has no argument "{_short(name)}"; use {signature(spec.name)}'
    for argument in spec.arguments:
        if argument.name in call.arguments:
            reason = _check_value(argument, call.arguments[argument.name])
            if reason is not None:
                return f"{spec.name}: {argument.name} {reason}"
        elif argument.required:
            return f"{spec.name} needs {argument.name}; use {signature(spec.name)}"
    if spec.name == "scroll" and ("x" in call.arguments) != ("y" in call.arguments):
        return "scroll: give both x and y, or neither"
    return None


def _check_element(call: ToolCall, spec: ToolSpec) -> str | None:
    """Check a call that names an element by number instead of a point; see `check_call`."""
    number = call.arguments["element"]
    if not _has_kind("integer", number) or number < 1:
        return f"{spec.name}: element must be the number of an element, not {_short(repr(number))}"
    if "x" in call.arguments or "y" in call.arguments:
        return f"{spec.name}: give an element or a point, not both"
    rest = {name: value for name, value in call.arguments.items() if name != "element"}
    return check_call(ToolCall(name=call.name, arguments={**rest, "x": 0, "y": 0}))


def json_schema(name: str) -> dict[str, Any]:
    """Return the tool as an OpenAI function definition."""
    spec = TOOLS[name]
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.about,
            "parameters": {
                "type": "object",
                "properties": {argument.name: _argument_schema(argument) for argument in spec.arguments},
                "required": [argument.name for argument in spec.arguments if argument.required],
                "additionalProperties": False,
            },
        },
    }


def signature(name: str) -> str:
    """Return the tool as one line: `click(x, y, button="left", click_type="single")`."""
    shown = []
    for argument in TOOLS[name].arguments:
        if argument.required:
            shown.append(argument.name)
        elif argument.default is None:
            shown.append(f"{argument.name}=None")
        else:
            shown.append(f'{argument.name}="{argument.default}"')
    return f"{name}({', '.join(shown)})"


def _argument_schema(argument: ArgumentSpec) -> dict[str, Any]:
    if argument.kind == "keys":
        return {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": argument.about}
    schema: dict[str, Any] = {"type": argument.kind, "description": argument.about}
    if argument.choices:
        schema["enum"] = list(argument.choices)
    if argument.default is not None:
        schema["default"] = argument.default
    if argument.low is not None:
        schema["exclusiveMinimum" if argument.low_excluded else "minimum"] = argument.low
    if argument.high is not None:
        schema["maximum"] = argument.high
    if argument.nonempty:
        schema["minLength"] = 1
    return schema


def _check_value(argument: ArgumentSpec, value: object) -> str | None:
    if not _has_kind(argument.kind, value):
        return f"must be {_KIND_NAMES[argument.kind]}, not {_short(repr(value))}"
    if argument.choices and value not in argument.choices:
        return f"must be one of {', '.join(argument.choices)}, not {_short(repr(value))}"
    if argument.nonempty and value in ("", []):
        return "must not be empty"
    if argument.kind == "keys" and isinstance(value, list):
        unknown = next((key for key in combine(value) if read_chord(key) is None), None)
        if unknown is not None:
            return f"has an unknown key {_short(repr(unknown))}; to type text use write"
    if isinstance(value, int | float) and not _in_range(argument, value):
        return f"must be {_range(argument)}, not {_short(repr(value))}"
    return None


def _has_kind(kind: ArgumentKind, value: object) -> bool:
    if isinstance(value, bool):  # JSON true is a Python int
        return False
    if kind == "integer":
        return isinstance(value, int)
    if kind == "number":
        return isinstance(value, int | float)
    if kind == "string":
        return isinstance(value, str)
    return isinstance(value, list) and all(isinstance(key, str) for key in value)


def _in_range(argument: ArgumentSpec, value: float) -> bool:
    """Whether the value is in the argument's range; NaN is in none."""
    if argument.low is not None and not (value > argument.low if argument.low_excluded else value >= argument.low):
        return False
    return argument.high is None or value <= argument.high


def _range(argument: ArgumentSpec) -> str:
    if argument.high is None:
        return f"{argument.low:g} or more"
    if argument.low_excluded:
        return f"above {argument.low:g} and at most {argument.high:g}"
    return f"{argument.low:g} to {argument.high:g}"


def _short(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
