"""A value of a thing in words: names, numbers, units, money, dates."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, number_in


@wording("value")
def the_thing_has_the_value(said: Answer, rng: random.Random) -> str:
    """The thing first, and then what it has."""
    return f"For {said.thing}, the {said.called} is {said.value}."


@wording("value")
def the_thing_in_brackets(said: Answer, rng: random.Random) -> str:
    """The value, and in brackets what it belongs to."""
    return f"{said.value} ({said.thing})"


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
def the_value_first(said: Answer, rng: random.Random) -> str:
    """The value as the subject."""
    return f"{said.value} is the {said.called} of {said.thing}."


@wording("value")
def the_unit_next_to_the_number(said: Answer, rng: random.Random) -> str | None:
    """The unit without a space."""
    number = number_in(said, "min", "KB", "g", "%")
    return None if number is None else f"{number}{said.unit}"


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
def dollars_in_words(said: Answer, rng: random.Random) -> str | None:
    """The word for the sign."""
    number = number_in(said, "$")
    return None if number is None else f"{number} dollar{'' if number == 1 else 's'}"


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
def the_sum_in_a_sentence(said: Answer, rng: random.Random) -> str | None:
    """Figures of several months in a sentence that ends with their sum."""
    if len(said.parts) < 2:
        return None
    return f"Adding up {', '.join(f'{part:,}' for part in said.parts)} gives a total of {said.number:,}."


@wording("value")
def a_person_with_the_last_name_first(said: Answer, rng: random.Random) -> str | None:
    """The last name first, as in a register."""
    first, _, last = said.value.rpartition(" ")
    return f"{last}, {first}" if said.person else None


@wording("value")
def a_person_with_a_title(said: Answer, rng: random.Random) -> str | None:
    """A title before the name."""
    return f"{rng.choice(('Ms.', 'Mr.', 'Ms', 'Mr'))} {said.value}" if said.person else None
