"""The oracle's moves: it clicks, scrolls and drags, fills in forms as a person does, one field a step, and uses maps.

Before anything else it gets through perturbations; on pages without them it finds nothing to do for that.

On a map it drags, zooms in, and clicks the marker. Markers are elements with `data-marker`. The map is the element
with `data-map`; its `.sheet` can be dragged, and its `data-opened` names the open card. The buttons that zoom have
`data-zoom`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites.oracle.page import PageView
from webdojo.sites.perturbations.notices import ANSWER, OFFER
from webdojo.sites.perturbations.schedule import Event
from webdojo.types import ToolCall

SCROLL_AMOUNT = 0.5
"""Fraction of the viewport that one scroll moves."""
_EDGE_PX = 14
"""A marker that is nearer to the edge of the map cannot be clicked."""
_REACH = 0.25
"""How far a drag goes from the middle of the map to each side, as a fraction of the map's size."""
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

Move = tuple[str, str, list[ToolCall]]
"""Why the oracle does it, what it does, and the tool calls."""


def click(
    element: dict[str, Any], label: str, why: str, verb: str, view: PageView, tool: str = "click", **more: str
) -> Move:
    """Click an element, or use another tool on it, or scroll towards it if it is not in view."""
    if element["clear"]:
        return why, f"{verb} {label}.", [ToolCall(name=tool, arguments={**point(element, view), **more})]
    if (inside := _scroll_inside(element, label, view)) is not None:
        return inside
    way = "up" if element["y"] < view["height"] / 2 else "down"
    call = ToolCall(name="scroll", arguments={"direction": way, "amount": SCROLL_AMOUNT, **_beside_map(view)})
    return f"{label} is not in view.", f"Scroll {way}.", [call]


def _scroll_inside(element: dict[str, Any], label: str, view: PageView) -> Move | None:
    """Scroll the inner list that hides an element; None if there is no such list, or the list is out of view."""
    box = element.get("box")
    if not box or box["top"] <= element["y"] <= box["bottom"]:
        return None
    top, bottom = max(box["top"], 0), min(box["bottom"], view["height"])
    if bottom - top < 0.8 * (box["bottom"] - box["top"]):
        return None
    way = "up" if element["y"] < box["top"] else "down"
    middle = point({"x": (box["left"] + box["right"]) / 2, "y": (top + bottom) / 2}, view)
    amount = round(max(0.7 * (bottom - top) / view["height"], 0.02), 2)
    call = ToolCall(name="scroll", arguments={"direction": way, "amount": amount, **middle})
    return f"{label} is further {way} in its list.", f"Scroll the list {way}.", [call]


def _beside_map(view: PageView) -> dict[str, int]:
    """The point at which the wheel scrolls the page and not the map; empty if the middle of the page will do."""
    width, height, area = view["width"], view["height"], view["map"]
    if not area or not (area["left"] <= width / 2 <= area["right"] and area["top"] <= height / 2 <= area["bottom"]):
        return {}
    above = area["top"] > height - area["bottom"]
    return {"x": 500, "y": round(500 * (area["top"] / height)) if above else round(500 * (1 + area["bottom"] / height))}


def point(element: dict[str, Any], view: PageView) -> dict[str, Any]:
    """Point of an element in 0..1000 of the viewport."""
    return {"x": round(1000 * element["x"] / view["width"]), "y": round(1000 * element["y"] / view["height"])}


def write(element: dict[str, Any], label: str, text: str, view: PageView, why: str = "", *then: ToolCall) -> Move:
    """Click a field and write into it, or scroll towards it if it is not in view."""
    why, what, calls = click(element, label, why or f"{label} is not right yet.", "Click", view)
    if not element["clear"]:
        return why, what, calls
    return why, f"Write {text}.", [*calls, ToolCall(name="write", arguments={"text": text}), *then]


def fill(action: str, values: Mapping[str, str], view: PageView) -> Move | None:
    """The next step towards sending the form of an action with these values; None if the page has no such form."""
    controls = [e for e in view["elements"] if e["action"] == action]
    buttons = [e for e in controls if e["tag"] == "button" and e["type"] == "submit"]
    if not buttons:
        return None
    for element in controls:
        if element["name"] in values and (move := _set(element, values[element["name"]], view)) is not None:
            return move
    label = buttons[-1]["text"] or "the button"
    return click(buttons[-1], label, "The form is filled in.", "Press", view)


def by_menu(item: str, name: str, action: str, view: PageView) -> Move | None:
    """The next step towards an action in the menu that a right click on a card opens; None if there is no such card."""
    entry = next((e for e in view["elements"] if e["tag"] == "button" and e["action"] == action), None)
    if entry is not None:
        return click(entry, entry["text"], "The menu is open.", "Click", view)
    card = next((e for e in view["elements"] if e["href"] == item and e["offers"]), None)
    if card is None:
        return None
    return click(card, name, f"{name} is in view.", "Right-click", view, button="right")


def narrow(path: str, view: PageView) -> Move | None:
    """The next step towards a list's address by its form of filters; None if the page has no such form."""
    parts = urlsplit(path)
    query = dict(parse_qsl(parts.query))
    if not query or "page" in query:
        return None
    controls = [e for e in view["elements"] if e["action"] == parts.path]
    offered = {e["name"] for e in controls if e["tag"] == "select" or e["type"] == "checkbox"}
    if not set(query) <= offered:
        return None
    return fill(parts.path, {name: query.get(name, "") for name in offered}, view)


def drag(card: str, column: str, view: PageView) -> Move | None:
    """Drag a card to a column of a board, or sideways if the column is out of view; None if there is no such card."""
    here = next((e for e in view["elements"] if e["card"] == card), None)
    parts = [e for e in view["elements"] if e["column"] == column]
    if here is None or not parts:
        return None
    if not here["clear"]:
        return click(here, here["text"].split("\n")[0], "", "Open", view)
    start = point(here, view)
    there = next((e for e in parts if e["clear"]), None)
    end = point(there, view) if there is not None else {**start, "x": point(parts[0], view)["x"]}
    calls = [ToolCall(name="drag", arguments={"x1": start["x"], "y1": start["y"], "x2": end["x"], "y2": end["y"]})]
    return "The card is in view.", f"Drag it to {column}.", calls


def _set(element: dict[str, Any], wanted: str, view: PageView) -> Move | None:
    """The next step towards a control's value; None if it has that value."""
    label = element["label"] or element["name"]
    if element["type"] in ("radio", "checkbox"):
        several = wanted.split(", ") if element["type"] == "checkbox" else [wanted]
        chosen = wanted == "yes" if element["value"] == "yes" else element["value"] in several
        if element["checked"] == chosen or (element["type"] == "radio" and not chosen):
            return None
        return click(element, label, f"{label} is {'not ' if chosen else ''}chosen.", "Click", view)
    if element["tag"] == "select":
        return _select(element, wanted, label, view)
    if element["suggest"]:
        return _pick(element, wanted, label, view)
    if element["value"] == wanted:
        return None
    if element["calendar"]:
        return _pick_day(element, wanted, label, view)
    return write(element, label, wanted, view)


def _select(element: dict[str, Any], wanted: str, label: str, view: PageView) -> Move | None:
    if element["value"].lower() == wanted.lower():
        return None
    if view["whole"]:
        name = next(name for value, name in element["options"] if value.lower() == wanted.lower())
        why, _, calls = click(element, label, f"{label} is not right yet.", "", view)
        return why, f"Choose {name}.", [*calls, ToolCall(name="write", arguments={"text": name})]
    options = [e for e in view["elements"] if e["tag"] == "option" and e["name"] == element["name"]]
    option = next((e for e in options if e["value"].lower() == wanted.lower()), None)
    if option is None:
        return click(element, label, f"{label} is not right yet.", "Open", view)
    if option["clear"]:
        return click(option, option["text"], f"{option['text']} is in the list.", "Choose", view)
    shown = [e for e in options if e["clear"]]
    if not shown:
        return click(option, option["text"], "", "Choose", view)
    way = "up" if option["y"] < shown[0]["y"] else "down"
    at = point(shown[len(shown) // 2], view)
    span = (shown[-1]["y"] - shown[0]["y"]) / view["height"]
    # No further than the options that are in view, which may be one.
    amount = min(max(round(span, 2), 0.08), SCROLL_AMOUNT / 2)
    call = ToolCall(name="scroll", arguments={"direction": way, "amount": amount, **at})
    return f"{option['text']} is not in view.", f"Scroll the list {way}.", [call]


def _pick(element: dict[str, Any], wanted: str, label: str, view: PageView) -> Move | None:
    offered = [e for e in view["elements"] if e["option"] and e["name"] == element["name"]]
    option = next((e for e in offered if e["text"] == wanted), None)
    if option is not None:
        return click(option, wanted, f"{wanted} is offered.", "Click", view)
    return None if element["value"] == wanted else write(element, label, wanted.split()[0], view)


def _pick_day(element: dict[str, Any], wanted: str, label: str, view: PageView) -> Move:
    days = [e for e in view["elements"] if e["day"]]
    if not days:
        return click(element, label, f"{label} is not right yet.", "Open", view)
    day = next((e for e in days if e["day"] == wanted), None)
    if day is not None:
        return click(day, day["text"], "The month is right.", "Click", view)
    sign = "\u203a" if days[0]["day"] < wanted else "\u2039"
    turn = next(e for e in view["elements"] if e["tag"] == "button" and e["text"] == sign)
    return click(turn, sign, "It is another month.", "Press", view)


def reach(marker: str, name: str, view: PageView) -> Move | None:
    """The next step towards opening the card of a marker; None if the page has no such marker."""
    here = next((e for e in view["elements"] if e["marker"] == marker), None)
    if here is None:
        return None
    area = view["map"]
    left, top, right, bottom = (area[edge] for edge in ("left", "top", "right", "bottom"))
    if not view["whole"]:
        top, bottom = max(top, 0.0), min(bottom, float(view["height"]))
        left, right = max(left, 0.0), min(right, float(view["width"]))
    if bottom - top < 0.5 * (area["bottom"] - area["top"]):
        middle = {"clear": False, "y": (area["top"] + area["bottom"]) / 2}
        return click(middle, "The map", "", "", view)
    inside = left + _EDGE_PX < here["x"] < right - _EDGE_PX and top + _EDGE_PX < here["y"] < bottom - _EDGE_PX
    if not inside:
        return _drag(here, name, (left, top, right, bottom), view)
    if here["clear"] and not here["hidden"]:
        return click(here, name, "Its marker is in view.", "Click", view)
    button = next(e for e in view["elements"] if e["zoom"] == "in")
    return click(button, "+", f"{name} is not shown yet." if button["clear"] else "", "Press", view)


def _drag(marker: dict[str, Any], name: str, box: tuple[float, float, float, float], view: PageView) -> Move:
    left, top, right, bottom = box
    middle = ((left + right) / 2, (top + bottom) / 2)
    most = (_REACH * (right - left), _REACH * (bottom - top))
    half = [
        max(-limit, min(limit, (at - marker[axis]) / 2)) for axis, at, limit in zip("xy", middle, most, strict=True)
    ]
    size = {"x": view["width"], "y": view["height"]}
    points = {
        f"{axis}{end}": round(1000 * (at + sign * step) / size[axis])
        for axis, at, step in zip("xy", middle, half, strict=True)
        for end, sign in ((1, -1), (2, 1))
    }
    ways = [("left", "right")[half[0] > 0] if abs(half[0]) >= abs(half[1]) else ("up", "down")[half[1] > 0]]
    return f"{name} is not in view.", f"Drag the map {ways[0]}.", [ToolCall(name="drag", arguments=points)]


def recover(view: PageView, url: str) -> Move | None:
    """What to do before anything else on the page of `url`; None if it is the site's own and nothing covers it."""
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
