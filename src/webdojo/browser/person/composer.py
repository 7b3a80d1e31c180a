"""Composes calls of the tools from a person's input, one after another.

Some input may be the beginning of more: a click of a double click, a character of a text, a turn of the wheel. It stays
open until other input or a pause (`Pauses`) shows that nothing more belongs to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from webdojo.browser.actions import point_1000
from webdojo.browser.keys import read_chord
from webdojo.browser.person.input import Input
from webdojo.types import ToolCall

_SLOP_PX = 4
"""How far the mouse may move between press and release in a click."""
_BUTTONS = ("left", "middle", "right")
_BACK, _FORWARD = 3, 4
"""The buttons of some mice that go through the history."""
_REPEATED = (
    *("Backspace", "Delete", "Tab", "shift+Tab", "PageUp", "PageDown"),
    *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
)
"""Keys that people press several times in a row: one call."""
_MOST_SCROLL = 10.0


@dataclass(frozen=True)
class Pauses:
    """Seconds without further input that end what may go on."""

    click: float = 0.3
    wheel: float = 0.4
    keys: float = 0.3
    text: float = 1.0


class Composer:
    """Makes calls of input.

    A `write` has what was typed alone, and a `scroll` its point in any case: what the page says to these is for others.
    """

    def __init__(self, viewport_px: tuple[int, int], pauses: Pauses) -> None:
        self._viewport_px = viewport_px
        self._pauses = pauses
        self._down: Input | None = None
        """A press whose release has not come."""
        self._open: ToolCall | None = None
        """What may go on."""
        self._turned = (0.0, 0.0)
        """By how many pixels an open `scroll` turned the wheel, to the right and down."""
        self.patience_s: float | None = None
        """How long to wait for what may follow; None where nothing is open."""

    def rest(self) -> list[ToolCall]:
        """What was open, and ends here."""
        call, self._open, self.patience_s = self._open, None, None
        if call is not None and call.name == "scroll":
            return self._scrolled(call)
        return [call] if call is not None else []

    def take(self, given: Input) -> list[ToolCall]:
        """The calls that this input completes."""
        match given.kind:
            case "press":
                second = given.count % 2 == 0 and self._is_open("click")
                done = [] if second else self.rest()
                self._down = given
                return done
            case "release":
                down, self._down = self._down, None
                return self._released(down, given) if down is not None and down.button == given.button else []
            case "wheel":
                done = []
                if not self._is_open("scroll"):
                    done, self._turned = self.rest(), (0.0, 0.0)
                self._turned = (self._turned[0] + given.dx, self._turned[1] + given.dy)
                self._hold(ToolCall(name="scroll", arguments=self._at(given)), self._pauses.wheel)
                return done
            case "hover":
                return [*self.rest(), ToolCall(name="hover", arguments=self._at(given))]
            case "text" | "paste":
                return self._typed(given.text)
            case "key":
                return self._typed(given.key) if given.types else self._pressed(given)
        return []

    def _hold(self, call: ToolCall, patience_s: float) -> None:
        self._open, self.patience_s = call, patience_s

    def _is_open(self, name: str) -> bool:
        return self._open is not None and self._open.name == name

    def _at(self, given: Input) -> dict[str, int]:
        x, y = point_1000(given.x, given.y, self._viewport_px)
        return {"x": x, "y": y}

    def _released(self, down: Input, up: Input) -> list[ToolCall]:
        if down.button in (_BACK, _FORWARD):
            return [*self.rest(), _travel(down.button == _BACK)]
        if down.button >= len(_BUTTONS):
            return []
        if max(abs(up.x - down.x), abs(up.y - down.y)) > _SLOP_PX and not down.button:
            (x1, y1), (x2, y2) = (point_1000(each.x, each.y, self._viewport_px) for each in (down, up))
            return [*self.rest(), ToolCall(name="drag", arguments={"x1": x1, "y1": y1, "x2": x2, "y2": y2})]
        click = ToolCall(name="click", arguments=self._at(down))
        if down.button:
            return [*self.rest(), _with(click, button=_BUTTONS[down.button])]
        if down.count % 2 == 0:  # of a slow double click the first one is done already
            double = self._is_open("click")
            self._open = self.patience_s = None
            return [_with(click, click_type="double") if double else click]
        self._hold(click, self._pauses.click)
        return []

    def _typed(self, text: str) -> list[ToolCall]:
        before, done = "", []
        if self._open is not None and self._open.name == "write":
            before = self._open.arguments["text"]
        else:
            done = self.rest()
        self._hold(ToolCall(name="write", arguments={"text": before + text}), self._pauses.text)
        return done

    def _pressed(self, given: Input) -> list[ToolCall]:
        chord = "+".join([*given.modifiers, "Space" if given.key == " " else given.key])
        if read_chord(chord) is None:  # a key that no tool presses, such as that for the volume
            return []
        if chord == "Backspace" and self._open is not None and self._open.name == "write":
            if text := self._open.arguments["text"][:-1]:
                self._hold(_with(self._open, text=text), self._pauses.text)
            else:
                self._open = self.patience_s = None
            return []
        if chord in ("alt+ArrowLeft", "alt+ArrowRight"):
            return [*self.rest(), _travel(chord.endswith("Left"))]
        if self._open is not None and self._open.name == "press_keys" and self._open.arguments["keys"][-1] == chord:
            self._hold(_keys(*self._open.arguments["keys"], chord), self._pauses.keys)
            return []
        done = self.rest()
        if chord in _REPEATED:
            self._hold(_keys(chord), self._pauses.keys)
            return done
        return [*done, _keys(chord)]

    def _scrolled(self, call: ToolCall) -> list[ToolCall]:
        """A scroll by what the wheel was turned in all, along the axis of more."""
        right, down = (turned / size for turned, size in zip(self._turned, self._viewport_px, strict=True))
        aside = abs(right) > abs(down)
        by, (forth, back) = (right, ("right", "left")) if aside else (down, ("down", "up"))
        amount = min(round(abs(by), 2), _MOST_SCROLL)
        return [_with(call, direction=forth if by > 0 else back, amount=amount)] if amount else []


def _with(call: ToolCall, **arguments: object) -> ToolCall:
    return ToolCall(name=call.name, arguments={**call.arguments, **arguments})


def _keys(*chords: str) -> ToolCall:
    return ToolCall(name="press_keys", arguments={"keys": list(chords)})


def _travel(back: bool) -> ToolCall:
    return ToolCall(name="go_back") if back else _keys("alt+ArrowRight")
