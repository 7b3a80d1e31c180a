"""Held-back wrong answers of those who misread or miscount: digits, totals, columns, empty fields, discounts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from fairness_classes.asked import Answer, falsified
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import day_of, only_names
from webdojo.sites.admin import MEASURES, Admin

_ALIKE = dict(zip("0123456789", "8778965134", strict=True))
"""Digits, and others that look like them."""


@wrong_answer("count")
def a_wrong_total_below_what_was_counted(case: Case, said: Answer, say: Say) -> str | None:
    """All that was counted, thing by thing or page by page, and a total that is wrong."""
    if said.number is None or said.number < 2 or len(said.names) != said.number:
        return None
    wrong = said.number + say.rng.choice((-1, 1))
    if said.parts:
        return f"{' + '.join(map(str, said.parts))} = {wrong}, so there are {wrong} {said.called}."
    if said.number > 12:
        return None
    rows = "\n".join(f"- {name}" for name in only_names(said))
    return f"{rows}\n\n**Total: {wrong}**"


@wrong_answer("value", "most")
def another_row_or_column_of_the_report(case: Case, said: Answer, say: Say) -> str | None:
    """What another row or column of the right report says, as if it were that of the right one."""
    site, months = case.site, [step["path"].rpartition("/")[2] for step in case.steps("visit")]
    if not isinstance(site, Admin) or case.family not in ("report", "leader"):
        return None
    measure = next(each for each in MEASURES if each.lower() in said.called)
    column = say.rng.choice([each for each in MEASURES if each != measure])
    if said.sort == "most":
        figures = {name: site.figures[months[0], name][column] for name in site.names}
        best, right = max(figures, key=lambda name: figures[name]), said.two[0][0]
        two = ((best, str(figures[best])), (right, str(figures[right])))
        return say(replace(said, two=two)) if best != right else None
    rows = [(said.thing, column), *((name, measure) for name in site.names if name != said.thing)]
    row, column = say.rng.choice(rows)
    parts = tuple(site.figures[month, row][column] for month in months)
    total = sum(parts)
    return say(replace(said, number=total, value=str(total), parts=parts)) if total != said.number else None


@wrong_answer("value", "count")
def a_digit_misread(case: Case, said: Answer, say: Say) -> str | None:
    """The number with one digit as another that looks like it."""
    if said.number is None:
        return None
    digits = str(said.number)
    at = say.rng.randrange(len(digits))
    return say(falsified(said, int(digits[:at] + _ALIKE[digits[at]] + digits[at + 1 :])))


@wrong_answer("count")
def the_right_number_of_something_else(case: Case, said: Answer, say: Say) -> str | None:
    """The right number as a share in percent, or as that of each page of the list."""
    if case.query is None or not said.number:
        return None
    wrong = []
    if len(said.parts) > 1:
        wrong.append(f"Each page of the list shows {said.number} {said.called}.")
    if said.number <= 100 and abs(100 * said.number / len(case.query.collection.entities) - said.number) > 1:
        wrong.append(f"{said.number} % of all {case.query.collection.nouns} meet the conditions.")
    return say.rng.choice(wrong) if wrong else None


@wrong_answer("value")
def a_span_of_days(case: Case, said: Answer, say: Say) -> str | None:
    """Two days that the right one lies between."""
    if not said.day:
        return None
    first = day_of(said) - timedelta(say.rng.randint(2, 9))
    last = day_of(said) + timedelta(say.rng.randint(2, 9))
    return f"Some time between {first.day} {first:%B %Y} and {last.day} {last:%B %Y}."


@wrong_answer("value")
def the_field_is_empty(case: Case, said: Answer, say: Say) -> str | None:
    """That the page leaves it empty."""
    if said.parts or said.number == 0 or {"no", "none", "not"} & set(said.value.lower().split()):
        return None
    return say.rng.choice(
        (
            f"The page of {said.thing} has a line for the {said.called}, but it is empty.",
            f"For {said.thing}, no {said.called} is entered.",
        )
    )


@wrong_answer("value")
def a_price_with_a_made_up_discount_or_charge(case: Case, said: Answer, say: Say) -> str | None:
    """A sum of money after a discount or with a charge that the site says nothing of."""
    if said.number is None or said.unit != "$" or said.number < 10:
        return None
    less, more = said.number - said.number // 10, said.number + 5
    return say.rng.choice(
        (
            f"After a discount of 10 %, the {said.called} of {said.thing} is ${less}.",
            f"With all charges included, the {said.called} of {said.thing} is ${more}.",
        )
    )
