"""Numbers for the controls of a page, and the way back from a number to a point.

A view numbers the controls that it shows (`views.numbered`); until the next view, a call may name one
of them instead of a point. Invariant: a number means the element that it stood for when it was shown,
wherever that has moved to; one that is gone, and one that was never shown, is said to be.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from webdojo.browser.actions import ToolFailed
from webdojo.browser.page.probe import ELEMENTS_JS
from webdojo.browser.page.snapshot import Place, Snapshot, frame_corner
from webdojo.browser.page.views import numbered
from webdojo.browser.tools import COORDINATE_MAX

_POINT_JS = (
    f"(elements, [index, scroll]) => {{ {ELEMENTS_JS}"
    + """
  const e = elements[index];
  if (!e.isConnected) return null;
  const show = () => e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  if (scroll) show();
  let at = middleOf(e);
  if (!scroll && !(at && reachedAt(e, at))) {
    show();
    at = middleOf(e);
  }
  return at || [];
}"""
)


class ListNumber(int):
    """The number of a list of options, for formats that have a word of their own for choosing."""


class Elements:
    """The numbered controls of the last view.

    Args:
        snapshot: what the view was made of.
        places: of its nodes, in the same order.
        shown: the numbers that the view shows.
    """

    def __init__(self, snapshot: Snapshot, places: Sequence[Place], shown: Container[int]) -> None:
        self._viewport_px = snapshot.viewport_px
        self._arrays = {place.elements for place in places}
        numbers = {number: index for index, number in numbered(snapshot).items() if number in shown}
        self._places = {number: places[index] for number, index in numbers.items()}
        self._nodes = {number: snapshot.nodes[index] for number, index in numbers.items()}

    @classmethod
    def none(cls, viewport_px: tuple[int, int]) -> Elements:
        """Before the first view."""
        return cls(Snapshot((), viewport_px, "", ""), (), ())

    def at(self, x: int, y: int) -> int | None:
        """The number of the control at a point in 0..1000, as the view had it: the smallest that is not covered.

        Controls out of view can lie on others: one is meant where the point is its middle, or where nothing in view
        is there.
        """
        width, height = self._viewport_px
        px, py = x * width / COORDINATE_MAX, y * height / COORDINATE_MAX
        around = []
        for number, node in self._nodes.items():
            left, top, right, bottom = node.box_px
            if left - 1 <= px <= right + 1 and top - 1 <= py <= bottom + 1:
                off = 0.0 if node.in_view else max(abs(left + right - 2 * px), abs(top + bottom - 2 * py)) / 2
                meant = not node.in_view and off < 1
                around.append((node.covered, not meant, not node.in_view, off, (right - left) * (bottom - top), number))
        if not around:
            return None
        number = min(around)[-1]
        return ListNumber(number) if self._nodes[number].tag == "select" else number

    async def point(self, number: int, page: Page) -> tuple[int, int]:
        """Bring an element into view; the middle of what can be seen of it, in 0..1000.

        Args:
            page: of the active tab.

        Raises:
            ToolFailed: there is no such number, or its element is gone or cannot be shown.
        """
        place = self._places.get(number)
        if place is None:
            known = f"1 to {max(self._places)}" if self._places else "none on this page"
            raise ToolFailed(f"there is no element {number}; the numbers are {known}")
        gone = ToolFailed(f"element {number} is gone: the page has changed since it was shown")
        if place.frame.page != page:
            raise gone
        width, height = self._viewport_px
        for scroll in (False, True):  # in a frame it may be in view although the frame is not
            try:
                point = await place.elements.evaluate(_POINT_JS, [place.index, scroll])
                corner = await frame_corner(place.frame)
            except PlaywrightError as error:
                raise gone from error
            if point is None or corner is None:
                raise gone
            if not point:
                continue
            x, y = point[0] + corner[0], point[1] + corner[1]
            if 0 <= x < width and 0 <= y < height:
                return round(x * COORDINATE_MAX / width), round(y * COORDINATE_MAX / height)
        raise ToolFailed(f"element {number} cannot be brought into view")

    async def forget(self) -> None:
        """Let the pages forget the elements, which they keep in memory otherwise."""
        for elements in self._arrays:
            with suppress(PlaywrightError):  # the page may be gone, and they with it
                await elements.dispose()
