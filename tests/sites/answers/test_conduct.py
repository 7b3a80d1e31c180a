"""Reports that the site was left as it was, or of a detour on it, take back no answer."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.conduct import without_conduct
from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.values import any_order, missing, number, refused, text, winner

CHAIR = Subject(names=("Oak Chair",), asked=("Color",), rivals=("Red", "Pine Chair"), told=("Stock 3",))
ASKED = (
    (winner([("Gull 954",), ("Teal 12",)], 0, (320, 210), "$"), "Which has the higher price: Gull 954 or Teal 12?",
     Subject(), "Gull 954 has the higher price"),
    (text("Blue"), "What is the color of Oak Chair?", CHAIR, "The color of Oak Chair is Blue"),
    (number(2), "How many chairs were changed in May?", Subject(asked=("chair", "chairs")), "There are 2 chairs"),
    (any_order(["Oak Chair", "Pine Chair"]), "Name the blue chairs.", Subject(asked=("chair", "chairs")),
     "They are Oak Chair and Pine Chair"),
    (missing("Tom Hill"), "Open Tom Hill.", Subject(), "There is no Tom Hill"),
    (refused("sold out"), "Book Tom Hill.", Subject(names=("Tom Hill",)), "Tom Hill is sold out"),
)  # fmt: skip
REPORTS = """
{}. I have not changed anything on the site.
{}. I haven't changed anything.
{}. I did not change anything there.
{}. I didn't modify any data.
{}, and I have not bought anything.
{}. Nothing was changed on the site.
{}. No changes were made.
{}. I made no changes to the site.
{}. I did not make any changes.
{} (I did not change anything).
{}. The site is unchanged.
{}. I left everything as it was.
{}. I left the site as I found it.
{}. I never touched anything.
{}, without changing anything.
Without changing anything on the website: {}.
I have not changed anything. {}.
{}. Note that I did not submit any form.
""".strip().splitlines()


DETOURS = """
I opened the wrong page by mistake, so I went back and tried again. {}.
The page did not load at first, so I reloaded it. {}.
I did not see it at once and had to scroll down. {}.
{}. I had to scroll down a long list to see it.
My first search found nothing because I had mistyped it, but the second one worked. {}.
First I clicked the wrong link, then I returned. {}.
""".strip().splitlines()


@pytest.mark.parametrize("report", [*REPORTS, *DETOURS])
def test_what_was_left_as_it_was_and_a_detour_take_no_answer_back(report: str) -> None:
    for wanted, question, subject, said in ASKED:
        assert says(wanted, report.format(said), question, subject), said


@pytest.mark.parametrize(
    "doubt",
    [
        "I have not checked it.",
        "I have not opened its page.",
        "I did not verify anything on the site.",
        "I have not changed the filter.",
        "I did not look.",
        "I have not changed anything, but this may be wrong.",
        "Nothing was found.",
        "It is not Blue.",
        "That is not on this page.",
        "I have not read it there.",
    ],
)
def test_what_was_not_looked_at_is_no_report_of_an_unchanged_site(doubt: str) -> None:
    kept = without_conduct(f"Blue. {doubt}", "What is the color?", ["Blue"])
    assert set(doubt.rpartition(",")[2].split()) <= set(kept.split())


def test_a_value_or_an_answer_with_such_words_is_kept() -> None:
    assert without_conduct("Not changed.", "What is the state?", ["Not changed"]) == "Not changed."
    assert without_conduct("No orders were changed.", "How many orders were changed?") == "No orders were changed."


def test_a_unit_inside_of_a_word_is_no_name() -> None:
    said = "The weight is 7102 g. I have not changed anything on the site."
    assert says(number(7102, "g"), said, "Tell me the weight of Happy Clock.", Subject(names=("Happy Clock",)))


@pytest.mark.parametrize(
    "doubt",
    [
        "I opened the wrong page by mistake.",
        "The page did not load.",
        "I did not see it.",
        "The search found nothing.",
        "I went back, but it may be wrong.",
        "I reloaded it and saw Red.",
        "I had to scroll down and guess.",
    ],
)
def test_a_detour_that_did_not_go_on_or_says_more_is_kept(doubt: str) -> None:
    assert doubt in without_conduct(f"Blue. {doubt}", "What is the color?", ["Blue"])
