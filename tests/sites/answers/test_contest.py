"""Which of two is higher, in formulas, signs and short lines."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.values import among, number, winner

HIGHER = "Tell me the higher Stock of Swift Hat and Wild Hat."
STOCK = Subject(asked=("Stock",))
HATS = among([winner([["Swift Hat"], ["Wild Hat"]], 1, [47, 67], by_figure=True), number(67)])


@pytest.mark.parametrize(
    "said",
    ["max({}, {}) = {}", "MAX({}; {}) → {}", "max{{{}, {}}} = {}", "The maximum of {} and {} is {}.",
     "The greater of {} and {} is {}."],
)  # fmt: skip
def test_a_formula_claims_what_comes_out_of_it(said: str) -> None:
    for first, second in ((47, 67), (67, 47)):
        assert says(HATS, said.format(first, second, 67), HIGHER, STOCK)
        assert not says(HATS, said.format(first, second, 47), HIGHER, STOCK)


@pytest.mark.parametrize("said", ["67, 47", "47; 67", "67 and 47", "max(47, 67)", "the larger of 47 and 67"])
def test_two_figures_alone_are_no_answer(said: str) -> None:
    assert not says(HATS, said, HIGHER, STOCK)
