"""Feedback on a call in one short line, from the states of the page before and after it (OpenWebRL Table 5).

Coordinates are in 0..1000 and scroll positions are percentages, because the model uses the same units. Lines stay
short, since each of them is read again in every later prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from webdojo.browser.keys import normalise_keys, shown
from webdojo.browser.page.probe import Element, PageState
from webdojo.browser.tools import cut
from webdojo.types import Feedback, ToolCall

_EDGES = {"up": "top", "down": "bottom", "left": "left edge", "right": "right edge"}


def describe(call: ToolCall, before: PageState, after: PageState, notes: Sequence[str] = ()) -> Feedback:
    """Describe the effect of a call from the active tab's states before and after it, both read at the call's point.

    `notes` are what the states cannot show, such as dialogs, refused downloads and HTTP errors.
    """
    return Feedback(ok=True, text="; ".join([_text(call, before, after), *notes]))


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
    field, now = before.focus, after.focus
    text = f'write "{clip(wanted, 60)}" into {_element(field)}' if field else f'write "{clip(wanted, 60)}"'
    moved = _movement(before, after)
    if moved:
        return f"{text}: {moved}"
    if _same(field, now) and now and now.value is not None and now.value.split() != wanted.split():
        return f'{text}: but the field holds "{clip(now.value, 60)}"{_hint(now)}'
    return text


def _scrolled(direction: str, before: PageState, after: PageState) -> str:
    moved = _movement(before, after)
    if moved:
        return moved
    axis = 0 if direction in ("left", "right") else 1
    if before.scroll[axis] != after.scroll[axis]:
        return f"page is now at {_percent(after.scroll, axis)}"
    if before.box and after.box and before.box[axis] != after.box[axis]:
        return f"this part of the page is now at {_percent(after.box, axis)}"
    if after.scroll[axis + 2] < 2 and not after.box:
        return "nothing moved, everything is in view"
    return f"nothing moved, already at the {_EDGES[direction]}"


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
        if new.checked is not None and old.checked != new.checked:
            return "now checked" if new.checked else "now unchecked"
        if new.expanded is not None and old.expanded != new.expanded:
            return "now open" if new.expanded else "now closed"
        if old.value is not None and old.value != new.value:
            return f'its value is now "{clip(new.value or "", 60)}"'
    if after.focus and after.focus != before.focus:
        if after.focus.tag == "select" and (_is_option(before.target) or _is_option(before.focus)):
            return f'{_element(after.focus)} is now "{clip(after.focus.value or "", 60)}"'
        if _same(before.focus, after.focus):
            return f'{_element(after.focus)} now holds "{clip(after.focus.value or "", 60)}"'
        if after.focus.editable:
            focused = "field is focused" if after.focus == new else f"{_element(after.focus)} is focused"
            return focused + _hint(after.focus)
    if after.changes:
        return "page changed"
    if before.scroll[:2] != after.scroll[:2] or (before.box and after.box and before.box[:2] != after.box[:2]):
        return "page scrolled"
    return _NOTHING


def _hint(field: Element) -> str:
    """Say what to write into a field whose picker never opens."""
    return f"; it takes values like {field.takes}" if field.takes else ""


def _is_option(element: Element | None) -> bool:
    return element is not None and element.tag == "option"


def _percent(offsets: Sequence[float], axis: int) -> str:
    room = offsets[axis + 2]
    share = offsets[axis] / room if room > 0 else 1.0
    if share > 0.995:
        return "its end"
    return "its start" if share < 0.005 else f"{100 * share:.0f}%"


def _same(one: Element | None, other: Element | None) -> bool:
    return one is not None and other is not None and (one.tag, one.name) == (other.tag, other.name)


def _element(element: Element) -> str:
    role = f" role={element.role}" if element.role else ""
    name = f' "{element.name}"' if element.name else ""
    return f"<{element.tag}{role}>{name}"


def clip(text: str, limit: int) -> str:
    """Return a text as one line of at most `limit` characters."""
    return cut(" ".join(text.split()), limit)
