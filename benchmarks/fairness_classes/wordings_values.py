"""A value of a thing in words: names, numbers, units, money, dates."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, in_words, number_in

_LONG = {
    "min": "minute",
    "minutes": "minute",
    "hours": "hour",
    "days": "day",
    "months": "month",
    "KB": "kilobyte",
    "g": "gram",
}

_PASSIVE = {
    "author": "{} was written by",
    "editor": "{} was edited by",
    "last editor": "{} was last edited by",
    "photographer": "The photo of {} was taken by",
    "reporter": "{} was reported by",
    "assignee": "{} is assigned to",
    "last poster": "The last post in {} was written by",
}


@wording("value")
def as_a_table(said: Answer, rng: random.Random) -> str:
    """A markdown table."""
    return f"| Name | {said.called} |\n|---|---|\n| {said.thing} | {said.value} |"


@wording("value")
def among_other_facts(said: Answer, rng: random.Random) -> str | None:
    """Other things that the page says as well, each with its label."""
    if not said.about:
        return None
    others = ", ".join(f"{label}: {value}" for label, value in said.about)
    return f"{said.thing} ({others}): the {said.called} is {said.value}."


@wording("value")
def hours_and_minutes(said: Answer, rng: random.Random) -> str | None:
    """An hour and more as hours and minutes."""
    number = number_in(said, "min", "minutes")
    if number is None or number < 60:
        return None
    hours, minutes = divmod(number, 60)
    rest = f" {minutes} minute{'' if minutes == 1 else 's'}" if minutes else ""
    return rng.choice(
        (
            f"{hours} hour{'' if hours == 1 else 's'}{rest}",
            f"{hours}h {minutes}m ({number} min)",
            f"{hours}h {minutes:02d}min",
        )
    )


@wording("value")
def dollars_and_cents(said: Answer, rng: random.Random) -> str | None:
    """Money with cents."""
    number = number_in(said, "$")
    return None if number is None else f"${number:,}.00"


@wording("value")
def the_code_of_the_currency(said: Answer, rng: random.Random) -> str | None:
    """Money with the code of the currency."""
    number = number_in(said, "$")
    return None if number is None else rng.choice((f"{number} USD", f"USD {number}", f"US${number}"))


@wording("value")
def without_the_sign_of_the_unit(said: Answer, rng: random.Random) -> str | None:
    """The number alone where the question says what it is counted in: money, percent, kilobytes."""
    number = number_in(said, "$", "KB")
    return None if number is None else str(number)


@wording("value")
def an_american_date(said: Answer, rng: random.Random) -> str | None:
    """The month first."""
    return f"{day_of(said):%B} {day_of(said).day}, {day_of(said).year}" if said.day else None


@wording("value")
def a_date_as_computers_write_it(said: Answer, rng: random.Random) -> str | None:
    """Year, month and day in numbers."""
    return said.day or None


@wording("value")
def a_person_with_the_last_name_first(said: Answer, rng: random.Random) -> str | None:
    """The last name first, as in a register."""
    first, _, last = said.value.rpartition(" ")
    return f"{last}, {first}" if said.person else None


@wording("value")
def a_person_with_a_title(said: Answer, rng: random.Random) -> str | None:
    """A title before the name."""
    return f"{rng.choice(('Ms.', 'Mr.', 'Ms', 'Mr'))} {said.value}" if said.person else None


@wording("value")
def the_label_and_the_value(said: Answer, rng: random.Random) -> str:
    """A label with a colon."""
    return f"{said.called[0].upper()}{said.called[1:]}: {said.value}"


@wording("value")
def the_thing_in_the_genitive(said: Answer, rng: random.Random) -> str:
    """Whose value it is, with an apostrophe."""
    return f"{said.thing}'s {said.called} is {said.value}."


@wording("value")
def with_a_thousands_separator(said: Answer, rng: random.Random) -> str | None:
    """A number of four or more digits with a comma."""
    if said.number is None or said.number < 1000 or said.year:
        return None
    return said.value.replace(str(said.number), f"{said.number:,}")


@wording("value")
def number_in_words(said: Answer, rng: random.Random) -> str | None:
    """A small number in words."""
    if said.number is None or said.number > 99 or said.year or said.unit in ("$", "%", "KB", "g"):
        return None
    unit = f" {said.unit}" if said.unit else ""
    return f"The {said.called} is {in_words(said.number)}{unit}."


@wording("value")
def the_unit_in_full(said: Answer, rng: random.Random) -> str | None:
    """The unit in full."""
    number = number_in(said, *_LONG)
    return None if number is None else f"{number} {_LONG[said.unit]}{'' if number == 1 else 's'}"


@wording("value")
def whole_weeks_or_years(said: Answer, rng: random.Random) -> str | None:
    """Days as whole weeks, or months as whole years, with the number of the page in brackets."""
    days, months = number_in(said, "days"), number_in(said, "months")
    if days is not None and days % 7 == 0:
        return f"{days // 7} week{'' if days == 7 else 's'} ({days} days)"
    if months is not None and months % 12 == 0:
        return f"{months // 12} year{'' if months == 12 else 's'} ({months} months)"
    return None


@wording("value")
def a_date_with_an_ordinal(said: Answer, rng: random.Random) -> str | None:
    """The day with an ending: `the 5th of March 2027`."""
    if not said.day:
        return None
    day = day_of(said)
    end = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return rng.choice((f"the {day.day}{end} of {day:%B} {day.year}", f"{day:%B} {day.day}{end}, {day.year}"))


@wording("value")
def a_slashed_date(said: Answer, rng: random.Random) -> str | None:
    """Numbers with slashes, where they can be read in one way only."""
    if not said.day or day_of(said).day <= 12:
        return None
    day = day_of(said)
    return rng.choice((f"{day.month:02d}/{day.day:02d}/{day.year}", f"{day.day:02d}/{day.month:02d}/{day.year}"))


@wording("value")
def the_sum_of_its_parts(said: Answer, rng: random.Random) -> str | None:
    """Figures of several months, and what they come to."""
    if len(said.parts) < 2:
        return None
    return f"{' + '.join(map(str, said.parts))} = {said.number}"


@wording("value")
def a_person_by_first_and_last_name(said: Answer, rng: random.Random) -> str | None:
    """First and last name apart, each with its label."""
    if not said.person:
        return None
    first, _, last = said.value.rpartition(" ")
    labels = json.dumps({"first_name": first, "last_name": last}, ensure_ascii=False)
    return rng.choice((f"First name: {first}, last name: {last}", labels))


@wording("value")
def a_person_with_the_last_name_in_capitals(said: Answer, rng: random.Random) -> str | None:
    """The last name in capitals, as in a list of attendants."""
    first, _, last = said.value.rpartition(" ")
    return rng.choice((f"{first} {last.upper()}", f"{last.upper()} {first}")) if said.person else None


@wording("value")
def a_person_in_the_passive(said: Answer, rng: random.Random) -> str | None:
    """A sentence that says what the person did instead of what they are."""
    start = _PASSIVE.get(said.called) if said.person else None
    return f"{start.format(said.thing)} {said.value}." if start else None


@wording("value")
def beside_an_abbreviation(said: Answer, rng: random.Random) -> str:
    """A sentence with an abbreviation, whose dot does not end it."""
    return rng.choice(
        (
            f"The {said.called} (acc. to the page of {said.thing}) is {said.value}.",
            f"It is {said.value}, i.e. that is the {said.called} of {said.thing}.",
            f"The requested value, i.e. the {said.called}, is {said.value}.",
        )
    )


@wording("value")
def a_date_in_parts(said: Answer, rng: random.Random) -> str | None:
    """Day, month and year apart, each with its label."""
    if not said.day:
        return None
    day = day_of(said)
    return f"Day: {day.day}, month: {day:%B}, year: {day.year}"


@wording("value")
def a_date_with_its_format(said: Answer, rng: random.Random) -> str | None:
    """Numbers with slashes, and in which order they are."""
    if not said.day:
        return None
    day = day_of(said)
    return rng.choice((f"{day:%m/%d/%Y} (MM/DD/YYYY)", f"{day:%d/%m/%Y} (DD/MM/YYYY)"))
