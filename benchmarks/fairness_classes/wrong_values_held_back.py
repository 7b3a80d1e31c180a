"""The half of the classes of `wrong_values.py` that is held back."""

from __future__ import annotations

from dataclasses import replace

from fairness_classes.asked import Answer, falsified
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import day_of, short


@wrong_answer("value", "count")
def a_rounded_number(case: Case, said: Answer, say: Say) -> str | None:
    """The number rounded to tens."""
    if said.number is None or said.number <= 10 or said.number % 10 == 0:
        return None
    return say(falsified(said, round(said.number / 10 + 0.01) * 10))


@wrong_answer("value", "count")
def twice_the_number(case: Case, said: Answer, say: Say) -> str | None:
    """Two times the number."""
    return say(falsified(said, 2 * said.number)) if said.number and not said.year else None


@wrong_answer("value", "count")
def zero(case: Case, said: Answer, say: Say) -> str | None:
    """None at all."""
    return say(falsified(said, 0)) if said.number else None


@wrong_answer("value", "count")
def the_last_digit_is_missing(case: Case, said: Answer, say: Say) -> str | None:
    """The number without its last digit."""
    return say(falsified(said, said.number // 10)) if said.number is not None and said.number > 9 else None


@wrong_answer("value", "count")
def a_decimal_point_too_many(case: Case, said: Answer, say: Say) -> str | None:
    """A point before the last digit."""
    if said.number is None or said.number < 10 or said.number % 10 == 0:
        return None
    return f"{said.number // 10}.{said.number % 10}"


@wrong_answer("value", "count")
def in_thousands(case: Case, said: Answer, say: Say) -> str | None:
    """The number as that of thousands or millions."""
    if not said.number or said.year:
        return None
    return f"{said.number} {say.rng.choice(('thousand', 'million'))}"


@wrong_answer("value", "count")
def a_vague_amount(case: Case, said: Answer, say: Say) -> str | None:
    """A word for many or few."""
    if said.number is None:
        return None
    return say.rng.choice(("A few.", "Quite a lot.", "Several.", "More than most others.", "Not many."))


@wrong_answer("value")
def the_mean_of_all(case: Case, said: Answer, say: Say) -> str | None:
    """The mean of the values of all things."""
    if case.attribute is None or said.number is None or said.year:
        return None
    values = [each.values.get(case.attribute.key, "") for each in case.target.collection.entities]
    numbers = [value for value in values if isinstance(value, int)]
    mean = round(sum(numbers) / len(numbers))
    return say(falsified(said, mean)) if mean != said.number else None


@wrong_answer("value")
def a_date_without_its_day(case: Case, said: Answer, say: Say) -> str | None:
    """The month or the year only."""
    return say.rng.choice((f"{day_of(said):%B} {day_of(said).year}", f"In {day_of(said).year}.")) if said.day else None


@wrong_answer("value")
def a_weekday_only(case: Case, said: Answer, say: Say) -> str | None:
    """The day of the week."""
    return f"On a {day_of(said):%A}." if said.day else None


@wrong_answer("value")
def a_relative_day(case: Case, said: Answer, say: Say) -> str | None:
    """A day as seen from today."""
    return say.rng.choice(("Today.", "Last week.", "A few days ago.", "Recently.")) if said.day else None


@wrong_answer("value")
def a_person_with_another_last_name(case: Case, said: Answer, say: Say) -> str | None:
    """The right first name with the last name of another person."""
    if not said.person or case.attribute is None:
        return None
    first, _, last = said.value.rpartition(" ")
    people = {str(each.values.get(case.attribute.key, "")) for each in case.target.collection.entities}
    others = sorted({each.rpartition(" ")[2] for each in people if each} - {last, ""})
    return say(replace(said, value=f"{first} {say.rng.choice(others)}")) if first and others else None


@wrong_answer("value")
def the_thing_itself(case: Case, said: Answer, say: Say) -> str | None:
    """The name of the thing where a value of it is asked for."""
    if said.value.lower() in said.thing.lower() or (said.number is not None and str(said.number) in said.thing):
        return None
    return say.rng.choice((f"{said.thing}.", f"I found {said.thing} and opened its page."))


@wrong_answer("value")
def the_difference_of_the_parts(case: Case, said: Answer, say: Say) -> str | None:
    """The difference or the mean of several months where their sum is asked for."""
    if len(said.parts) < 2:
        return None
    number = say.rng.choice((max(said.parts) - min(said.parts), sum(said.parts) // len(said.parts)))
    return say(replace(said, number=number, value=str(number), parts=())) if number != said.number else None


@wrong_answer("count")
def the_count_of_the_others(case: Case, said: Answer, say: Say) -> str | None:
    """How many things do not meet the conditions."""
    assert case.query is not None and said.number is not None
    rest = len(case.query.collection.entities) - said.number
    return say(falsified(said, rest)) if rest != said.number else None


@wrong_answer("count")
def the_count_with_another_value(case: Case, said: Answer, say: Say) -> str | None:
    """How many there are with another value of one filter."""
    assert case.query is not None
    query, left = case.query, say.rng.choice(case.query.constraints)
    kept = [each for each in query.constraints if each is not left]
    others = [each for each in query.collection.constraints(left.attribute) if each.value != left.value]
    numbers = {len(query.collection.find([*kept, each])) for each in others} - {said.number, 0}
    return say(falsified(said, say.rng.choice(sorted(numbers)))) if numbers else None


@wrong_answer("count")
def the_count_of_the_pages(case: Case, said: Answer, say: Say) -> str | None:
    """How many pages the list has."""
    pages = len(said.parts)
    return say(falsified(said, pages)) if pages > 1 and pages != said.number else None


@wrong_answer("value", "count")
def digits_in_the_wrong_order(case: Case, said: Answer, say: Say) -> str | None:
    """The digits of the number from the last to the first."""
    if said.number is None or said.number % 10 == 0 or said.parts:
        return None
    turned = int(str(said.number)[::-1])
    return say(falsified(said, turned)) if turned != said.number else None


@wrong_answer("value", "count")
def more_or_fewer_than_it_is(case: Case, said: Answer, say: Say) -> str | None:
    """A bound that the number does not keep."""
    if said.number is None or said.year:
        return None
    return f"{say.rng.choice(('More', 'Less'))} than {short(said)}."
