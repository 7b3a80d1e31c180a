"""Dates in digits that tell in which order they stand."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.reading import texts_of


@pytest.mark.parametrize(
    "said",
    ["10/07/2026 (MM/DD/YYYY)", "10/07/2026 (mm/dd/yyyy format)", "10/07/2026 in MM/DD/YYYY format",
     "10/07/2026, month/day/year", "10/07/2026 (month first)", "10/07/2026 (US format)", "10/07/2026 (U.S. style)",
     "(MM/DD/YYYY) 10/07/2026", "MM/DD/YYYY: 10/07/2026", "10/07/2026 (format: MM/DD/YYYY)",
     "10/07/2026 (the American format)", "07/10/2026 (DD/MM/YYYY)", "07.10.2026 (DD.MM.YYYY)", "7-10-2026 (D-M-Y)",
     "07/10/2026 (day first)", "07/10/2026 in the European style", "07/10/2026 (day/month/year)"],
)  # fmt: skip
def test_the_order_is_taken_as_it_is_told(said: str) -> None:
    assert texts_of(said) == ("@2026-10-07",)


@pytest.mark.parametrize("said", ["10/07/2026", "25/07/2026 (MM/DD/YYYY)", "07/25/2026 (DD/MM/YYYY)"])
def test_without_an_order_or_against_it_a_date_is_none(said: str) -> None:
    assert texts_of(said) == ("@?",)


@pytest.mark.parametrize("said", ["2026/Oct/07", "2026-Oct-7", "2026 October 7", "7/Oct/2026", "Oct/7/2026"])
def test_a_month_in_letters_tells_it_by_itself(said: str) -> None:
    assert texts_of(said) == ("@2026-10-07",)
