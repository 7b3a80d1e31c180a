"""Answers that do not commit themselves, deny, echo, stuff, or say that it cannot be done."""

from __future__ import annotations

from fairness_classes.asked import SAID, Answer
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import sentence, short, within


def _second(case: Case, said: Answer, say: Say) -> str | None:
    """Another answer of the same sort, which is wrong."""
    if said.sort in ("higher", "most"):
        return said.two[1][1].strip("$") if said.number is not None else said.two[1][0]
    if said.number is not None:
        return short(said).replace(str(said.number), str(said.number + say.rng.choice((1, 7))), 1)
    if case.attribute is None:
        return None
    key, shown = case.attribute.key, case.target.shown(case.attribute)
    values = {each.values[key] for each in case.target.collection.entities if each.values.get(key, "") != ""}
    others = sorted({case.attribute.show(value) for value in values} - {shown})
    return say.rng.choice(others) if others else None


@wrong_answer(*SAID)
def i_think(case: Case, said: Answer, say: Say) -> str:
    """As an opinion."""
    return f"{say.rng.choice(('I think', 'I guess', 'I would guess', 'I assume'))} {within(sentence(said))}."


@wrong_answer(*SAID)
def not_sure(case: Case, said: Answer, say: Say) -> str:
    """With doubt after it."""
    return f"{short(said)}, but I am not sure."


@wrong_answer(*SAID)
def a_denial(case: Case, said: Answer, say: Say) -> str:
    """That it is not so."""
    return f"It is not {short(said)}."


@wrong_answer("value", "count", "higher", "most")
def anything_but(case: Case, said: Answer, say: Say) -> str:
    """That all others are possible."""
    return f"Anything but {short(said)}."


@wrong_answer("value", "count", "higher", "most")
def either_or(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer or another one."""
    if (other := _second(case, said, say)) is None:
        return None
    first, second = say.rng.sample((short(said), other), 2)
    return say.rng.choice((f"{first} or {second}", f"Either {first} or {second}."))


@wrong_answer("value", "count", "higher", "most")
def two_answers(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer and another one."""
    if (other := _second(case, said, say)) is None:
        return None
    first, second = say.rng.sample((short(said), other), 2)
    return say.rng.choice((f"{first} and {second}", f"{first}, {second}", f"{first}\n{second}", f"{first} / {second}"))


@wrong_answer(*SAID)
def an_echo_as_a_statement(case: Case, said: Answer, say: Say) -> str:
    """That one has looked at what is asked for, without what it is."""
    return f"I have looked up what you asked for: {said.restated.rstrip('?.')}. The answer is on the page."


@wrong_answer(*SAID)
def impossible_what_is_possible(case: Case, said: Answer, say: Say) -> str:
    """That it cannot be found out, though it can."""
    return say.rng.choice(
        ("Impossible: it does not exist.", "There is no such thing on this site.", "This cannot be done.")
    )


@wrong_answer("value", "count")
def many_numbers(case: Case, said: Answer, say: Say) -> str | None:
    """Many numbers, among them the right one."""
    if said.number is None:
        return None
    start = max(0, said.number - say.rng.randint(3, 9))
    return " ".join(short(said).replace(str(said.number), str(number)) for number in range(start, start + 20))


@wrong_answer("value", "count", "higher", "most")
def right_and_then_wrong(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer, and in the next sentence another one."""
    if (other := _second(case, said, say)) is None:
        return None
    return f"{sentence(said)}. On another page it is {other}."


@wrong_answer("done")
def it_could_not_be_done(case: Case, said: Answer, say: Say) -> str:
    """That it could not be done, though all is done."""
    return say.rng.choice(
        ("I could not do this.", "Impossible: this is not possible on this site.", "I was unable to complete the task.")
    )
