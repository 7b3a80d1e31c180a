"""Wrong values of things, in ordinary words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from fairness_classes.asked import Answer, about_target, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import said_of_day, things_beside
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import day_of, short
from webdojo.sites.admin import MEASURES, REPORTS, Admin


@wrong_answer("value")
def the_right_value_of_a_wrong_thing(case: Case, said: Answer, say: Say) -> str | None:
    """The right value, said of another thing, which has another one."""
    if not (others := things_beside(case, say)):
        return None
    return f"The {said.called} of {others[0].entity.name} is {said.value}."


@wrong_answer("value", "count")
def one_too_many_or_too_few(case: Case, said: Answer, say: Say) -> str | None:
    """A number next to the right one."""
    if said.number is None:
        return None
    return say(falsified(said, said.number + say.rng.choice((-1, 1) if said.number > 1 else (1,))))


@wrong_answer("value", "count")
def a_negative_number(case: Case, said: Answer, say: Say) -> str | None:
    """The number with a minus."""
    return f"-{said.number}" if said.number else None


@wrong_answer("value")
def another_unit(case: Case, said: Answer, say: Say) -> str | None:
    """The right number with a wrong unit."""
    units = {
        "min": "hours",
        "minutes": "hours",
        "hours": "days",
        "days": "weeks",
        "months": "days",
        "KB": "MB",
        "g": "kg",
    }
    return f"{said.number} {units[said.unit]}" if said.unit in units else None


@wrong_answer("value")
def another_currency(case: Case, said: Answer, say: Say) -> str | None:
    """The right number in another currency."""
    if said.unit != "$":
        return None
    return say.rng.choice((f"€{said.number}", f"{said.number} euros", f"£{said.number}"))


@wrong_answer("value")
def day_and_month_swapped(case: Case, said: Answer, say: Say) -> str | None:
    """The day as the month and the month as the day."""
    if not said.day or day_of(said).day > 12 or day_of(said).day == day_of(said).month:
        return None
    return said_of_day(said, say, day_of(said).replace(month=day_of(said).day, day=day_of(said).month).isoformat())


@wrong_answer("value")
def a_wrong_year(case: Case, said: Answer, say: Say) -> str | None:
    """The right day of another year."""
    if not said.day or said.day.endswith("02-29"):
        return None
    return said_of_day(said, say, day_of(said).replace(year=day_of(said).year + say.rng.choice((-1, 1))).isoformat())


@wrong_answer("value", "most")
def a_figure_of_another_month(case: Case, said: Answer, say: Say) -> str | None:
    """What the report of another month says."""
    site, wanted = case.site, {step["path"].rpartition("/")[2] for step in case.steps("visit")}
    if not isinstance(site, Admin) or case.family not in ("report", "leader"):
        return None
    measure = next(each for each in MEASURES if each.lower() in said.called)
    month = say.rng.choice([each for each in REPORTS if each not in wanted])
    if said.sort == "value":
        number = site.figures[month, said.thing][measure]
        return say(falsified(said, number)) if number != said.number else None
    best = max(site.names, key=lambda name: site.figures[month, name][measure])
    return say(replace(said, two=((best, said.two[0][1]), said.two[1]))) if best != said.two[0][0] else None


@wrong_answer("value")
def parts_without_their_sum(case: Case, said: Answer, say: Say) -> str | None:
    """The figures of several months, and a sum that is wrong."""
    if len(said.parts) < 2 or said.number is None:
        return None
    return f"{' + '.join(map(str, said.parts))} = {said.number + 100}"


@wrong_answer("value")
def the_right_value_under_a_wrong_label(case: Case, said: Answer, say: Say) -> str | None:
    """The right value, said to be something else."""
    labels = [label for label, value in said.about if value != said.value]
    return f"The {say.rng.choice(labels).lower()} of {said.thing} is {said.value}." if labels else None


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
