"""Dates in digits that tell their order: `10/07/2026 (MM/DD/YYYY)`, `10.07.2026, day first`."""

from __future__ import annotations

import re

_KIND = r"(?:format|style|order|notation|convention)"
_MONTH_FIRST = rf"(?:mm?|month)\W{{0,3}}(?:dd?|day)\W{{0,3}}(?:y{{1,4}}|year)|(?:american|u\.?s\.?) {_KIND}|month first"
_DAY_FIRST = (
    rf"(?:dd?|day)\W{{0,3}}(?:mm?|month)\W{{0,3}}(?:y{{1,4}}|year)|(?:european|british|u\.?k\.?) {_KIND}|day first"
)
_DIGITS = r"(?<![\d/.-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?![\d/.-]\d|\d)"
_LED_BY = rf"(?:(?:in|as|the|{_KIND}|date|written|which|is|that|read|using|with)\b\W{{1,3}})*"


def _pattern(order: str) -> re.Pattern[str]:
    """A date behind which an order stands, or before which it does."""
    behind = rf"{_DIGITS}\W{{1,3}}{_LED_BY}(?:{order})\b(?:\W{_KIND}\b)?"
    before = rf"\b(?:{order})(?:\W{_KIND})?\W{{1,3}}{_DIGITS}".replace(r"\2", r"\6")
    return re.compile(f"{behind}|{before}")


_ORDERS = ((_pattern(_MONTH_FIRST), True), (_pattern(_DAY_FIRST), False))


def in_told_order(text: str) -> str:
    """A text in small letters in which such dates stand as `2026-10-07`, without what tells their order."""
    for pattern, month_first in _ORDERS:

        def written(match: re.Match[str], month_first: bool = month_first) -> str:
            first, _, second, year = match.groups()[:4] if match[1] else match.groups()[4:]
            month, day = (first, second) if month_first else (second, first)
            return f"{year}-{month}-{day}"

        text = pattern.sub(written, text)
    return text
