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


@pytest.mark.parametrize("title", ["Is it normal that cats sleep?", "Has anyone seen this cat?", "Which cat is this?"])
def test_a_title_that_begins_like_a_clause_goes_on_with_nothing(title: str) -> None:
    question = f"Tell me the title of the thread with more replies: “{title}”, or “Old chairs”."
    replies = Subject(names=(title, "Old chairs"), asked=("reply count",))
    cat, chairs = winner([[title], ["Old chairs"]], 0, [25, 4]), winner([[title], ["Old chairs"]], 1, [4, 25])
    for said in (f"Old chairs, {title}", f"{title}, Old chairs", f"Old chairs and {title}"):
        assert not says(cat, said, question, replies)
        assert not says(chairs, said, question, replies)
    told = f"The reply count of {title} is 25. The reply count of Old chairs is 4. Therefore, {title} has more."
    assert says(cat, told, question, replies)
    assert not says(chairs, told, question, replies)


@pytest.mark.parametrize(
    "lead",
    ["It turns out that", "What I learned is that", "As it turns out,", "It turned out that", "I found out that",
     "The page shows that", "I can confirm that", "What turns up is that", "My search says that", "Now I know that"],
)  # fmt: skip
def test_words_that_lead_to_a_sentence_name_no_side(lead: str) -> None:
    wanted = winner([("A plant that turns yellow is what I know",), ("A short guide",)], 1, (9, 30))
    asked = "Which has more views: A plant that turns yellow is what I know or A short guide?"
    assert says(wanted, f"{lead} A short guide has more views.", asked)
    assert not says(wanted, f"{lead} the yellow plant has more views.", asked)


def test_a_lead_in_percent_must_be_theirs() -> None:
    question = "Which of these two has more votes: Oak Hall, or Pine Road?"
    wanted = winner([["Oak Hall"], ["Pine Road"]], 0, [181, 162])
    said = "Oak Hall: 181, Pine Road: 162. The first value is {} % more than the second, so the answer is Oak Hall."
    assert says(wanted, said.format("11.7"), question)
    assert says(wanted, said.format("12"), question)
    assert not says(wanted, said.format("38.2"), question)


def test_a_lead_and_the_words_of_more_stand_in_one_clause() -> None:
    question = "Name whichever of these two has the longer processing time: Pavement permit or Club permit."
    wanted = winner([["Pavement permit"], ["Club permit"]], 0, [5, 3], "days")
    assert says(wanted, "Pavement permit has 2 days more than Club permit.", question)
    assert not says(wanted, "Pavement permit has 2 days, which is less than the 3 days of Club permit.", question)


def test_a_sign_between_two_figures_makes_neither_a_limit() -> None:
    question = "Which has the longer flight time: Ibis 669, or the shortest flight lasting at most 90 min?"
    wanted = winner([["Ibis 669"], ["Gull 678", "the shortest flight"]], 1, [48, 90], "minutes")
    assert says(wanted, "48 min < 90 min, so the answer is Gull 678.", question)
    assert not says(wanted, "48 min < 90 min, so the answer is Ibis 669.", question)
