"""Feedback on a call in one short line, from the states of the page before and after it (OpenWebRL Table 5).

Coordinates are in 0..1000 and scroll positions are percentages, because the model uses the same units. Lines stay
short, since each of them is read again in every later prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from webdojo.browser.keys import normalise_keys, shown
from webdojo.browser.page.probe import VALUE_CHARS, Element, PageState
from webdojo.browser.tools import cut
from webdojo.types import Feedback, ToolCall

_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters but for white space, and those that change the direction of text."""
_FOREIGN = ("iframe", "frame", "object", "embed", "canvas")
"""What may show a page of another origin, or a drawing, which cannot be read."""
_EDGES = {"up": "top", "down": "bottom", "left": "left edge", "right": "right edge"}


def describe(call: ToolCall, before: PageState, after: PageState, notes: Sequence[str] = ()) -> Feedback:
    """Describe the effect of a call from the active tab's states before and after it, both read at the call's point.

    `notes` are what the states cannot show, such as dialogs, refused downloads and HTTP errors.
    """
    loading = ["the page is still loading"] if after.loading else []
    asks = [f"the page asks for a file: {clip(after.offer, 200)}"] if after.offer else []
    return Feedback(ok=True, text="; ".join([_text(call, before, after), *loading, *asks, *notes]))


def starred(call: ToolCall, before: PageState, after: PageState) -> tuple[ToolCall, PageState, PageState]:
    """What `describe` takes, with stars for the contents of password fields and for what the call types into one."""

    def star(element: Element | None) -> Element | None:
        if element is None or not element.secret or not element.value:
            return element
        return replace(element, value="*" * len(element.value))

    arguments = dict(call.arguments)
    if before.focus and before.focus.secret:
        if call.name == "write":
            arguments["text"] = "*" * len(arguments["text"])
        elif call.name == "press_keys":
            arguments["keys"] = ["*" if len(key) == 1 else key for key in arguments["keys"]]
    before, after = (replace(s, target=star(s.target), focus=star(s.focus)) for s in (before, after))
    return call.model_copy(update={"arguments": arguments}), before, after


def failed(call: ToolCall, reason: str) -> Feedback:
    return Feedback(ok=False, text=f"{clip(call.name, 40)} failed: {clip(reason, 200)}")


def _text(call: ToolCall, before: PageState, after: PageState) -> str:
    given, effect = call.arguments, _effect(before, after)
    at, on = f"({given.get('x')}, {given.get('y')})", f" on {_element(before.target)}" if before.target else ""
    place = f"tab {after.tab}, {clip(after.url, 120)}"
    quiet = "" if effect == _NOTHING else f": {effect}"
    match call.name:
        case "click":
            double = "double " if given.get("click_type") == "double" else ""
            button = f"{given['button']} " if given.get("button", "left") != "left" else ""
            hint = _hint(before.target) if effect == _NOTHING and before.target else ""
            if effect == _NOTHING and before.target and _is_foreign(before.target):
                effect = "it does not tell what changed"
            return f"{double}{button}click at {at}{on}: {effect}{hint}"
        case "hover":
            return f"hover at {at}{on}{quiet}"
        case "drag":
            return f"drag from ({given['x1']}, {given['y1']}){on} to ({given['x2']}, {given['y2']}): {effect}"
        case "write":
            return _write(given["text"], before, after)
        case "press_keys":
            keys = " ".join(shown(chord) for chord in normalise_keys(given["keys"]))
            if effect == _NOTHING and after.focus and after.focus != before.focus:
                effect = f"{_element(after.focus)} is focused"
            elif effect == _NOTHING and after.focus and _is_foreign(after.focus):
                effect = f"sent to {_element(after.focus)}, which does not tell what changed"
            return f"press_keys {clip(keys, 60)}: {effect}"
        case "scroll":
            return f"scroll {given['direction']} {given['amount']:g}: {_scrolled(given['direction'], before, after)}"
        case "go_back" if after.tabs < before.tabs:
            return f"go_back: this tab had no earlier page and was closed; now on {place}"
        case "goto_url" | "go_back":
            return f"{call.name}: page is now {clip(after.url, 120)}"
        case "wait":
            return f"waited {given['seconds']:g} s{quiet}"
        case "new_tab":
            return f"new_tab: tab {after.tab} is open"
        case "switch_tab":
            return f"switch_tab: now on {place}"
        case "close_tab":
            return f"close_tab: closed; now on {place}"
    return f'{call.name}: "{clip(given.get("answer", ""), 200)}"'


def _write(wanted: str, before: PageState, after: PageState) -> str:
    if before.offer:
        effect = _effect(before, after)
        text = f'write "{clip(wanted, 60)}" as the file that the page asked for'
        return text if effect == _NOTHING else f"{text}: {effect}"
    field, now = before.focus, after.focus
    if _is_option(field) and now and now.tag == "select":  # its list was open
        field = now
    text = f'write "{clip(wanted, 60)}" into {_element(field)}' if field else f'write "{clip(wanted, 60)}"'
    moved = _movement(before, after)
    if moved:
        return f"{text}: {moved}"
    if _same(field, now) and now and now.value is not None and not _holds(now.value, wanted):
        return f'{text}: but the field holds "{clip(now.value, 60)}"{_hint(now)}'
    if field and _is_foreign(field):
        return f"{text}, which does not tell what it took"
    return text


def _holds(value: str, wanted: str) -> bool:
    """Whether a field holds a text, white space apart; of a long one only the beginning was read."""
    held, text = " ".join(value.split()), " ".join(wanted.split())
    return held == text or (len(value) >= VALUE_CHARS and text.startswith(held))


def _scrolled(direction: str, before: PageState, after: PageState) -> str:
    moved = _movement(before, after)
    if moved:
        return moved
    axis = 0 if direction in ("left", "right") else 1
    if before.scroll[axis] != after.scroll[axis]:
        return f"page is now at {_percent(after.scroll, axis)}"
    if before.box and after.box and before.box[axis] != after.box[axis]:
        return f"this part of the page is now at {_percent(after.box, axis)}"
    if after.changes:  # a script may have moved things in its own way
        return "page changed"
    if before.target and _is_foreign(before.target):
        return f"sent to {_element(before.target)}, which does not tell whether it moved"
    offset, room = (after.box or after.scroll)[axis], (after.box or after.scroll)[axis + 2]
    if room < 2 and not after.box:
        return "nothing moved" if after.clipped else "nothing moved, everything is in view"
    at_edge = offset < 2 if direction in ("up", "left") else room - offset < 2
    return f"nothing moved, already at the {_EDGES[direction]}" if at_edge else "nothing moved"


_NOTHING = "nothing changed"


def _movement(before: PageState, after: PageState) -> str | None:
    if after.tabs > before.tabs:
        return f"opened tab {after.tab}, {clip(after.url, 120)}"
    if after.tabs < before.tabs:
        return f"a tab was closed; now on tab {after.tab}, {clip(after.url, 120)}"
    if after.url != before.url:
        return f"page is now {clip(after.url, 120)}"
    if after.document != before.document:
        return "page reloaded"
    return None


def _effect(before: PageState, after: PageState) -> str:
    moved = _movement(before, after)
    if moved:
        return moved
    old, new = before.target, after.target
    if old and new and _same(old, new):
        if turn := _turn(old, new):
            return turn
        if old.value is not None and old.value != new.value:
            return f'its value is now "{clip(new.value or "", 60)}"'
    was, now = before.focus, after.focus
    if now and now != was:
        if now.tag == "select" and (_is_option(before.target) or _is_option(was)):
            return f'{_element(now)} is now "{clip(now.value or "", 60)}"'
        if was and _same(was, now):
            if turn := _turn(was, now):
                return f"{_element(now)} is {turn}"
            if now.value is not None and now.value != was.value:
                return f'{_element(now)} now holds "{clip(now.value, 60)}"'
        elif now.editable:
            field = now == new and not _is_foreign(new)
            return ("field is focused" if field else f"{_element(now)} is focused") + _hint(now)
    if after.changes:
        return "page changed"
    if before.scroll[:2] != after.scroll[:2] or (before.box and after.box and before.box[:2] != after.box[:2]):
        return "page scrolled"
    return _NOTHING


def _turn(old: Element, new: Element) -> str:
    """How a box was checked, or something opened; empty if neither."""
    if new.checked is not None and old.checked != new.checked:
        return "now checked" if new.checked else "now unchecked"
    if new.expanded is not None and old.expanded != new.expanded:
        return "now open" if new.expanded else "now closed"
    return ""


def _hint(field: Element) -> str:
    """Say what to write into a field whose picker never opens."""
    return f"; it takes values like {field.takes}" if field.takes else ""


def _is_foreign(element: Element) -> bool:
    """Whether what it holds cannot be read."""
    return element.opaque or element.tag in _FOREIGN


def _is_option(element: Element | None) -> bool:
    return element is not None and element.tag == "option"


def _percent(offsets: Sequence[float], axis: int) -> str:
    room = offsets[axis + 2]
    if room - offsets[axis] < 1:
        return "its end"
    if offsets[axis] < 1:
        return "its start"
    share = 100 * offsets[axis] / room
    return f"{share:.0f}%" if 1 <= share <= 99 else f"{min(max(share, 0.1), 99.9):.1f}%"


def _same(one: Element | None, other: Element | None) -> bool:
    """Whether two states tell of the same element, or of one that a script has drawn anew."""
    if one is None or other is None:
        return False
    if one.id != other.id and not one.name:
        return False
    return (one.tag, one.name) == (other.tag, other.name)


def _element(element: Element) -> str:
    role = f" role={clip(element.role, 20)}" if element.role else ""
    name = f' "{clip(element.name, 60)}"' if element.name else ""
    return f"<{clip(element.tag, 40)}{role}>{name}"


def clip(text: str, limit: int) -> str:
    """Return a text as one line of at most `limit` characters, without such as control or turn around what follows."""
    return cut(" ".join(_UNSEEN.sub("", text).split()), limit)
