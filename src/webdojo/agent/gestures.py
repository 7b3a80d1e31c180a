"""What agents with few, large actions do, as calls of the 13 tools, and back.

WebGym's agents (E.1) and OpenWebVoyager's (table 7) have one action for what takes a click, a field and the
Enter key here. `Gesture.calls` is what the browser carries out; `read` is the reverse, for scripts that think
in tools. Amounts of scrolling belong to the formats, so a scroll is read back with its direction alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from webdojo.agent.harness import ElementAt
from webdojo.agent.toolcall import brief
from webdojo.errors import HarnessError
from webdojo.types import ToolCall

SCROLL_WINDOW = 0.5
"""Fraction of the window that a scroll of the page moves."""
SCROLL_PART = 0.25
"""The same of a scroll at a point: a list or a box is smaller than the window."""


class Do(StrEnum):
    """Kinds of gesture."""

    CLICK = "click"
    TYPE = "type"
    """Click a field, replace its text, press Enter."""
    FILL = "fill"
    """The same without Enter: for forms of several fields, lists and text areas."""
    SCROLL = "scroll"
    WAIT = "wait"
    BACK = "back"
    GO = "go"
    """Open an address."""
    ANSWER = "answer"


POINTED = (Do.CLICK, Do.TYPE, Do.FILL)
"""Gestures that need a place."""


@dataclass(frozen=True)
class Gesture:
    """One action."""

    do: Do
    at: dict[str, int] = field(default_factory=dict)
    """`x` and `y` in 0..1000, or `element`; empty where there is no point."""
    value: str | float = ""
    """Text, direction, seconds, address or answer."""

    def number(self, element_at: ElementAt) -> int | None:
        """The number of the element at its place, if there is one."""
        return self.at.get("element") or (element_at(self.at["x"], self.at["y"]) if self.at else None)

    def calls(self) -> list[ToolCall]:
        """The calls that carry it out."""
        match self.do:
            case Do.CLICK:
                return [ToolCall(name="click", arguments=self.at)]
            case Do.TYPE | Do.FILL:
                typed = [
                    ToolCall(name="click", arguments=self.at),
                    ToolCall(name="write", arguments={"text": self.value}),
                ]
                enter = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
                return [*typed, enter] if self.do is Do.TYPE else typed
            case Do.SCROLL:
                amount = SCROLL_PART if self.at else SCROLL_WINDOW
                return [ToolCall(name="scroll", arguments={"direction": self.value, "amount": amount, **self.at})]
            case Do.WAIT:
                return [ToolCall(name="wait", arguments={"seconds": self.value})]
            case Do.BACK:
                return [ToolCall(name="go_back")]
            case Do.GO:
                return [ToolCall(name="goto_url", arguments={"url": self.value})]
            case Do.ANSWER:
                return [ToolCall(name="done", arguments={"answer": self.value})]


def read(calls: Sequence[ToolCall]) -> tuple[Gesture, int]:
    """The gesture that does what the first calls do, and how many of them that is.

    Resting the mouse on something is read as a click on it, an address in a new tab as one in this tab, and leaving a
    tab for another as going back, which closes a tab that a page opened.

    Raises:
        HarnessError: no gesture does what the first call does.
    """
    names = [call.name for call in calls]
    first = calls[0].arguments
    at: dict[str, int] = {name: first[name] for name in ("x", "y", "element") if name in first}
    if names[0] == "hover" or (names[0] == "click" and set(first) == set(at)):
        if names[1:2] != ["write"]:
            return Gesture(Do.CLICK, at), 1
        text = calls[1].arguments["text"]
        enter = names[2:3] == ["press_keys"] and calls[2].arguments["keys"] == ["Enter"]
        return (Gesture(Do.TYPE, at, text), 3) if enter else (Gesture(Do.FILL, at, text), 2)
    if names[0] == "scroll" and first["direction"] in ("up", "down"):
        return Gesture(Do.SCROLL, at, first["direction"]), 1
    if names[:2] == ["new_tab", "goto_url"]:
        return Gesture(Do.GO, value=calls[1].arguments["url"]), 2
    simple = {
        "wait": (Do.WAIT, "seconds"),
        "go_back": (Do.BACK, ""),
        "close_tab": (Do.BACK, ""),
        "switch_tab": (Do.BACK, ""),
        "goto_url": (Do.GO, "url"),
        "done": (Do.ANSWER, "answer"),
    }
    if names[0] not in simple:
        raise HarnessError(
            f"an agent that clicks, types, scrolls and goes to addresses has no words for {brief(calls[:1])}"
        )
    do, argument = simple[names[0]]
    return Gesture(do, value=first[argument] if argument else ""), 1
