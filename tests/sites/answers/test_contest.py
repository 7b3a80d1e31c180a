"""Which of two is higher, in formulas, signs and short lines."""

from __future__ import annotations

from itertools import permutations

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


LONGER = "Tell me the flight with the longer flight time: Ibis 669, or Heron 134."
FLIGHTS = Subject(names=("Ibis 669", "Heron 134"), asked=("Flight time", "flight time"))


@pytest.mark.parametrize(
    "said",
    ["{} {} min vs. {} {} min → {}", "{} {} vs {} {} => {}", "{} {} / {} {}: {}", "{} {}\n{} {}\n→ {}",
     "{} {} min, {} {} min, so {}"],
)  # fmt: skip
@pytest.mark.parametrize(("ibis", "heron"), [(358, 292), (49, 225), (169, 0)])
def test_a_name_that_ends_in_a_number_ends_before_its_figure(said: str, ibis: int, heron: int) -> None:
    wanted = winner([["Ibis 669"], ["Heron 134"]], int(heron > ibis), [ibis, heron], "minutes")
    more, less = ("Ibis 669", "Heron 134") if ibis > heron else ("Heron 134", "Ibis 669")
    for first, second in permutations((("Ibis 669", ibis), ("Heron 134", heron))):
        assert says(wanted, said.format(*first, *second, more), LONGER, FLIGHTS)
        assert not says(wanted, said.format(*first, *second, less), LONGER, FLIGHTS)
