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
    """The kinds of gestures."""

    CLICK = "click"
    TYPE = "type"
    """Click a field, replace its text, press Enter."""
    FILL = "fill"
    """The same without Enter, for forms of several fields, lists and text areas."""
    SCROLL = "scroll"
    WAIT = "wait"
    BACK = "back"
    GO = "go"
    """Open an address."""
    ANSWER = "answer"


POINTED = (GestureKind.CLICK, GestureKind.TYPE, GestureKind.FILL)
"""Gestures that need a place."""


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
        match self.kind:
            case GestureKind.CLICK:
                return [ToolCall(name="click", arguments=self.at)]
            case GestureKind.TYPE | GestureKind.FILL:
                typed = [
                    ToolCall(name="click", arguments=self.at),
                    ToolCall(name="write", arguments={"text": self.value}),
                ]
                enter = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
                return [*typed, enter] if self.kind is GestureKind.TYPE else typed
            case GestureKind.SCROLL:
                amount = SCROLL_PART if self.at else SCROLL_WINDOW
                return [ToolCall(name="scroll", arguments={"direction": self.value, "amount": amount, **self.at})]
            case GestureKind.WAIT:
                return [ToolCall(name="wait", arguments={"seconds": self.value})]
            case GestureKind.BACK:
                return [ToolCall(name="go_back")]
            case GestureKind.GO:
                return [ToolCall(name="goto_url", arguments={"url": self.value})]
            case GestureKind.ANSWER:
                return [ToolCall(name="done", arguments={"answer": self.value})]


def read(calls: Sequence[ToolCall]) -> tuple[Gesture, int]:
    """The gesture that does the same as the first calls, and how many calls that covers.

    A hover is read as a click, opening an address in a new tab as opening it in this one, and switching or closing
    tabs as going back, which closes a tab that a page opened.

    Raises:
        HarnessError: no gesture does what the first call does.
    """
    names = [call.name for call in calls]
    first = calls[0].arguments
    at: dict[str, int] = {name: first[name] for name in ("x", "y", "element") if name in first}
    if names[0] == "hover" or (names[0] == "click" and set(first) == set(at)):
        if names[1:2] != ["write"]:
            return Gesture(GestureKind.CLICK, at), 1
        text = calls[1].arguments["text"]
        enter = names[2:3] == ["press_keys"] and calls[2].arguments["keys"] == ["Enter"]
        return (Gesture(GestureKind.TYPE, at, text), 3) if enter else (Gesture(GestureKind.FILL, at, text), 2)
    if names[0] == "scroll" and first["direction"] in ("up", "down"):
        return Gesture(GestureKind.SCROLL, at, first["direction"]), 1
    if names[:2] == ["new_tab", "goto_url"]:
        return Gesture(GestureKind.GO, value=calls[1].arguments["url"]), 2
    simple = {
        "wait": (GestureKind.WAIT, "seconds"),
        "go_back": (GestureKind.BACK, ""),
        "close_tab": (GestureKind.BACK, ""),
        "switch_tab": (GestureKind.BACK, ""),
        "goto_url": (GestureKind.GO, "url"),
        "done": (GestureKind.ANSWER, "answer"),
    }
    if names[0] not in simple:
        raise HarnessError(
            f"an agent that clicks, types, scrolls and goes to addresses has no words for {brief(calls[:1])}"
        )
    kind, argument = simple[names[0]]
    return Gesture(kind, value=first[argument] if argument else ""), 1
