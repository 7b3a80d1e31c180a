"""How the oracle gets through perturbations: what it does first on a page that is not as it should be.

On pages without perturbations it finds nothing to do.
"""

from __future__ import annotations

from typing import Any

from webdojo.sites.oracle.forms import Move, click
from webdojo.sites.oracle.page import PageView
from webdojo.sites.perturbations.notices import ANSWER, OFFER
from webdojo.sites.perturbations.schedule import Event
from webdojo.types import ToolCall

_ERROR_HOST = "chromewebdata"
"""Host of the page that Chromium shows if no page came."""
_REFUSALS = (403, 429)
_PATIENCE_S = 2

_SAYS: dict[str, str] = {
    Event.COOKIE_WALL: "A cookie notice covers the page.",
    Event.NEWSLETTER: "A pop-up covers the page.",
    Event.CHAT_BUBBLE: "A chat box covers the page.",
    Event.SESSION_EXPIRED: "The session ended.",
    Event.BOT_CHECK: "This is a check for robots.",
    Event.BOT_WALL: "This is a check for robots.",
}


def recover(view: PageView, url: str) -> Move | None:
    """What to do before anything else; None if the page is the site's own and nothing covers it.

    Args:
        view: what the oracle sees of the page.
        url: the address that was asked for, even if no page came.
    """
    if view["host"] == _ERROR_HOST:
        return "The page did not load.", "Load it again.", [ToolCall(name="goto_url", arguments={"url": url})]
    if view["busy"] or not view["elements"]:
        return "It is not there yet.", "Wait.", [ToolCall(name="wait", arguments={"seconds": _PATIENCE_S})]
    if view["path"].startswith(OFFER):
        return "This is an advert.", "Go back.", [ToolCall(name="go_back")]
    buttons = [e for e in view["elements"] if e["tag"] == "button" and e["action"] == ANSWER and e["clear"]]
    if buttons:  # a check that takes two buttons shows the second one after the first was pressed
        button = next((e for e in buttons if e["name"] == "answer"), buttons[-1])
        return click(button, _label(button), _SAYS[button["event"]], "Press", view)
    if view["status"] in _REFUSALS or view["status"] >= 500:
        link = next((e for e in view["elements"] if e["href"] and e["clear"]), None)
        if link is not None:
            return click(link, _label(link), "The page did not load.", "Open", view)
    return None


def _label(element: dict[str, Any]) -> str:
    text = " ".join(str(element["text"]).split()).removeprefix("[ ] ").removeprefix("[x] ").lstrip("✓ ")
    return "the cross" if text in ("X", "×") else text
