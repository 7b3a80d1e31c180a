"""Wrong values of things, in ordinary words."""

from __future__ import annotations

import re
from dataclasses import replace

from fairness_classes.asked import Answer, about_target, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import said_of_day, things_beside
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import day_of
from webdojo.sites.admin import MEASURES, REPORTS, Admin


@wrong_answer("value")
def the_value_of_another_thing(case: Case, said: Answer, say: Say) -> str | None:
    """The value of another thing, said of that thing."""
    if case.attribute is None or not (others := things_beside(case, say)):
        return None
    other = about_target(others[0], case.attribute, said)
    return f"The {other.called} of {other.thing} is {other.value}."


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
def a_number_of_the_question(case: Case, said: Answer, say: Say) -> str | None:
    """A number that the question has."""
    if said.number is None:
        return None
    numbers = {int(each) for each in re.findall(r"(?<![\w.])\d{1,6}(?![\w.])", said.instruction)} - {said.number}
    return say(falsified(said, min(numbers))) if numbers else None


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
def a_unit_that_is_none(case: Case, said: Answer, say: Say) -> str | None:
    """A number without a unit as money or percent."""
    if said.number is None or said.unit or said.year:
        return None
    return say.rng.choice((f"${said.number}", f"{said.number} %"))


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


@wrong_answer("value")
def a_wrong_month(case: Case, said: Answer, say: Say) -> str | None:
    """The right day of a month next to it."""
    if not said.day or day_of(said).day > 28:
        return None
    return said_of_day(said, say, day_of(said).replace(month=day_of(said).month % 12 + 1).isoformat())


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
def a_figure_of_another_measure(case: Case, said: Answer, say: Say) -> str | None:
    """What another column of the report says."""
    site = case.site
    if not isinstance(site, Admin) or case.family != "report":
        return None
    months = [step["path"].rpartition("/")[2] for step in case.steps("visit")]
    measure = say.rng.choice([each for each in MEASURES if each.lower() not in said.called])
    number = sum(site.figures[month, said.thing][measure] for month in months)
    return say(falsified(said, number)) if number != said.number else None


@wrong_answer("value")
def a_part_of_the_sum(case: Case, said: Answer, say: Say) -> str | None:
    """The figure of one of several months."""
    if len(said.parts) < 2:
        return None
    return say(replace(said, number=said.parts[0], value=str(said.parts[0]), parts=()))


@wrong_answer("value")
def parts_without_their_sum(case: Case, said: Answer, say: Say) -> str | None:
    """The figures of several months, and a sum that is wrong."""
    if len(said.parts) < 2 or said.number is None:
        return None
    return f"{' + '.join(map(str, said.parts))} = {said.number + 100}"


@wrong_answer("count")
def a_count_as_percent(case: Case, said: Answer, say: Say) -> str | None:
    """A share instead of a number."""
    return say.rng.choice((f"{said.number} %", f"{said.number}%", f"{said.number} percent"))


@wrong_answer("value")
def the_right_value_under_a_wrong_label(case: Case, said: Answer, say: Say) -> str | None:
    """The right value, said to be something else."""
    labels = [label for label, value in said.about if value != said.value]
    return f"The {say.rng.choice(labels).lower()} of {said.thing} is {said.value}." if labels else None
