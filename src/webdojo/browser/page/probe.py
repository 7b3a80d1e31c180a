"""The state of a page besides its pixels (OpenWebRL A.2), read by one script.

`feedback` compares the states before and after a call. The first reading starts a mutation watch, so that the second
one knows whether the document has changed at all. Points are given to the scripts in CSS pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webdojo.browser.page.scripts import script

PROBE_JS = script("probe.js")

_STATUSES = {
    401: "log-in required",
    403: "access denied",
    407: "proxy log-in required",
    429: "too many requests",
    451: "unavailable for legal reasons",
    503: "service unavailable",
}
"""Status codes of documents with which sites turn robots away. 404 and 500 are errors, not blocks."""

PAGE_JS = script("page.js")
"""Reads the few values that an observation needs."""


@dataclass(frozen=True)
class Element:
    """A DOM element as feedback names it."""

    tag: str
    role: str = ""
    name: str = ""
    value: str | None = None
    """The value of a field; None if the element is not a field."""
    secret: bool = False
    """Whether it is a password field."""
    checked: bool | None = None
    expanded: bool | None = None
    """Whether a drop-down, disclosure or menu is open; None for other elements."""
    editable: str = ""
    """`type`: it takes keys; `fill`: it takes a whole value (dates, sliders); empty: neither."""
    takes: str = ""
    """An example of a value, for fields whose values have a fixed format: dates, times, colours."""


@dataclass(frozen=True)
class PageState:
    """The active tab at one moment. Scroll offsets and rooms are in CSS pixels."""

    url: str
    tab: int = 0
    tabs: int = 1
    document: int = 0
    """Number of documents that this tab has loaded so far; a reload of the same URL counts."""
    scroll: Sequence[float] = (0, 0, 0, 0)
    """Left and top offset, and how far each of them can go."""
    box: Sequence[float] | None = None
    """The same for the innermost scrollable element at the point."""
    target: Element | None = None
    """The element at the point, or the interactive element around it."""
    focus: Element | None = None
    changes: int = 0
    """Number of DOM changes since the previous reading."""


def blocked_by(status: int, marks: Sequence[str]) -> str:
    """Return why a page counts as blocked, from its HTTP status and marks, or an empty string if it does not."""
    reasons = [f"HTTP {status} ({_STATUSES[status]})"] if status in _STATUSES else []
    return ", ".join([*reasons, *marks])
