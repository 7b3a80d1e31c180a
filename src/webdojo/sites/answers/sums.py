"""What an answer adds up page by page: `Page 1: 8 (so far: 8), page 2: 3 (so far: 11), so 11`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from webdojo.sites.answers.figures import Figure
from webdojo.sites.answers.reading import Reading

_PAGES = frozenset(("page", "pages"))
_NEAR = 3
"""How many words may stand between a sum and the words that say that it is none of all."""


def explain_pages(reading: Reading, figures: Sequence[Figure], value: Decimal) -> bool:
    """Explain the numbers of single pages, and how many they are so far, if they add up to a value that is said too.

    Returns whether they do.
    """
    places = _added(figures, value) if not _PAGES.isdisjoint(reading.texts) else []
    for each in places:
        more = reading.texts[each.start - 1 : each.start] == ("another",)
        reading.explain(each.start - more, each.end)
        for at in range(max(0, each.start - _NEAR), min(each.end + _NEAR, len(reading.texts) - 1)):
            if reading.texts[at : at + 2] == ("so", "far"):
                reading.explain(at, at + 2)
    return bool(places)


def _added(figures: Sequence[Figure], value: Decimal) -> list[Figure]:
    """The figures of pages and of sums of them before the last, which must be the value; none if they are no such."""
    total, pages, found = Decimal(0), 0, []
    for each in figures:
        if each.value is None:
            return []
        if each.value == value and total == value:
            continue
        if pages and each.value == total:
            found.append(each)
            continue
        total, pages = total + each.value, pages + 1
        found.append(each)
    closed = bool(figures) and figures[-1].value == value
    return found if pages > 1 and total == value and closed else []
