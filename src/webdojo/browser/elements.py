"""Numbers for the controls of a page, and the way back from a number to a point.

A view numbers the controls that it shows (`views.numbered`); until the next view, a call may name one
of them instead of a point. Invariant: a number means the element that it stood for when it was shown,
wherever that has moved to; one that is gone is said to be gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.actions import ToolFailed
from webdojo.browser.snapshot import Place, Snapshot
from webdojo.browser.tools import COORDINATE_MAX
from webdojo.browser.views import numbered

_SHOW_JS = """(elements, index) => {
  const e = elements[index];
  if (!e.isConnected) return null;
  const inView = () => {
    const box = e.getBoundingClientRect();
    const x = (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2;
    const y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
    return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight && x >= box.left && x <= box.right &&
      y >= box.top && y <= box.bottom ? [x, y] : null;
  };
  let at = inView();
  const hit = at && e.getRootNode().elementFromPoint && e.getRootNode().elementFromPoint(at[0], at[1]);
  if (!at || !hit || !(e === hit || e.contains(hit) || hit.contains(e)))
    e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'});
  at = inView();
  return at || [];
}"""


class Elements:
    """The numbered controls of the last view.

    Args:
        snapshot: what the view was made of.
        places: of its nodes, in the same order.
    """

    def __init__(self, snapshot: Snapshot, places: Sequence[Place]) -> None:
        self._viewport_px = snapshot.viewport_px
        numbers = numbered(snapshot)
        self._places = {number: places[index] for index, number in numbers.items()}
        self._boxes = {number: snapshot.nodes[index].box_px for index, number in numbers.items()}

    @classmethod
    def none(cls, viewport_px: tuple[int, int]) -> Elements:
        """Before the first view."""
        return cls(Snapshot((), viewport_px, "", ""), ())

    def at(self, x: int, y: int) -> int | None:
        """The number of the smallest control around a point in 0..1000, as the view had it."""
        width, height = self._viewport_px
        px, py = x * width / COORDINATE_MAX, y * height / COORDINATE_MAX
        around = [
            ((right - left) * (bottom - top), number)
            for number, (left, top, right, bottom) in self._boxes.items()
            if left - 1 <= px <= right + 1 and top - 1 <= py <= bottom + 1
        ]
        return min(around)[1] if around else None

    async def point(self, number: int) -> tuple[int, int]:
        """Bring an element into view; the middle of what can be seen of it, in 0..1000.

        Raises:
            ToolFailed: there is no such number, or its element is gone or cannot be shown.
        """
        place = self._places.get(number)
        if place is None:
            known = f"1 to {len(self._places)}" if self._places else "none on this page"
            raise ToolFailed(f"there is no element {number}; the numbers are {known}")
        gone = ToolFailed(f"element {number} is gone: the page has changed since it was shown")
        try:
            point = await place.elements.evaluate(_SHOW_JS, place.index)
            if point is None:
                raise gone
            x, y = point or (-1, -1)
            if place.frame.parent_frame is not None:
                box = await (await place.frame.frame_element()).bounding_box()
                if box is None:
                    raise gone
                x, y = x + box["x"], y + box["y"]
        except PlaywrightError as error:
            raise gone from error
        width, height = self._viewport_px
        if not point or not (0 <= x < width and 0 <= y < height):
            raise ToolFailed(f"element {number} cannot be brought into view")
        return round(x * COORDINATE_MAX / width), round(y * COORDINATE_MAX / height)
