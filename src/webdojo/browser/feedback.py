"""Feedback on a call in one short line, from the states of the page before and after it (OpenWebRL Table 5).

Everything here is pure: the session reads the states, and this module turns them into words. Coordinates are in
0..1000 and scroll positions are percentages, because the model uses the same units. Lines stay short, since each of
them is read again in every later prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.browser.keys import normalise_keys, shown
from webdojo.browser.page.probe import Element, PageState
from webdojo.types import Feedback, ToolCall

_EDGES = {"up": "top", "down": "bottom", "left": "left edge", "right": "right edge"}


def describe(call: ToolCall, before: PageState, after: PageState, notes: Sequence[str] = ()) -> Feedback:
    """Describe the effect of a call that was executed.

    Args:
        call: a call that `tools.check_call` accepts.
        before, after: the state of the active tab before and after the call, read at the call's point.
        notes: what the states cannot show, such as dialogs, refused downloads and HTTP errors.
    """
    text = _DESCRIPTIONS[call.name](call, before, after)
    return Feedback(ok=True, text="; ".join([text, *notes]))


def failed(call: ToolCall, reason: str) -> Feedback:
    """Describe a call that could not be executed."""
    return Feedback(ok=False, text=f"{clip(call.name, 40)} failed: {clip(reason, 200)}")


def _click(call: ToolCall, before: PageState, after: PageState) -> str:
    arguments = call.arguments
    words = [
        *(["double"] if arguments.get("click_type") == "double" else []),
        *([arguments["button"]] if arguments.get("button", "left") != "left" else []),
        f"click at {_point(arguments['x'], arguments['y'])}{_on(before.target)}",
    ]
    effect = _effect(before, after)
    if effect == _NOTHING and before.target:
        effect += _hint(before.target)
    return f"{' '.join(words)}: {effect}"


def _hover(call: ToolCall, before: PageState, after: PageState) -> str:
    text = f"hover at {_point(call.arguments['x'], call.arguments['y'])}{_on(before.target)}"
    effect = _effect(before, after)
    return text if effect == _NOTHING else f"{text}: {effect}"


def _drag(call: ToolCall, before: PageState, after: PageState) -> str:
    a = call.arguments
    return (
        f"drag from {_point(a['x1'], a['y1'])}{_on(before.target)} "
        f"to {_point(a['x2'], a['y2'])}: {_effect(before, after)}"
    )


def _write(call: ToolCall, before: PageState, after: PageState) -> str:
    wanted = call.arguments["text"]
    field = before.focus
    text = f'write "{clip(wanted, 60)}" into {_element(field)}' if field else f'write "{clip(wanted, 60)}"'
    moved = _movement(before, after)
    if moved:
        return f"{text}: {moved}"
    now = after.focus
    same_field = field and now and (field.tag, field.name) == (now.tag, now.name)
    if same_field and now and now.value is not None and now.value.split() != wanted.split():
        return f'{text}: but the field holds "{clip(now.value, 60)}"{_hint(now)}'
    return text


def _press_keys(call: ToolCall, before: PageState, after: PageState) -> str:
    keys = " ".join(shown(chord) for chord in normalise_keys(call.arguments["keys"]))
    effect = _effect(before, after)
    if effect == _NOTHING and after.focus and after.focus != before.focus:
        effect = f"{_element(after.focus)} is focused"
    return f"press_keys {clip(keys, 60)}: {effect}"


def _scroll(call: ToolCall, before: PageState, after: PageState) -> str:
    direction = call.arguments["direction"]
    text = f"scroll {direction} {call.arguments['amount']:g}"
    moved = _movement(before, after)
    if moved:
        return f"{text}: {moved}"
    axis = 0 if direction in ("left", "right") else 1
    if before.scroll[axis] != after.scroll[axis]:
        return f"{text}: page is now at {_percent(after.scroll, axis)}"
    if before.box and after.box and before.box[axis] != after.box[axis]:
        return f"{text}: this part of the page is now at {_percent(after.box, axis)}"
    if after.scroll[axis + 2] < 2 and not after.box:
        return f"{text}: nothing moved, everything is in view"
    return f"{text}: nothing moved, already at the {_EDGES[direction]}"


def _goto_url(call: ToolCall, before: PageState, after: PageState) -> str:
    return f"goto_url: page is now {clip(after.url, 120)}"


def _go_back(call: ToolCall, before: PageState, after: PageState) -> str:
    if after.tabs < before.tabs:
        return f"go_back: this tab had no earlier page and was closed; now on tab {after.tab}, {clip(after.url, 120)}"
    return f"go_back: page is now {clip(after.url, 120)}"


def _wait(call: ToolCall, before: PageState, after: PageState) -> str:
    text = f"waited {call.arguments['seconds']:g} s"
    effect = _effect(before, after)
    return text if effect == _NOTHING else f"{text}: {effect}"


def _new_tab(call: ToolCall, before: PageState, after: PageState) -> str:
    return f"new_tab: tab {after.tab} is open"


def _switch_tab(call: ToolCall, before: PageState, after: PageState) -> str:
    return f"switch_tab: now on tab {after.tab}, {clip(after.url, 120)}"


def _close_tab(call: ToolCall, before: PageState, after: PageState) -> str:
    return f"close_tab: closed; now on tab {after.tab}, {clip(after.url, 120)}"


def _done(call: ToolCall, before: PageState, after: PageState) -> str:
    return f'done: "{clip(call.arguments["answer"], 200)}"'


_DESCRIPTIONS = {
    "click": _click,
    "hover": _hover,
    "drag": _drag,
    "write": _write,
    "press_keys": _press_keys,
    "scroll": _scroll,
    "goto_url": _goto_url,
    "go_back": _go_back,
    "wait": _wait,
    "new_tab": _new_tab,
    "switch_tab": _switch_tab,
    "close_tab": _close_tab,
    "done": _done,
}

_NOTHING = "nothing changed"


def _movement(before: PageState, after: PageState) -> str | None:
    """Say which page or tab the agent is on now, if that has changed."""
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
    """Say the most informative difference between two states."""
    moved = _movement(before, after)
    if moved:
        return moved
    old, new = before.target, after.target
    if old and new and (old.tag, old.name) == (new.tag, new.name):
        if new.checked is not None and old.checked != new.checked:
            return "now checked" if new.checked else "now unchecked"
        if new.expanded is not None and old.expanded != new.expanded:
            return "now open" if new.expanded else "now closed"
        if old.value is not None and old.value != new.value:
            return f'its value is now "{clip(new.value or "", 60)}"'
    if after.focus and after.focus != before.focus:
        if after.focus.tag == "select" and (_is_option(before.target) or _is_option(before.focus)):
            return f'{_element(after.focus)} is now "{clip(after.focus.value or "", 60)}"'
        if before.focus and (before.focus.tag, before.focus.name) == (after.focus.tag, after.focus.name):
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


def _percent(offsets: tuple[float, float, float, float], axis: int) -> str:
    room = offsets[axis + 2]
    share = offsets[axis] / room if room > 0 else 1.0
    if share > 0.995:
        return "its end"
    return "its start" if share < 0.005 else f"{100 * share:.0f}%"


def _point(x: int, y: int) -> str:
    return f"({x}, {y})"


def _on(element: Element | None) -> str:
    return f" on {_element(element)}" if element else ""


def _element(element: Element) -> str:
    role = f" role={element.role}" if element.role else ""
    name = f' "{element.name}"' if element.name else ""
    return f"<{element.tag}{role}>{name}"


def clip(text: str, limit: int) -> str:
    """Return a text as one line of at most `limit` characters."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
