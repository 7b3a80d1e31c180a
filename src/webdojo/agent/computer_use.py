"""WebGym's one tool, `computer_use` (E.1): its schema, and its arguments as gestures and back.

A place is `coordinate`, [x, y] in 0..1000, or `element`, the number of a mark in the screenshot. `fill`, which types
without Enter, is ours.
"""

from __future__ import annotations

from typing import Any

from webdojo.agent.gestures import POINTED, Do, Gesture
from webdojo.agent.harness import ElementAt
from webdojo.agent.toolcall import plain
from webdojo.browser.tools import COORDINATE_MAX, TOOLS
from webdojo.errors import HarnessError

TOOL = "computer_use"

_ACTIONS: dict[str, tuple[Do, str, str]] = {
    "left_click": (Do.CLICK, "", "click a place"),
    "type": (Do.TYPE, "text", "click a field, put the text in place of what it holds, press Enter"),
    "fill": (Do.FILL, "text", "the same without Enter: for forms of several fields, and to choose from a list"),
    "scroll": (Do.SCROLL, "direction", "scroll the page, or the part of it at a place"),
    "wait": (Do.WAIT, "time", "pause"),
    "go_back": (Do.BACK, "", "go back to the page before"),
    "navigate": (Do.GO, "url", "open an address"),
    "answer": (Do.ANSWER, "text", "end the task with its answer, or with a short report where none was asked for"),
}
"""Of each action the gesture, the argument that holds its value, and what it does."""
_NAMES = {do: action for action, (do, *_) in _ACTIONS.items()}
_MAX_ELEMENT = 1_000_000
_LONGEST_S = TOOLS["wait"].arguments[0].high or 0
_VALUES: dict[str, dict[str, Any]] = {
    "text": {"type": "string", "description": "To type or to answer."},
    "direction": {"type": "string", "enum": ["up", "down"], "description": "Of a scroll."},
    "time": {"type": "number", "minimum": 0, "maximum": _LONGEST_S, "description": "Seconds of a pause."},
    "url": {"type": "string", "minLength": 1, "description": "The address to open."},
}


class ComputerUse:
    """The tool as one agent has it.

    Args:
        marks: places are numbers, not points.
        fill: with the action `fill`.
    """

    def __init__(self, marks: bool, fill: bool) -> None:
        self._place = "element" if marks else "coordinate"
        self._actions = {name: spec for name, spec in _ACTIONS.items() if fill or spec[0] is not Do.FILL}

    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI function definition."""
        pointed = [name for name, (do, *_) in self._actions.items() if do in POINTED]
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
        """Arguments for the system prompt to show."""
        return {"action": "left_click", self._place: 7 if self._place == "element" else [450, 250]}

    def read(self, arguments: dict[str, Any]) -> Gesture:
        """The gesture of a call's arguments.

        Raises:
            ValueError: what is wrong with them, in one line.
        """
        action = arguments.get("action")
        if not isinstance(action, str) or action not in self._actions:
            raise ValueError(f"action must be one of {', '.join(self._actions)}, not {_shown(action)}")
        do, name, _ = self._actions[action]
        known = {"action", *([name] if name else []), *([self._place] if do in (*POINTED, Do.SCROLL) else [])}
        for argument in arguments:
            if argument not in known:
                raise ValueError(f"{action} takes no {_shown(argument)}")
        for argument in (*([self._place] if do in POINTED else []), *([name] if name else [])):
            if argument not in arguments:
                raise ValueError(f"{action} needs {argument}")
        at = self._at(arguments[self._place]) if self._place in arguments else {}
        return Gesture(do, at, _value(name, arguments[name]) if name else "")

    def write(self, gesture: Gesture, element_at: ElementAt) -> dict[str, Any]:
        """The arguments that say a gesture.

        Raises:
            HarnessError: this agent has no such action, or no name for the place.
        """
        action = _NAMES[gesture.do]
        if action not in self._actions:
            raise HarnessError(f"an agent that always presses Enter cannot just fill in {gesture.value!r}")
        arguments: dict[str, Any] = {"action": action}
        if self._place == "coordinate" and "x" in gesture.at:
            arguments["coordinate"] = [gesture.at["x"], gesture.at["y"]]
        elif self._place == "element" and (number := gesture.number(element_at)) is not None:
            arguments["element"] = number
        elif gesture.do in POINTED:
            raise HarnessError(f"this agent has no {self._place} for what is at {gesture.at}")
        name = _ACTIONS[action][1]
        return arguments | ({name: gesture.value} if name else {})

    def _at(self, value: Any) -> dict[str, int]:
        """The place of a call, as the browser's tools take it."""
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
