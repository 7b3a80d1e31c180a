"""The half of the classes of `wordings_values.py` that is held back."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, in_words, joined, number_in

_ABBREVIATED = {"min": ("mins", "min."), "minutes": ("min", "mins"), "hours": ("hrs", "h"), "KB": ("kB", "kilobytes")}
_ORDINALS = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}


@wording("value")
def an_arrow_to_the_value(said: Answer, rng: random.Random) -> str:
    """From the thing to the value."""
    return f"{said.thing} {rng.choice(('→', '->', '–'))} {said.value}"


@wording("value")
def a_record(said: Answer, rng: random.Random) -> str:
    """An object with the name of the thing and the value."""
    return json.dumps({"name": said.thing, said.called.replace(" ", "_"): said.value}, ensure_ascii=False)


@wording("value")
def lines_of_a_spreadsheet(said: Answer, rng: random.Random) -> str:
    """A head and a row with quotation marks and commas."""
    return f'"name","{said.called}"\n"{said.thing}","{said.value}"'


@wording("value")
def in_a_relative_clause(said: Answer, rng: random.Random) -> str:
    """What the thing has, in a clause."""
    return f"I opened {said.thing}, whose {said.called} is {said.value}."


@wording("value")
def the_value_that_you_asked_for(said: Answer, rng: random.Random) -> str:
    """What was asked for, without the name of the thing."""
    return f"The {said.called} you asked about is {said.value}."


@wording("value")
def the_value_on_its_page(said: Answer, rng: random.Random) -> str:
    """What the page lists, with quotation marks."""
    return f"On the page of {said.thing}, the {said.called} is given as “{said.value}”."


@wording("value")
def money_in_words(said: Answer, rng: random.Random) -> str | None:
    """Dollars in words."""
    number = number_in(said, "$")
    if number is None or number > 999:
        return None
    return f"{in_words(number)} dollar{'' if number == 1 else 's'}"


@wording("value")
def money_with_the_sign_behind(said: Answer, rng: random.Random) -> str | None:
    """The sign behind the number."""
    number = number_in(said, "$")
    return None if number is None else rng.choice((f"{number}$", f"{number} $"))


@wording("value")
def an_abbreviated_unit(said: Answer, rng: random.Random) -> str | None:
    """The unit shortened in another way."""
    number = number_in(said, *_ABBREVIATED)
    return None if number is None or number == 1 else f"{number} {rng.choice(_ABBREVIATED[said.unit])}"


@wording("value")
def grams_as_kilograms(said: Answer, rng: random.Random) -> str | None:
    """A kilogram and more, with the number of the page in brackets."""
    number = number_in(said, "g")
    return f"{number / 1000:g} kg ({number} g)" if number and number >= 100 else None


@wording("value")
def in_the_year(said: Answer, rng: random.Random) -> str | None:
    """A year as people say it."""
    return rng.choice((f"In {said.number}.", f"in the year {said.number}")) if said.year else None


@wording("value")
def a_date_with_short_weekday_and_month(said: Answer, rng: random.Random) -> str | None:
    """Weekday and month shortened."""
    return f"{day_of(said):%a, %b} {day_of(said).day}, {day_of(said).year}" if said.day else None


@wording("value")
def a_dotted_date(said: Answer, rng: random.Random) -> str | None:
    """Numbers with dots, where they can be read in one way only."""
    return f"{day_of(said):%d.%m.%Y}" if said.day and day_of(said).day > 12 else None


@wording("value")
def a_hyphenated_date(said: Answer, rng: random.Random) -> str | None:
    """The month in letters between hyphens."""
    return f"{day_of(said):%d-%b-%Y}" if said.day else None


@wording("value")
def a_slashed_date_with_the_year_first(said: Answer, rng: random.Random) -> str | None:
    """Year, month and day with slashes."""
    return f"{day_of(said):%Y/%m/%d}" if said.day else None


@wording("value")
def a_date_in_words(said: Answer, rng: random.Random) -> str | None:
    """The day in words."""
    if not said.day:
        return None
    day = day_of(said)
    tens, ones = divmod(day.day, 10)
    if day.day in (20, 30):
        word = ("twentieth", "thirtieth")[tens - 2]
    elif day.day > 20:
        word = f"{('twenty', 'thirty')[tens - 2]}-{_ORDINALS.get(ones, f'{in_words(ones)}th')}"
    else:
        word = _ORDINALS.get(day.day, f"{in_words(day.day)}th")
    return f"the {word} of {day:%B} {day.year}"


@wording("value")
def a_date_after_on(said: Answer, rng: random.Random) -> str | None:
    """A preposition before the day."""
    return f"It was on {said.value}." if said.day else None


@wording("value")
def by_a_person(said: Answer, rng: random.Random) -> str | None:
    """A preposition before the name."""
    return f"By {said.value}." if said.person and said.called in ("author", "photographer") else None


@wording("value")
def the_name_of_a_person(said: Answer, rng: random.Random) -> str | None:
    """That it is a name."""
    return f"The {said.called}'s name is {said.value}." if said.person else None


@wording("value")
def a_person_is_named(said: Answer, rng: random.Random) -> str | None:
    """A verb for what a page does with a name."""
    return f"{said.thing} names {said.value} as its {said.called}." if said.person else None


@wording("value")
def figures_that_make_the_sum(said: Answer, rng: random.Random) -> str | None:
    """Figures of several months with what they make together."""
    if len(said.parts) < 2:
        return None
    return f"{joined([str(part) for part in said.parts])}, which together make {said.number}."


@wording("value")
def so_many_dollars(said: Answer, rng: random.Random) -> str | None:
    """The word for the currency behind the digits."""
    number = number_in(said, "$")
    return None if number is None else f"{number} dollar{'' if number == 1 else 's'}"


@wording("value")
def the_value_before_what_it_is(said: Answer, rng: random.Random) -> str:
    """A sentence that begins with the value."""
    return f"{said.value} is the {said.called} of {said.thing}."
