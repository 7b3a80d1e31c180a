"""What `person.js` tells of a person's input, and what it is to let through for a call."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from webdojo.browser.keys import normalise_keys
from webdojo.browser.page.probe import PageState
from webdojo.types import ToolCall

NOTHING: dict[str, Any] = {"presses": 0, "wheels": 0, "keys": {}, "moves": False, "text": False}
"""What a page gets of the person."""


@dataclass(frozen=True)
class Input:
    """One thing that a person has done. Places are in CSS pixels of the viewport."""

    kind: Literal["press", "release", "wheel", "hover", "key", "text", "paste", "lost"]
    """`hover` is a tap on Control, `text` comes of an input method, and `lost` is what one wrote into an editor."""
    x: float = 0
    y: float = 0
    button: int = 0
    """As `MouseEvent.button`: left, middle, right, back, forward."""
    count: int = 1
    """Of the presses that follow each other at once."""
    dx: float = 0
    dy: float = 0
    key: str = ""
    """As `KeyboardEvent.key`."""
    modifiers: tuple[Literal["ctrl", "alt", "shift", "meta"], ...] = ()
    types: bool = False
    """Whether the key stands for a character."""
    text: str = ""


_INPUT = TypeAdapter(Input)


def read_input(text: str) -> Input | None:
    """Read what a page has told; None where it can only be the page itself that says so."""
    try:
        return _INPUT.validate_json(text)
    except ValidationError:
        return None


def needed_by(call: ToolCall, before: PageState) -> dict[str, Any] | None:
    """What must be let through for a call on a page in this state; None where the call sends no input.

    It counts what `actions.execute` sends: with less its own input would come back as the person's.
    """
    given = call.arguments
    match call.name:
        case "click":
            return NOTHING | {"presses": 2 if given.get("click_type") == "double" else 1, "moves": True}
        case "drag":
            return NOTHING | {"presses": 1, "moves": True}
        case "hover":
            return NOTHING | {"moves": True}
        case "scroll":
            return NOTHING | {"wheels": 1, "moves": True}
        case "write":
            text, most = given["text"], before.focus.maxlength if before.focus is not None else 0
            strokes = ["control", "meta", "a", "delete", "escape", *(text if 0 < most < len(text) else text[-1:])]
            return NOTHING | {"keys": _counted(strokes), "text": True}
        case "press_keys":
            strokes = [key for chord in normalise_keys(given["keys"]) for key in _keys(chord)]
            return NOTHING | {"keys": _counted(strokes), "text": True}
    return None


def _counted(strokes: list[str]) -> dict[str, int]:
    return Counter("enter" if stroke in "\r\n" else stroke.lower() for stroke in strokes)


def _keys(chord: str) -> list[str]:
    """The keys of a chord in Playwright's spelling, as pages name them; `*` stands for any."""
    *modifiers, last = re.split(r"(?<=.)\+(?=.)", chord)
    names = ["control", "meta"] if "ControlOrMeta" in modifiers else []
    names += [each for each in modifiers if each != "ControlOrMeta"]
    if "Shift" in modifiers and len(last) == 1:  # its other sign
        return [*names, "*"]
    return [*names, " " if last == "Space" else last]
