"""The 13 browser tools (OpenWebRL Table 6): one table defines what each call may look like.

Prompts, the call checker and the session all read `TOOLS`, so a model is told exactly what is accepted. Every
coordinate is an integer in 0..1000 of the viewport, whatever its size in pixels. Harnesses whose agents name elements
by number send `element` where a tool takes `x` and `y`; no schema shows it.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field
from typing import Any

from webdojo.browser.keys import combine, read_chord
from webdojo.types import ToolCall

COORDINATE_MAX = 1000
"""Coordinates run from 0 to this, both ends included."""

Schema = dict[str, Any]
"""JSON Schema of one argument."""


class ListNumber(int):
    """The number of a list of options, for action formats that have their own action for choosing an option."""


class ToolFailed(Exception):
    """The call was well-formed but cannot be executed here and now; the message is what the agent reads."""


@dataclass(frozen=True)
class Tool:
    """One tool, with its arguments by name in the order in which signatures show them."""

    about: str
    arguments: dict[str, Schema] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    forgiven: tuple[str, ...] = ()
    """Arguments that agents are told to give, and that count as empty where they do not."""


def _coordinate(about: str) -> Schema:
    return {"type": "integer", "description": about, "minimum": 0, "maximum": COORDINATE_MAX}


def _string(about: str, **rest: Any) -> Schema:
    return {"type": "string", "description": about, **rest}


_POINT = {
    "x": _coordinate("Horizontal position, 0 (left) to 1000 (right)."),
    "y": _coordinate("Vertical position, 0 (top) to 1000 (bottom)."),
}

TOOLS: dict[str, Tool] = {
    "click": Tool(
        "Click the mouse at a point of the screen.",
        {
            **_POINT,
            "button": _string("Mouse button.", enum=["left", "right", "middle"], default="left"),
            "click_type": _string("Clicks in a row.", enum=["single", "double"], default="single"),
        },
        optional=("button", "click_type"),
    ),
    "hover": Tool("Move the mouse to a point, to show tooltips or open menus.", _POINT),
    "drag": Tool(
        "Press the left button at one point and release it at another.",
        {
            "x1": _coordinate("Start, horizontal, 0..1000."),
            "y1": _coordinate("Start, vertical, 0..1000."),
            "x2": _coordinate("End, horizontal, 0..1000."),
            "y2": _coordinate("End, vertical, 0..1000."),
        },
    ),
    "write": Tool(
        "Clear the focused field and type text into it.", {"text": _string("Text to type; empty only clears.")}
    ),
    "press_keys": Tool(
        "Press keys one after another, or a combination such as ctrl+a.",
        {
            "keys": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": 'Key names, for example ["Enter"] or ["ctrl+a", "Backspace"].',
            }
        },
    ),
    "scroll": Tool(
        "Scroll the page, or the element at a point, by a fraction of the viewport.",
        {
            "direction": _string("Where to.", enum=["up", "down", "left", "right"]),
            "amount": {
                "type": "number",
                "description": "Fraction of the viewport.",
                "exclusiveMinimum": 0,
                "maximum": 10,
            },
            "x": _coordinate("Point to scroll at; with y. The middle of the screen if absent."),
            "y": _coordinate("Point to scroll at; with x."),
        },
        optional=("x", "y"),
    ),
    "goto_url": Tool("Open an address in the current tab.", {"url": _string("An http or https address.", minLength=1)}),
    "go_back": Tool("Go back to the previous page of this tab."),
    "wait": Tool(
        "Pause, to let the page settle.",
        {"seconds": {"type": "number", "description": "Seconds to pause.", "minimum": 0, "maximum": 30}},
    ),
    "new_tab": Tool("Open a new blank tab."),
    "switch_tab": Tool(
        "Switch to another tab.", {"index": {"type": "integer", "description": "0 is the first tab.", "minimum": 0}}
    ),
    "close_tab": Tool("Close the current tab."),
    "done": Tool(
        "End the task and give the final answer.",
        {"answer": _string("The final answer, or a short report of what was done.")},
        forgiven=("answer",),
    ),
}
"""All tools by name, in the order of the table in the paper."""

_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "integer": (int, "an integer"),
    "number": ((int, float), "a number"),
    "string": (str, "a string"),
    "array": (list, "a list of strings"),
}


def check_call(call: ToolCall) -> str | None:
    """Return why a call cannot be executed, in one line, or None where it can."""
    tool = TOOLS.get(call.name)
    if tool is None:
        nearest = difflib.get_close_matches(call.name, TOOLS, n=1, cutoff=0.5)
        hint = f"did you mean {nearest[0]}?" if nearest else f"tools: {', '.join(TOOLS)}"
        return f'unknown tool "{cut(call.name)}"; {hint}'
    given = call.arguments
    if "element" in given and "x" in tool.arguments:
        if _check_value({"type": "integer", "minimum": 1}, given["element"]) is not None:
            return f"{call.name}: element must be the number of an element, not {cut(repr(given['element']))}"
        if "x" in given or "y" in given:
            return f"{call.name}: give an element or a point, not both"
        rest = {name: value for name, value in given.items() if name != "element"}
        return check_call(ToolCall(name=call.name, arguments={**rest, "x": 0, "y": 0}))
    for name in given:
        if name not in tool.arguments:
            return f'{call.name} has no argument "{cut(name)}"; use {signature(call.name)}'
    for name, schema in tool.arguments.items():
        if name in given:
            reason = _check_value(schema, given[name])
            if reason is not None:
                return f"{call.name}: {name} {reason}"
        elif name not in (*tool.optional, *tool.forgiven):
            return f"{call.name} needs {name}; use {signature(call.name)}"
    if call.name == "scroll" and ("x" in given) != ("y" in given):
        return "scroll: give both x and y, or neither"
    return None


def json_schema(name: str) -> dict[str, Any]:
    """Return the tool as an OpenAI function definition."""
    tool = TOOLS[name]
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": tool.about,
            "parameters": {
                "type": "object",
                "properties": tool.arguments,
                "required": [argument for argument in tool.arguments if argument not in tool.optional],
                "additionalProperties": False,
            },
        },
    }


def signature(name: str) -> str:
    """Return the tool as one line: `click(x, y, button="left", click_type="single")`."""
    tool, shown = TOOLS[name], []
    for argument, schema in tool.arguments.items():
        default = f'"{schema["default"]}"' if "default" in schema else "None"
        shown.append(f"{argument}={default}" if argument in tool.optional else argument)
    return f"{name}({', '.join(shown)})"


def _check_value(schema: Schema, value: Any) -> str | None:
    types, wanted = _TYPES[schema["type"]]
    is_list = isinstance(value, list)
    well_typed = isinstance(value, types) and not isinstance(value, bool)  # JSON true is a Python int
    if not well_typed or (is_list and not all(isinstance(key, str) for key in value)):
        return f"must be {wanted}, not {cut(repr(value))}"
    choices = schema.get("enum")
    if choices and value not in choices:
        return f"must be one of {', '.join(choices)}, not {cut(repr(value))}"
    if not value and ("minLength" in schema or "minItems" in schema):
        return "must not be empty"
    unknown = next((key for key in combine(value) if read_chord(key) is None), None) if is_list else None
    if unknown is not None:
        return f"has an unknown key {cut(repr(unknown))}; to type text use write"
    if isinstance(value, int | float):
        return _check_range(schema, value)
    return None


def _check_range(schema: Schema, value: float) -> str | None:
    """Check a number against its limits; NaN is within none."""
    above, high = schema.get("exclusiveMinimum"), schema.get("maximum", math.inf)
    low = schema["minimum"] if above is None else above
    if value <= high and (value > low or (value == low and above is None)):
        return None
    if above is not None:
        wanted = f"above {above:g} and at most {high:g}"
    else:
        wanted = f"{low:g} or more" if high == math.inf else f"{low:g} to {high:g}"
    return f"must be {wanted}, not {cut(repr(value))}"


def cut(text: str, limit: int = 40) -> str:
    """Return at most `limit` characters of a text; one that was cut ends in `…`."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
