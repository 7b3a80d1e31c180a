"""How the oracle finds a place on a map: it drags the map, zooms in, and clicks the marker.

Markers are elements with `data-marker`. The map is the element with `data-map`; its `.sheet` can be dragged, and its
`data-opened` names the open card. The buttons that zoom have `data-zoom`.
"""

from __future__ import annotations

from typing import Any

from webdojo.sites.oracle.forms import Move, click
from webdojo.sites.oracle.page import PageView
from webdojo.types import ToolCall

_EDGE_PX = 14
"""A marker that is nearer to the edge of the map cannot be clicked."""
_REACH = 0.25
"""How far a drag goes from the middle of the map to each side, as a fraction of the map's size."""


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
