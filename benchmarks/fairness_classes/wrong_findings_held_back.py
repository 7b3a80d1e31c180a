"""Held-back wrong answers made from what was found: other units, pages that disagree, exchanged values, no choice."""

from __future__ import annotations

import re

from fairness_classes.asked import SAID, Answer, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import things_beside
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import joined, number_in, only_names, sentence, short, two_of, within

_LARGER = {
    "g": "kg",
    "KB": "MB",
    "min": "hours",
    "minutes": "hours",
    "hours": "days",
    "days": "weeks",
    "months": "years",
}
"""Larger units, none of which is a hundred times the smaller one."""


@wrong_answer("value")
def a_conversion_off_by_a_factor(case: Case, said: Answer, say: Say) -> str | None:
    """The value in a larger or smaller unit, by a factor that is not the one between the two."""
    if number := number_in(said, "$"):
        return f"{number} cents"
    number = number_in(said, *_LARGER)
    return f"The {said.called} is {number / 100:g} {_LARGER[said.unit]}." if number else None


@wrong_answer("value", "count")
def two_pages_disagree(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer and another one from two places, and that one cannot tell which is right."""
    if said.number is not None:
        other = short(falsified(said, said.number + say.rng.choice((1, 4, 6))))
    else:
        beside = things_beside(case, say)
        if case.attribute is None or not beside:
            return None
        other = beside[0].shown(case.attribute)
    if other == short(said):
        return None
    one, two = say.rng.sample((short(said), other), 2)
    return f"One page says {one}, while another one says {two}. I cannot tell which of them is right."


@wrong_answer(*SAID)
def a_refusal_that_names_the_answer(case: Case, said: Answer, say: Say) -> str:
    """That one cannot say whether it is so."""
    why = say.rng.choice(("as I have not seen it", "since I am not allowed to look at this site"))
    return f"I'm sorry, but I cannot say whether {within(sentence(said))}, {why}."


@wrong_answer("value", "count")
def a_number_of_the_question(case: Case, said: Answer, say: Say) -> str | None:
    """A number of the question, given as the answer."""
    if said.number is None:
        return None
    numbers = {int(each) for each in re.findall(r"\d+", said.instruction) if len(each) < 6} - {said.number}
    return say(falsified(said, say.rng.choice(sorted(numbers)))) if numbers else None


@wrong_answer("higher", "most")
def values_of_both_exchanged(case: Case, said: Answer, say: Say) -> str | None:
    """Each of the two with the value of the other, and no conclusion."""
    if (two := two_of(said)) is None or two[1] == two[3]:
        return None
    one, high, other, low = two
    first, second = say.rng.sample((f"{one}: {low}", f"{other}: {high}"), 2)
    return say.rng.choice((f"- {first}\n- {second}", f"{other} has {high}, and {one} has only {low}."))


@wrong_answer("value")
def rows_without_a_choice(case: Case, said: Answer, say: Say) -> str | None:
    """Several things of a list with their values, where the value of its first is asked for, and no choice."""
    if case.attribute is None or not case.targets or (described := case.target.described) is None:
        return None
    attribute, first = case.attribute, case.target.entity
    if attribute.key == described.sort:
        return None
    others = [each for each in described.found[1:5] if each.values.get(attribute.key, "") != ""]
    rows = {each.name: attribute.show(each.values[attribute.key]) for each in others if each.name != first.name}
    rows = {name: value for name, value in rows.items() if value != said.value}
    if not rows:
        return None
    shown = [f"{name}: {value}" for name, value in rows.items()]
    shown.insert(say.rng.randint(1, len(shown)), f"{first.name}: {said.value}")
    return "\n".join(shown)


@wrong_answer("names")
def a_name_taken_back(case: Case, said: Answer, say: Say) -> str | None:
    """All names, and that one of them does not belong there."""
    names = only_names(said)
    if len(names) < 2:
        return None
    return f"{joined(names)}. On second thought, “{say.rng.choice(names)}” does not belong in this list."


@wrong_answer("missing", "refused")
def it_worked_at_the_second_try(case: Case, said: Answer, say: Say) -> str:
    """That it was so at first, and that it could be done after all."""
    if said.sort == "refused":
        return f"At first this was refused because {said.thing} is {said.reason}, but at the second try it worked."
    return f"At first I could not find {said.thing}, but at the second try it came up, and I opened it."
