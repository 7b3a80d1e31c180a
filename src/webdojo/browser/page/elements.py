"""The numbered controls of a page, and the point on the screen that a number stands for.

A view numbers the controls that it shows (`views.numbered`), and until the next view a call may name one of them
instead of a point. Invariant: a number means the element that it was shown for, wherever that has moved since; the
feedback says so if the element is gone, or if the number was never shown.
"""

from __future__ import annotations

from collections.abc import Container

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.page.scripts import script
from webdojo.browser.page.snapshot import Refs, Snapshot
from webdojo.browser.page.views import numbered
from webdojo.browser.tab import Tab
from webdojo.browser.tools import COORDINATE_MAX, ListNumber, ToolFailed

_POINT_JS = script("point.js")


class Elements:
    """The numbered controls of the last view: those of a snapshot whose numbers were shown."""

    def __init__(self, snapshot: Snapshot, refs: Refs, shown: Container[int]) -> None:
        self._viewport_px = snapshot.viewport_px
        self._tab, self._frames = refs.tab, refs.frames
        numbers = {number: index for index, number in numbered(snapshot).items() if number in shown}
        self._shown = {number: (refs.all[index], snapshot.nodes[index]) for number, index in numbers.items()}

    def at(self, x: int, y: int) -> int | None:
        """Return the number of the smallest control that is not covered at a point in 0..1000 of the view.

        A control that is out of view counts only if the point is its middle, or if no control in view is there.
        """
        width, height = self._viewport_px
        px, py = x * width / COORDINATE_MAX, y * height / COORDINATE_MAX
        around = []
        for number, (_, node) in self._shown.items():
            left, top, right, bottom = node.box_px
            if left - 1 <= px <= right + 1 and top - 1 <= py <= bottom + 1:
                off = 0.0 if node.in_view else max(abs(left + right - 2 * px), abs(top + bottom - 2 * py)) / 2
                meant = not node.in_view and off < 1
                around.append((node.covered, not meant, not node.in_view, off, (right - left) * (bottom - top), number))
        if not around:
            return None
        number = min(around)[-1]
        return ListNumber(number) if self._shown[number][1].tag == "select" else number

    async def point(self, number: int, tab: Tab) -> tuple[int, int]:
        """Bring an element of the tab into view, and return the middle of its visible part, in 0..1000."""
        if number not in self._shown:
            known = f"1 to {max(self._shown)}" if self._shown else "none on this page"
            raise ToolFailed(f"there is no element {number}; the numbers are {known}")
        ref, _ = self._shown[number]
        gone = ToolFailed(f"element {number} is gone: the page has changed since it was shown")
        if tab is not self._tab:
            raise gone
        width, height = self._viewport_px
        for scroll in (False, True):  # an element may be in view inside a frame that is not
            try:
                point = await ref.world.call(_POINT_JS, ref.snapshot, ref.index, scroll)
                box = await ref.frame.box_px() if ref.frame is not None else (0, 0)
            except PlaywrightError as error:
                raise gone from error
            if point is None or box is None:
                raise gone
            if not point:
                continue
            x, y = point[0] + box[0], point[1] + box[1]
            if 0 <= x < width and 0 <= y < height:
                return round(x * COORDINATE_MAX / width), round(y * COORDINATE_MAX / height)
        raise ToolFailed(f"element {number} cannot be brought into view")

    async def forget(self) -> None:
        await self._frames.close()
