"""Who and what is named: people in parts or with the family name first, abbreviations, and names like a known one."""

from __future__ import annotations

from datetime import date as Date

import pytest

from webdojo.sites.answers.naming import given_name_first, look_alikes
from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import NOTHING, Subject
from webdojo.sites.answers.values import date, in_order, missing, number, refused, text, winner

REPORTER = "Who is the reporter of Slow page?"
PAGE = Subject(
    names=("Slow page",), told=("Project Atlas",), asked=("Reporter",), labels=("Project",),
    rivals=("Rickey Lee", "Emma Roberts", "Tiffany Day"),
)  # fmt: skip


@pytest.mark.parametrize(
    "said",
    ["First name: {0}, last name: {1}", "Last name: {1}\nFirst name: {0}", "The first name is {0} and the last is {1}.",
     '{{"first_name": "{0}", "last_name": "{1}"}}', "Given name {0}, surname {1}",
     "| First name | Last name |\n|---|---|\n| {0} | {1} |"],
)  # fmt: skip
def test_a_name_may_be_told_in_parts(said: str) -> None:
    said = said.replace("the last is", "the last name is")
    assert says(text("Rickey Roberts"), said.format("Rickey", "Roberts"), REPORTER, PAGE)
    assert not says(text("Rickey Roberts"), said.format("Rickey", "Lee"), REPORTER, PAGE)
    assert not says(text("Rickey Roberts"), said.format("Emma", "Roberts"), REPORTER, PAGE)


@pytest.mark.parametrize(
    "said", ["ROBERTS Rickey", "ROBERTS, Rickey", "The reporter is ROBERTS Rickey.", "Roberts, Rickey"]
)
def test_a_family_name_may_come_first(said: str) -> None:
    assert says(text("Rickey Roberts"), said, REPORTER, PAGE)
    assert not says(text("Rickey Roberts"), said.replace("Rickey", "Emma"), REPORTER, PAGE)
    assert not says(text("Rickey Roberts"), f"{said}, DAY Tiffany", REPORTER, PAGE)


def test_neighbours_in_a_list_of_people_make_no_name() -> None:
    assert given_name_first("Emma Roberts, Rickey Lee", ["Rickey Roberts"]) == "Emma Roberts, Rickey Lee"
    assert not says(text("Rickey Roberts"), "Emma Roberts, Rickey Lee", REPORTER, PAGE)


@pytest.mark.parametrize("abbreviation", ["i.e.", "i. e.", "i.e.,", "resp."])
def test_an_abbreviation_ends_no_sentence(abbreviation: str) -> None:
    said = f"The requested value, {abbreviation} the reporter, is Kathryn Montgomery."
    assert says(text("Kathryn Montgomery"), said, REPORTER, PAGE)
    assert not says(text("Kathryn Montgomery"), said.replace("Kathryn Montgomery", "Rickey Lee"), REPORTER, PAGE)


TOWN = "What is the town of Perry Knapp?"
PERRY = Subject(
    names=("Perry Knapp",), told=("Role Reader", "Reader"), asked=("Town", "town"), labels=("Role",),
    rivals=("Ada Brook",),
)  # fmt: skip


@pytest.mark.parametrize(
    "said",
    ["Earl Knapp's town is Ham.", "Earl Knapp: Ham", "Ham (Earl Knapp)", "Ham is the town of Perry Stone.",
     "Ham. Earl Knapp is not it."],
)  # fmt: skip
def test_the_value_of_one_of_a_like_name_is_wrong(said: str) -> None:
    assert not says(text("Ham"), said, TOWN, PERRY)
    for fine in ("Perry Knapp's town is Ham.", "Reader Knapp: Ham", "Perry lives in Ham.", "Mr. Knapp's town is Ham."):
        assert says(text("Ham"), fine, TOWN, PERRY)


def test_a_like_name_wins_nothing_and_refuses_nothing() -> None:
    wanted = winner([["Perry Knapp"], ["Ada Brook"]], 0, (9, 3))
    question = "Who has more messages, Perry Knapp or Ada Brook?"
    assert says(wanted, "Perry Knapp has more than Ada Brook.", question)
    assert not says(wanted, "Earl Knapp has more than Ada Brook.", question)
    suites = Subject(names=("Little Suites Ham",), told=("Stars 3",))
    assert says(refused("fully booked"), "Little Suites Ham is fully booked.", "Book Little Suites Ham.", suites)
    assert not says(refused("fully booked"), "Grand Suites Ham is fully booked.", "Book Little Suites Ham.", suites)


def test_a_name_is_like_another_by_one_word() -> None:
    assert list(look_alikes("Earl Knapp and Perry Knapp", ["Perry Knapp"], frozenset())) == ["Earl Knapp"]
    assert list(look_alikes("the Knapp, Earl and Knapp", ["Perry Knapp"], frozenset(("the", "and")))) == []
    assert list(look_alikes("Prices of milk rise", ["Prices of cheese rise"], frozenset())) == ["Prices of milk rise"]
    assert list(look_alikes("The prices of milk fall", ["Prices of milk rise"], frozenset())) == ["prices of milk fall"]
    assert list(look_alikes("a prices of milk", ["The prices of milk"], frozenset())) == []


@pytest.mark.parametrize(
    "said",
    ["There is no Earl Knapp.", "Perry Knapp: there is no Earl Knapp.", "I looked for Perry Knapp. No Ada Knapp exists",
     "There is no Knapp on this site.", "no Knapp here", "No results for Knapp."],
)  # fmt: skip
def test_to_deny_another_is_not_to_deny_the_one_that_is_asked_for(said: str) -> None:
    site = Subject(rivals=("Ada Knapp", "Wild Bay"))
    for fine in (
        "There is no Perry Knapp here.",
        "No such contact on this site.",
        "Perry Knapp does not exist, Ada Knapp does.",
    ):
        assert says(missing("Perry Knapp"), fine, "Open Perry Knapp.", site)
    assert not says(missing("Perry Knapp"), said, "Open Perry Knapp.", site)


CRUST = "Step by step: freeze a pie crust"
GLAZED = Subject(rivals=("Step by step: glaze a pie crust", "A guide to corner shops"))


@pytest.mark.parametrize(
    "said",
    ["I searched for {} but nothing came up, so I can't open it.", "I could not find {}; the search gives 0 results.",
     "{} is not on this site. There are no matches.", "I tried to open {}. It does not exist.",
     "There is no article {}. The search found nothing.", "I typed {} into the search box. Nothing was found."],
)  # fmt: skip
def test_what_is_looked_for_is_what_does_not_exist(said: str) -> None:
    assert says(missing(CRUST), said.format(CRUST), f"Please open “{CRUST}”.", GLAZED)
    assert not says(missing(CRUST), said.format("Step by step: glaze a pie crust"), f"Please open “{CRUST}”.", GLAZED)
    assert not says(missing(CRUST), said.format("Step by step: sew a pie crust"), f"Please open “{CRUST}”.", GLAZED)


@pytest.mark.parametrize(
    "said",
    ["It does not exist; the closest is {}.", "No such article. The site only has {}.",
     "I found {}, but no such article.", "The search shows only {}, so the article does not exist."],
)  # fmt: skip
def test_what_is_there_instead_may_be_told(said: str) -> None:
    assert says(missing(CRUST), said.format("Step by step: glaze a pie crust"), f"Please open “{CRUST}”.", GLAZED)


CHAPTERS = in_order(["April Chapter", "Warren Credit Union", "Basil Kitchen"])
OLDEST = "What are the names of the three oldest places, oldest first?"


def test_an_order_may_be_told_in_words() -> None:
    said = "First {}, then {}, and finally {}."
    assert says(CHAPTERS, said.format("April Chapter", "Warren Credit Union", "Basil Kitchen"), OLDEST)
    assert not says(CHAPTERS, said.format("Warren Credit Union", "April Chapter", "Basil Kitchen"), OLDEST)
    turned = "Finally {}, then {}, and first {}."
    assert not says(CHAPTERS, turned.format("April Chapter", "Warren Credit Union", "Basil Kitchen"), OLDEST)


@pytest.mark.parametrize(
    "said", ["the first of April 2026", "first of April 2026", "the first April 2026", "first April, 2026"]
)
def test_a_day_in_words_is_a_date(said: str) -> None:
    assert says(date(Date(2026, 4, 1)), said, "When is it?")


SCORE = "What is the title of the thread with the higher score: the oldest one, or the oldest one in Ideas?"
RATHER = winner(
    [["Would you rather have tea or milk?", "the oldest one in Ideas"], ["Wanted: a map of walks?", "the oldest one"]],
    0, (9, 3),
)  # fmt: skip


@pytest.mark.parametrize(
    "said",
    ["In comparison with {1}, {0} has the higher score.", "{1} has less than {0}.", "It is {0}, not {1}",
     "{0} is ahead of {1}", "The task was: " + SCORE.rstrip("?") + ". The answer: {0}.",
     "The task was: " + SCORE.replace("What is the title", "name the title").rstrip("?") + ". The answer: {0}."],
)  # fmt: skip
def test_titles_that_end_in_a_mark_are_compared_like_others(said: str) -> None:
    winning, losing = "Would you rather have tea or milk?", "Wanted: a map of walks?"
    assert says(RATHER, said.format(winning, losing), SCORE, NOTHING)
    assert not says(RATHER, said.format(losing, winning), SCORE, NOTHING)


WAIT = "What is the {} that the site gives for the oldest office?"
OFFICE = Subject(
    names=("Citizen Office Ham",), told=("Usual wait 36 minutes", "36 minutes", "Town Ham", "Ham"),
    asked=("Opened", "opening date"), labels=("Usual wait", "usual wait", "Town", "town"),
    values={"Citizen Office Ham": frozenset({"36"})},
)  # fmt: skip


@pytest.mark.parametrize(
    "said",
    ["- Usual wait: {0}\n- Opening date: {1}", "Opening date: {1}\nUsual wait: {0}",
     "Usual wait: {0} / Opening date: {1}",
     "The opening date is {1} and the usual wait is {0}.", "Opening date {1}, usual wait {0}"],
)  # fmt: skip
def test_two_values_behind_each_others_labels_are_wrong(said: str) -> None:
    wanted, question = date(Date(1967, 10, 3)), WAIT.format("opening date")
    assert says(wanted, said.format("36 minutes", "3 October 1967"), question, OFFICE)
    assert not says(wanted, said.format("3 October 1967", "36 minutes"), question, OFFICE)


def test_a_label_alone_before_a_colon_is_one_though_the_question_has_its_words() -> None:
    medium = Subject(
        names=("Slow page",), told=("Priority Medium", "Medium"), asked=("Project", "project"),
        labels=("Priority", "priority"), rivals=("Atlas",),
    )  # fmt: skip
    question = "What is the project of the quickest issue of Medium priority?"
    assert says(text("Atlas"), "Project: Atlas; Priority: Medium", question, medium)
    assert not says(text("Atlas"), "Project: Medium; Priority: Atlas", question, medium)


def test_a_wait_that_is_a_value_takes_nothing_back() -> None:
    wanted = winner([["Citizen Office Ham"], ["Town Hall Lee"]], 0, (62, 4), "minutes")
    question = "Which office has the longer usual wait, Citizen Office Ham or Town Hall Lee?"
    said = "{} has the longer usual wait: 62 minutes against 4 minutes for {}."
    assert says(wanted, said.format("Citizen Office Ham", "Town Hall Lee"), question)
    assert not says(wanted, said.format("Town Hall Lee", "Citizen Office Ham"), question)
    assert says(number(36, "minutes"), "12 minutes. Oh wait, 36.", WAIT.format("usual wait"))
