"""A page element by element, from which every text observation is made.

One script walks the rendered page of a frame, open shadow trees included, and returns the names, values, states and
boxes of controls, headings, pictures and runs of text. `snapshot` joins the frames of a tab. Boxes are in CSS pixels of
the viewport, clipped to what their frame shows. `views.py` turns a snapshot into text for a model.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.page.frames import Box, Frames, InnerFrame
from webdojo.browser.page.scripts import script
from webdojo.browser.page.world import World
from webdojo.browser.tab import Tab

MAX_NODES = 5000
"""Maximum number of nodes of one frame, so that a page of 50,000 elements does not take seconds."""
_FRAME_TIMEOUT_S = 2.0
_MIN_FRAME_PX = 16

_SNAPSHOT_JS = script("snapshot.js")
_ids = itertools.count()


@dataclass(frozen=True)
class Node:
    """One element, or one run of text."""

    depth: int
    tag: str
    """Tag name in lower case; `#text` for text."""
    role: str
    """Explicit or implicit ARIA role; `text` or `clickable` if there is none."""
    name: str
    box_px: Box
    """In the viewport: of the visible part, or of the whole element if nothing is visible."""
    in_view: bool
    control: bool = False
    """Whether it can be clicked, typed into or chosen."""
    covered: bool = False
    """Whether it is in view, but a click in its middle would hit another element."""
    value: str | None = None
    options: tuple[str, ...] = ()
    checked: bool | None = None
    selected: bool | None = None
    expanded: bool | None = None
    disabled: bool = False
    focused: bool = False
    level: int = 0
    """Level of a heading; 0 for other elements."""
    type: str = ""
    """Type of a text field that is not plain, such as `email`."""


@dataclass(frozen=True)
class Snapshot:
    """All nodes of a tab in reading order; the nodes of a frame follow the frame."""

    nodes: tuple[Node, ...]
    viewport_px: tuple[int, int]
    title: str
    url: str
    omitted: int = 0
    """Number of elements after the first `MAX_NODES` nodes."""


@dataclass(frozen=True)
class ElementRef:
    """The element of a node in the live page."""

    world: World
    """Of its document."""
    frame: InnerFrame | None
    """The frame that it is in; None if that is the tab itself."""
    snapshot: int
    """Number of the snapshot, whose elements the document keeps until the next one."""
    index: int
    """Index among them."""


@dataclass(frozen=True)
class Refs:
    """The elements of a snapshot's nodes, in the same order, with the tab and the frames that they are in."""

    tab: Tab | None = None
    frames: Frames = field(default_factory=Frames)
    all: Sequence[ElementRef] = ()


Found = list[tuple[Node, ElementRef]]


async def snapshot(tab: Tab, viewport_px: tuple[int, int]) -> tuple[Snapshot, Refs]:
    """Read a tab with its frames, and the element of each node; frames that do not answer are left out."""
    (found, omitted), title = await asyncio.gather(_read(tab.world, None), tab.read_title())
    frames = await Frames.of(tab.page, tab.cdp)
    for inner in await asyncio.gather(*map(_frame, frames.all)):
        if inner is None:
            continue
        box, inside, left_out = inner
        omitted += left_out
        at = next((i for i, (node, _) in enumerate(found) if _shows(node, box)), len(found) - 1)
        depth = found[at][0].depth + 1 if found else 0
        found[at + 1 : at + 1] = [(_moved(node, depth, box, viewport_px), ref) for node, ref in inside]
    nodes = tuple(node for node, _ in found)
    return Snapshot(nodes, viewport_px, title, tab.url, omitted), Refs(tab, frames, [ref for _, ref in found])


async def _read(world: World, frame: InnerFrame | None) -> tuple[Found, int]:
    """Return the nodes of one document, and the number of elements that were left out."""
    id = next(_ids)
    raw = json.loads(await world.call(_SNAPSHOT_JS, MAX_NODES, id))
    found = []
    for index, node in enumerate(raw["nodes"]):
        tuples = {"box_px": tuple(node["box_px"]), "options": tuple(node.get("options", ()))}
        found.append((Node(**(node | tuples)), ElementRef(world, frame, id, index)))
    return found, raw["omitted"]


async def _frame(frame: InnerFrame) -> tuple[Box, Found, int] | None:
    """Return the box of a frame, the nodes inside it, and the number of elements left out; None if it is not shown."""
    try:
        async with asyncio.timeout(_FRAME_TIMEOUT_S):
            box = await frame.box_px()
            if box is None or min(box[2] - box[0], box[3] - box[1]) < _MIN_FRAME_PX:
                return None
            found, omitted = await _read(frame.world, frame)
    except (PlaywrightError, TimeoutError):
        return None
    return box, found, omitted


def _shows(node: Node, frame: Box) -> bool:
    """Whether a node is the element of a frame: its box may be clipped, but it lies inside the box of the frame."""
    left, top, right, bottom = node.box_px
    x, y = (left + right) / 2, (top + bottom) / 2
    return node.tag == "iframe" and frame[0] - 1 <= x <= frame[2] + 1 and frame[1] - 1 <= y <= frame[3] + 1


def _moved(node: Node, depth: int, frame: Box, viewport_px: tuple[int, int]) -> Node:
    """Move a node of a frame into the viewport, and clip it to what the viewport shows of it."""
    (left, top, right, bottom), (x, y, *_) = node.box_px, frame
    box = (left + x, top + y, right + x, bottom + y)
    seen = (max(box[0], 0), max(box[1], 0), min(box[2], viewport_px[0]), min(box[3], viewport_px[1]))
    in_view = node.in_view and seen[2] - seen[0] > 1 and seen[3] - seen[1] > 1
    return dataclasses.replace(node, depth=node.depth + depth, box_px=seen if in_view else box, in_view=in_view)
