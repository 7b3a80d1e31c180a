"""The half of the classes of `wrong_values.py` that is held back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from fairness_classes.asked import Answer, about_target, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import said_of_day, things_beside
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import day_of, short


@wrong_answer("value")
def the_value_of_a_neighbour(case: Case, said: Answer, say: Say) -> str | None:
    """The value of another thing, said of the right one."""
    if case.attribute is None or not (others := things_beside(case, say)):
        return None
    other = about_target(others[0], case.attribute, said)
    return say(replace(other, thing=said.thing, about=said.about))


@wrong_answer("value")
def another_value_of_the_thing(case: Case, said: Answer, say: Say) -> str | None:
    """Another thing that the page says, given as what is asked for."""
    values = [value for _, value in said.about if value != said.value]
    return f"The {said.called} of {said.thing} is {say.rng.choice(values)}." if values else None


@wrong_answer("value", "count")
def two_digits_swapped(case: Case, said: Answer, say: Say) -> str | None:
    """Two neighbouring digits in the wrong order."""
    digits = str(said.number or "")
    places = [i for i in range(len(digits) - 1) if digits[i] != digits[i + 1] and (i or digits[1] != "0")]
    if not places:
        return None
    i = say.rng.choice(places)
    return say(falsified(said, int(digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :])))


@wrong_answer("value", "count")
def a_digit_too_many(case: Case, said: Answer, say: Say) -> str | None:
    """Ten times the number."""
    return say(falsified(said, 10 * said.number)) if said.number else None


@wrong_answer("value")
def a_neighbouring_day(case: Case, said: Answer, say: Say) -> str | None:
    """The day before or after."""
    return said_of_day(said, say, (day_of(said) + timedelta(say.rng.choice((-1, 1)))).isoformat()) if said.day else None


@wrong_answer("count")
def the_count_of_the_whole_list(case: Case, said: Answer, say: Say) -> str | None:
    """How many there are without filters."""
    assert case.query is not None
    whole = len(case.query.collection.entities)
    return say(falsified(said, whole)) if whole != said.number else None


@wrong_answer("count")
def the_count_with_a_filter_missing(case: Case, said: Answer, say: Say) -> str | None:
    """How many there are with one filter fewer."""
    assert case.query is not None
    kept = list(case.query.constraints)
    kept.remove(say.rng.choice(kept))
    number = len(case.query.collection.find(kept))
    return say(falsified(said, number)) if number != said.number else None


@wrong_answer("count")
def the_count_of_the_first_page(case: Case, said: Answer, say: Say) -> str | None:
    """How many the first page of the list shows."""
    number = case.site.per_page
    return say(falsified(said, number)) if said.number is not None and said.number > number else None


@wrong_answer("count")
def a_count_as_money(case: Case, said: Answer, say: Say) -> str | None:
    """Money instead of a number."""
    return f"${said.number}"


@wrong_answer("value", "count")
def a_correction_to_the_wrong(case: Case, said: Answer, say: Say) -> str | None:
    """The right number, taken back for a wrong one."""
    if said.number is None:
        return None
    wrong = falsified(said, said.number + say.rng.choice((2, 3)))
    return f"{short(said)}. Correction: {short(wrong)}."


@wrong_answer("value")
def two_values_exchanged(case: Case, said: Answer, say: Say) -> str | None:
    """The right value and another one of the page, each under the label of the other."""
    facts = [(label, value) for label, value in said.about if value != said.value]
    if not facts:
        return None
    alike = [fact for fact in facts if any(map(str.isdigit, fact[1])) == any(map(str.isdigit, said.value))]
    label, value = say.rng.choice(alike or facts)
    rows = [f"{said.called.capitalize()}: {value}", f"{label}: {said.value}"]
    return "\n".join([said.thing, *(f"- {row}" for row in say.rng.sample(rows, 2))])


@wrong_answer("value")
def all_values_but_the_one_asked_for(case: Case, said: Answer, say: Say) -> str | None:
    """What else the page says of the thing, as if it were the answer."""
    facts = [f"{label}: {value}" for label, value in said.about]
    if not facts or any(said.value.lower() in fact.lower() for fact in facts):
        return None
    return f"I opened the page of {said.thing}. It says: {'; '.join(facts)}."
