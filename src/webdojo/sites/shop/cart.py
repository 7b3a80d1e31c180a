"""A session's cart: keys `cart/<product>` of what it changed, with the amount as value and none for nothing."""

from __future__ import annotations

from webdojo.sites.site import Overlay

_PREFIX = "cart/"


def line(slug: str) -> str:
    """The key of a product in the cart."""
    return f"{_PREFIX}{slug}"


def amounts(overlay: Overlay) -> dict[str, int]:
    """Amount by product, in the order in which they came."""
    return {key.removeprefix(_PREFIX): amount for key, amount in overlay.state.items() if key.startswith(_PREFIX)}


def put(overlay: Overlay, slug: str) -> None:
    """Put one more into the cart."""
    overlay.state[line(slug)] = overlay.state.get(line(slug), 0) + 1


def take_out(overlay: Overlay, slug: str) -> None:
    """Take all of a product out of the cart."""
    overlay.state.pop(line(slug), None)
