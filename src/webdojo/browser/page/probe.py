"""The state of a page besides its pixels (OpenWebRL A.2), read by one script.

`feedback` compares the states before and after a call. The first reading starts a mutation watch, so that the second
one knows whether the document has changed at all. Points are given to the scripts in CSS pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from webdojo.browser.page.scripts import script
from webdojo.errors import BrowserError, Failure

T = TypeVar("T")

PROBE_JS = script("probe.js")
VALUE_CHARS = 10_000
"""Characters of a field that are read at most; `parts/read.js` has the same number."""

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
    id: int = 0
    """Its number in the document, by which a later state knows it again."""
    maxlength: int = 0
    """Characters that a field takes at most; 0: any number."""
    opaque: bool = False
    """Whether what it holds cannot be read: in a shadow tree, or drawn elsewhere by the script that takes its keys."""


@dataclass(frozen=True)
class PageState:
    """The active tab at one moment. Scroll offsets and rooms are in CSS pixels."""

    url: str
    tab: int = 0
    tabs: int = 1
    loading: bool = False
    """Whether something of the page has not come yet."""
    document: int = 0
    """Number of documents that this tab has loaded so far; a reload of the same URL counts."""
    scroll: Sequence[float] = (0, 0, 0, 0)
    """Left and top offset, and how far each of them can go."""
    box: Sequence[float] | None = None
    """The same for the innermost scrollable element at the point."""
    clipped: bool = False
    """Whether something around the point is larger than what it shows, and does not scroll."""
    target: Element | None = None
    """The element at the point, or the interactive element around it."""
    focus: Element | None = None
    offer: str = ""
    """What to do about the file that the page asks for; empty where it asks for none."""
    changes: int = 0
    """Number of DOM changes since the previous reading."""


@dataclass(frozen=True)
class Glance:
    """What an observation tells of the page besides its pixels. Lengths are in CSS pixels."""

    title: str
    page: tuple[int, int]
    scroll: tuple[float, float]
    marks: Sequence[str]
    """Names of the robot checks that the page shows."""
    loading: bool
    """Whether parts of it are still to come, or it has no body, so that it may never be drawn."""


_STATE, _GLANCE = TypeAdapter(PageState), TypeAdapter(Glance)


def state_of(raw: Any) -> PageState:
    """Return what `PROBE_JS` has read, with where it was; raise BrowserError if it cannot be the state of a page."""
    return _checked(_STATE, raw)


def glance_of(raw: Any) -> Glance:
    """Return what `PAGE_JS` has read; raise BrowserError if it cannot be so."""
    return _checked(_GLANCE, raw)


def _checked(kind: TypeAdapter[T], raw: Any) -> T:
    try:
        return kind.validate_python(raw)
    except ValidationError as error:
        (first, *_) = error.errors()
        at = ".".join(map(str, first["loc"]))
        raise BrowserError(f"the page cannot be read: {at}: {first['msg']}", Failure.UNEXPECTED) from None


def dead_by(url: str, status: int, loaded: bool) -> str:
    """Return why a tab shows no page of a site, or an empty string if it shows one."""
    if url.startswith("about:blank"):
        return "an empty tab"
    if not loaded:
        return "no connection"
    return f"HTTP {status} (no server behind the address)" if status in (502, 504) else ""


def blocked_by(status: int, marks: Sequence[str]) -> str:
    """Return why a page counts as blocked, from its HTTP status and marks, or an empty string if it does not."""
    reasons = [f"HTTP {status} ({_STATUSES[status]})"] if status in _STATUSES else []
    return ", ".join([*reasons, *marks])
