"""Held-back wordings with verbs and adjectives that fit what is asked for: costs, weighs, is longer, as long as."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import joined

_HAS = {
    "price": "{thing} costs {value}",
    "price per night": "A night at {thing} costs {value}",
    "fee": "You have to pay {value} for {thing}",
    "weight": "{thing} weighs {value}",
    "reading time": "It takes {value} to read {thing}",
    "flight time": "Flight {thing} takes {value}",
    "processing time": "Processing {thing} takes {value}",
    "validity": "{thing} is valid for {value}",
    "rating": "{thing} is rated {value}",
    "number of hours a week": "{thing} works {value} a week",
    "number of stars": "{thing} has {value} stars",
    "stars": "{thing} has {value} stars",
    "number of votes": "{thing} has {value} votes",
    "number of words": "{thing} has {value} words",
    "number of rooms": "{thing} has {value} rooms",
    "reply count": "{thing} has {value} replies",
    "comment count": "{thing} has {value} comments",
    "view count": "{thing} has been viewed {value} times",
    "stock": "{value} of {thing} are in stock",
    "number of visitors a day": "{thing} gets {value} visitors a day",
    "launch year": "{thing} was launched in {value}",
    "opening year": "{thing} opened in {value}",
    "founding year": "{thing} was founded in {value}",
    "destination": "Flight {thing} goes to {value}",
    "town of departure": "Flight {thing} departs from {value}",
    "maker": "{thing} is made by {value}",
    "region": "{thing} is in the {value}",
}
"""What a thing does or is, by what is asked for."""
_MORE = {
    "price": "costs more than",
    "price per night": "is more expensive than",
    "fee": "is more expensive than",
    "rating": "is better rated than",
    "weight": "is heavier than",
    "length": "is longer than",
    "height": "is taller than",
    "width": "is wider than",
    "depth": "is deeper than",
    "year": "is more recent than",
    "opening year": "opened later than",
    "launch year": "was launched later than",
    "founding year": "was founded later than",
    "reading time": "takes longer to read than",
    "flight time": "takes longer than",
    "processing time": "takes longer to process than",
    "validity": "is valid for longer than",
    "view count": "has been viewed more often than",
    "number of views": "has been viewed more often than",
    "number of visitors a day": "gets more visitors a day than",
    "number of votes": "has more votes than",
    "number of words": "has more words than",
    "number of stars": "has more stars than",
    "number of rooms": "has more rooms than",
    "reply count": "got more replies than",
    "comment count": "got more comments than",
    "size in KB": "is larger than",
    "stock": "has more in stock than",
}
"""How the higher of two differs from the other, by what is compared."""


@wording("value")
def a_verb_for_the_value(said: Answer, rng: random.Random) -> str | None:
    """A verb that fits the value: it costs, weighs or takes so much."""
    if said.called not in _HAS or said.number in (0, 1):
        return None
    return f"{_HAS[said.called].format(thing=said.thing, value=said.value)}."


@wording("value")
def the_right_page_by_its_other_facts(said: Answer, rng: random.Random) -> str | None:
    """How one knows that the page is the right one, by its other facts, and then the value."""
    if not said.about:
        return None
    facts = joined([f"{label} “{value}”" for label, value in said.about[:2]])
    return (
        f"I made sure that I had the right page, that of {said.thing} with {facts}. Its {said.called} is {said.value}."
    )


@wording("value", "most")
def a_row_and_a_column_of_the_report(said: Answer, rng: random.Random) -> str | None:
    """The row and the column of a report that have the figures, and what follows from them."""
    measure, _, when = said.called.removeprefix("number of ").partition(" in ")
    column = f"the column “{measure.capitalize()}”"
    if said.sort == "most":
        (one, high), (other, low) = said.two
        return f"In {column}, the largest figure is {high}, in the row of {one}. Next comes {other} with {low}."
    if not said.parts or min(said.parts) < 0 or sum(said.parts) != said.number:
        return None
    months = joined(when.split(" and "))
    if len(said.parts) == 1:
        return f"In the report for {months}, the row of {said.thing} has {said.value} in {column}."
    figures = joined([str(part) for part in said.parts])
    return f"For {months}, the row of {said.thing} has {figures} in {column}. Altogether, this is {said.value}."


@wording("higher")
def an_adjective_for_the_higher_one(said: Answer, rng: random.Random) -> str | None:
    """A verb or adjective that fits what is compared: it costs more, is longer or opened later."""
    if said.called not in _MORE:
        return None
    (one, high), (other, low) = said.two
    if said.number is not None:
        return f"{one} {_MORE[said.called]} {other}, so the answer is its {said.called}, {said.value}."
    return f"{one} {_MORE[said.called]} {other}{rng.choice(('', f' ({high} versus {low})'))}."


@wording("higher")
def by_its_place_in_the_question(said: Answer, rng: random.Random) -> str | None:
    """The first or the second of the two in the question, with its name or with the number that is asked for."""
    (one, _), (other, _) = said.two
    if one in other or other in one or any(said.instruction.count(name) != 1 for name in (one, other)):
        return None
    place = "first" if said.instruction.index(one) < said.instruction.index(other) else "second"
    degree = "later" if said.year else "higher"
    if said.number is not None:
        return f"The {place} one, {one}, has the {degree} {said.called}, which is {said.value}."
    return f"It is the {place} of the two, {one}, that has the {degree} {said.called}."


@wording("missing")
def no_part_of_the_name_leads_to_it(said: Answer, rng: random.Random) -> str:
    """That neither a search for the name or parts of it nor the lists lead to it, and that it is not there."""
    looked = rng.choice(
        (
            "I searched for the whole name and then for single words of it",
            "I tried the search box as well as the lists of the site",
        )
    )
    return f"{looked}, but nothing is called “{said.thing}”. It does not exist here."
