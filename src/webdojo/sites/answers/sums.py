"""What an answer adds up page by page: `Page 1: 8 (so far: 8), page 2: 3 (so far: 11), so 11`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from webdojo.sites.answers.figures import Figure, figures_of, reckoned
from webdojo.sites.answers.reading import Reading

_PAGES = frozenset(("page", "pages"))
_FULL = re.compile(r"(?:full |whole |complete )?pages? (?:of|with)(?: \w+)?(?: each)?")
"""Between a number of pages and how many things each of them has."""
_NEAR = 3
"""How many words may stand between a sum and the words that say that it is none of all."""


def explain_pages(reading: Reading, unit: str, value: Decimal) -> bool:
    """Explain the numbers of single pages, and how many they are so far, if they add up to a value that is said too.

    Returns whether they do.
    """
    if _PAGES.isdisjoint(reading.texts):
        return False
    figures = list(reckoned(reading, list(_full_pages(reading, _counted(reading, unit))), value))
    places = [each for each in figures if each.value != value] if _add_up(figures, value) else []
    for each in places:
        start, end = each.start, each.end
        start -= reading.texts[start - 1 : start] == ("another",)
        more = reading.texts[end : end + 1] == ("more",)
        start -= more and reading.texts[start - 1 : start] == ("and",)
        reading.explain(start, end + more)
        for at in range(max(0, each.start - _NEAR), min(each.end + _NEAR, len(reading.texts) - 1)):
            if reading.texts[at : at + 2] == ("so", "far"):
                reading.explain(at, at + 2)
    return bool(places)


def _counted(reading: Reading, unit: str) -> Iterator[Figure]:
    """The numbers that an answer claims; that of `4 more on the last page`, too."""
    for each, plain in zip(figures_of(reading, unit), figures_of(reading, unit, bounds=False), strict=True):
        more = reading.texts[each.end : each.end + 2]
        yield plain if more[:1] == ("more",) and more != ("more", "than") else each


def _full_pages(reading: Reading, figures: Iterable[Figure]) -> Iterator[Figure]:
    """The numbers, with `3 full pages of 10` as 30."""
    pages: Figure | None = None
    for each in figures:
        between = reading.texts[pages.end : each.start] if pages is not None else ()
        if pages is not None and pages.value and each.value and _FULL.fullmatch(" ".join(between)):
            yield Figure(pages.start, each.end, pages.value * each.value)
            pages = None
            continue
        if pages is not None:
            yield pages
        pages = each
    if pages is not None:
        yield pages


def _add_up(figures: Sequence[Figure], value: Decimal) -> bool:
    """Whether figures are those of pages, perhaps with sums of them, and at the end the value, which is their sum."""
    reached = {(Decimal(0), 0)}
    """The sums that pages may have come to so far, and of how many; a figure may be of a page or such a sum."""
    for each in figures:
        if each.value is None:
            return False
        sums = {(total, pages) for total, pages in reached if pages and total == each.value}
        reached = sums | {(total + each.value, pages + 1) for total, pages in reached if total + each.value <= value}
    closed = bool(figures) and figures[-1].value == value
    return closed and any(total == value and pages > 1 for total, pages in reached)
