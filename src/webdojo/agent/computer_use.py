"""WebGym's one tool, `computer_use` (E.1): its schema, and how its arguments become gestures and back.

A place is `coordinate`, [x, y] in 0..1000, or `element`, the number of a mark in the screenshot. `fill`, which types
without Enter, is ours.
"""

from __future__ import annotations

from typing import Any

from webdojo.agent.gestures import POINTED, Gesture, GestureKind
from webdojo.agent.harness import ElementAt
from webdojo.agent.toolcall import plain
from webdojo.browser.tools import COORDINATE_MAX, TOOLS
from webdojo.errors import HarnessError

TOOL = "computer_use"

_ACTIONS: dict[str, tuple[GestureKind, str, str]] = {
    "left_click": (GestureKind.CLICK, "", "click a place"),
    "type": (GestureKind.TYPE, "text", "click a field, put the text in place of what it holds, press Enter"),
    "fill": (
        GestureKind.FILL,
        "text",
        "the same without Enter: for forms of several fields, and to choose from a list",
    ),
    "scroll": (GestureKind.SCROLL, "direction", "scroll the page, or the part of it at a place"),
    "wait": (GestureKind.WAIT, "time", "pause"),
    "go_back": (GestureKind.BACK, "", "go back to the page before"),
    "navigate": (GestureKind.GO, "url", "open an address"),
    "answer": (
        GestureKind.ANSWER,
        "text",
        "end the task with its answer, or with a short report where none was asked for",
    ),
}
"""The gesture of each action, the argument that holds its value, and its description."""
_NAMES = {kind: action for action, (kind, *_) in _ACTIONS.items()}
_MAX_ELEMENT = 1_000_000
_LONGEST_S = TOOLS["wait"].arguments["seconds"]["maximum"]
_VALUES: dict[str, dict[str, Any]] = {
    "text": {"type": "string", "description": "To type or to answer."},
    "direction": {"type": "string", "enum": ["up", "down"], "description": "Of a scroll."},
    "time": {"type": "number", "minimum": 0, "maximum": _LONGEST_S, "description": "Seconds of a pause."},
    "url": {"type": "string", "minLength": 1, "description": "The address to open."},
}


class ComputerUse:
    """The tool with the options of one agent.

    Args:
        marks: whether places are numbers instead of points.
        fill: whether there is the action `fill`.
    """

    def __init__(self, marks: bool, fill: bool) -> None:
        self._place = "element" if marks else "coordinate"
        self._actions = {name: spec for name, spec in _ACTIONS.items() if fill or spec[0] is not GestureKind.FILL}

    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI function definition."""
        pointed = [name for name, (kind, *_) in self._actions.items() if kind in POINTED]
        where = f"The place; {', '.join(pointed)} need one, scroll may have one."
        if self._place == "element":
            place = {"type": "integer", "minimum": 1, "description": where}
        else:
            edge = {"type": "integer", "minimum": 0, "maximum": COORDINATE_MAX}
            place = {"type": "array", "items": edge, "minItems": 2, "maxItems": 2, "description": where}
        actions = {
            "type": "string",
            "enum": list(self._actions),
            "description": "; ".join(f"{name}: {about}" for name, (_, _, about) in self._actions.items()),
        }
        return {
            "type": "function",
            "function": {
                "name": TOOL,
                "description": "Use the browser with mouse and keyboard.",
                "parameters": {
                    "type": "object",
                    "properties": {"action": actions, self._place: place, **_VALUES},
                    "required": ["action"],
                    "additionalProperties": False,
                },
            },
        }

    def example(self) -> dict[str, Any]:
        """Example arguments for the system prompt."""
        return {"action": "left_click", self._place: 7 if self._place == "element" else [450, 250]}

    def read(self, arguments: dict[str, Any]) -> Gesture:
        """The gesture that the arguments of a call ask for.

        Raises:
            ValueError: the arguments are wrong; the message says how, in one line.
        """
        action = arguments.get("action")
        if not isinstance(action, str) or action not in self._actions:
            raise ValueError(f"action must be one of {', '.join(self._actions)}, not {_shown(action)}")
        kind, name, _ = self._actions[action]
        known = {
            "action",
            *([name] if name else []),
            *([self._place] if kind in (*POINTED, GestureKind.SCROLL) else []),
        }
        for argument in arguments:
            if argument not in known:
                raise ValueError(f"{action} takes no {_shown(argument)}")
        for argument in (*([self._place] if kind in POINTED else []), *([name] if name else [])):
            if argument not in arguments:
                raise ValueError(f"{action} needs {argument}")
        at = self._at(arguments[self._place]) if self._place in arguments else {}
        return Gesture(kind, at, _value(name, arguments[name]) if name else "")

    def write(self, gesture: Gesture, element_at: ElementAt) -> dict[str, Any]:
        """The arguments that ask for a gesture.

        Raises:
            HarnessError: this agent has no such action, or cannot name the place.
        """
        action = _NAMES[gesture.kind]
        if action not in self._actions:
            raise HarnessError(f"an agent that always presses Enter cannot just fill in {gesture.value!r}")
        arguments: dict[str, Any] = {"action": action}
        if self._place == "coordinate" and "x" in gesture.at:
            arguments["coordinate"] = [gesture.at["x"], gesture.at["y"]]
        elif self._place == "element" and (number := gesture.number(element_at)) is not None:
            arguments["element"] = number
        elif gesture.kind in POINTED:
            raise HarnessError(f"this agent has no {self._place} for what is at {gesture.at}")
        name = _ACTIONS[action][1]
        return arguments | ({name: gesture.value} if name else {})

    def _at(self, value: Any) -> dict[str, int]:
        """The place of a call, in the form of the browser's tools."""
        if self._place == "element":
            if type(value) is int and 1 <= value <= _MAX_ELEMENT:
                return {"element": value}
            raise ValueError(f"element must be the number of a mark, not {_shown(value)}")
        pair: list[Any] = value if isinstance(value, list) and len(value) == 2 else [None]
        if all(type(part) is int and 0 <= part <= COORDINATE_MAX for part in pair):
            return {"x": pair[0], "y": pair[1]}
        raise ValueError(f"coordinate must be two integers from 0 to {COORDINATE_MAX}, not {_shown(value)}")


def _value(name: str, value: Any) -> str | float:
    """The value of an argument, checked."""
    match name:
        case "direction":
            good, wanted = value in ("up", "down"), "up or down"
        case "time":
            good = type(value) in (int, float) and 0 <= value <= _LONGEST_S
            wanted = f"0 to {_LONGEST_S:g} seconds"
        case "url":
            good, wanted = isinstance(value, str) and value != "", "an address"
        case _:
            good, wanted = isinstance(value, str), "a string"
    if not good:
        raise ValueError(f"{name} must be {wanted}, not {_shown(value)}")
    checked: str | float = value
    return checked


def _shown(value: object) -> str:
    return plain(repr(value), limit=40)
