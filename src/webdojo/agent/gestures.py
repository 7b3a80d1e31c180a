"""Gestures: the large actions of some agents, as calls of the 13 tools and back.

WebGym's agents (E.1) and OpenWebVoyager's (table 7) have a single action for what takes a click, text and the
Enter key here. `Gesture.calls` gives the calls for the browser; `read` is the reverse, for scripts that write
tool calls. Amounts of scrolling are fixed by the formats, so a scroll is read back with its direction alone.
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
"""The fraction of the window that a scroll of the page moves."""
SCROLL_PART = 0.25
"""The same for a scroll at a point, because a list or a box is smaller than the window."""


class GestureKind(StrEnum):
    CLICK = "click"
    TYPE = "type"
    FILL = "fill"
    SCROLL = "scroll"
    WAIT = "wait"
    BACK = "back"
    GO = "go"
    """Open an address."""
    ANSWER = "answer"


ABOUT = {
    GestureKind.TYPE: "click a field, put the text in place of what it holds, press Enter",
    GestureKind.FILL: "the same without Enter: for forms of several fields, and to choose from a list",
    GestureKind.BACK: "go back to the page before",
    GestureKind.ANSWER: "end the task with its answer, or with a short report where none was asked for",
}
"""What agents are told about these, whatever they call them."""
POINTED = (GestureKind.CLICK, GestureKind.TYPE, GestureKind.FILL)
"""Gestures that need a place."""
_SINGLE = {
    "wait": (GestureKind.WAIT, "seconds"),
    "go_back": (GestureKind.BACK, ""),
    "goto_url": (GestureKind.GO, "url"),
    "done": (GestureKind.ANSWER, "answer"),
}
"""Gestures that are one call without a place, by its tool, and the argument that is their value."""
_ENTER = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})


@dataclass(frozen=True)
class Gesture:
    """One action of such an agent."""

    kind: GestureKind
    at: dict[str, int] = field(default_factory=dict)
    """`x` and `y` in 0..1000, or `element`; empty if the gesture has no place."""
    value: str | float = ""
    """The text, direction, seconds, address or answer."""

    def number(self, element_at: ElementAt) -> int | None:
        """The number of the element at its place, if there is one."""
        return self.at.get("element") or (element_at(self.at["x"], self.at["y"]) if self.at else None)

    def calls(self) -> list[ToolCall]:
        """The calls that carry it out."""
        if self.kind in POINTED:
            calls = [ToolCall(name="click", arguments=self.at)]
            if self.kind is not GestureKind.CLICK:
                calls.append(ToolCall(name="write", arguments={"text": self.value}))
            return [*calls, _ENTER] if self.kind is GestureKind.TYPE else calls
        if self.kind is GestureKind.SCROLL:
            amount = SCROLL_PART if self.at else SCROLL_WINDOW
            return [ToolCall(name="scroll", arguments={"direction": self.value, "amount": amount, **self.at})]
        tool, argument = next((tool, name) for tool, (kind, name) in _SINGLE.items() if kind is self.kind)
        return [ToolCall(name=tool, arguments={argument: self.value} if argument else {})]


def read(calls: Sequence[ToolCall]) -> tuple[Gesture, int]:
    """The gesture that does the same as the first calls, and how many calls that covers; HarnessError if none does.

    A hover is read as a click, opening an address in a new tab as opening it in this one, and switching or closing
    tabs as going back, which closes a tab that a page opened.
    """
    names = [call.name for call in calls]
    first = calls[0].arguments
    at: dict[str, int] = {name: first[name] for name in ("x", "y", "element") if name in first}
    if names[0] == "hover" or (names[0] == "click" and set(first) == set(at)):
        if names[1:2] != ["write"]:
            return Gesture(GestureKind.CLICK, at), 1
        text = calls[1].arguments["text"]
        enter = list(calls[2:3]) == [_ENTER]
        return (Gesture(GestureKind.TYPE, at, text), 3) if enter else (Gesture(GestureKind.FILL, at, text), 2)
    if names[0] == "scroll" and first["direction"] in ("up", "down"):
        return Gesture(GestureKind.SCROLL, at, first["direction"]), 1
    if names[:2] == ["new_tab", "goto_url"]:
        return Gesture(GestureKind.GO, value=calls[1].arguments["url"]), 2
    name = "go_back" if names[0] in ("close_tab", "switch_tab") else names[0]
    if name not in _SINGLE:
        raise HarnessError(
            f"an agent that clicks, types, scrolls and goes to addresses has no words for {brief(calls[:1])}"
        )
    kind, argument = _SINGLE[name]
    return Gesture(kind, value=first[argument] if argument else ""), 1
