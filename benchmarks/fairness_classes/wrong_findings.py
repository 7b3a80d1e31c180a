"""Wrong answers made from what was found: a wrong role, a wrong sign, digits exchanged, changes and errors made up."""

from __future__ import annotations

from dataclasses import replace

from fairness_classes.asked import SAID, Answer, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import another_answer
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import short, two_of


@wrong_answer("higher", "most")
def the_value_instead_of_the_name(case: Case, said: Answer, say: Say) -> str | None:
    """The highest value where the name of what has it is asked for."""
    if (two := two_of(said)) is None or two[1].lower() in two[0].lower():
        return None
    return say.rng.choice((two[1], f"The answer is {two[1]}.", f"The {said.called} is {two[1]}."))


@wrong_answer("higher", "most")
def a_sign_the_wrong_way_round(case: Case, said: Answer, say: Say) -> str | None:
    """That the lower value is more than the higher one, and so the other one as the answer."""
    (one, high), (other, low) = said.two
    if high == low or one == other:
        return None
    wrong = low if said.number is not None else other
    return say.rng.choice((f"{low} > {high}, so the answer is {wrong}.", f"{other} ({low}) > {one} ({high})"))


@wrong_answer("value", "count")
def changed_from_the_right_one(case: Case, said: Answer, say: Say) -> str | None:
    """That the right answer was so before a change, and that it is another one now."""
    right, wrong = short(said), another_answer(case, said, say)
    if wrong is None or wrong == right:
        return None
    return say.rng.choice(
        (f"It was changed from {right} to {wrong}, so it is {wrong} now.", f"Before: {right}. Now: {wrong}.")
    )


def _swapped(text: str, say: Say) -> str | None:
    """A text with two neighbouring digits exchanged; None where it has none that differ."""
    pairs = [i for i in range(len(text) - 1) if text[i : i + 2].isdecimal() and text[i] != text[i + 1]]
    if not pairs:
        return None
    i = say.rng.choice(pairs)
    return f"{text[:i]}{text[i + 1]}{text[i]}{text[i + 2 :]}"


@wrong_answer("value", "count")
def two_digits_exchanged(case: Case, said: Answer, say: Say) -> str | None:
    """The number, or a code with digits, with two neighbouring digits exchanged."""
    if said.day:
        return None
    if said.number is None:
        code = _swapped(said.value, say)
        return say(replace(said, value=code)) if code is not None else None
    digits = _swapped(str(said.number), say)
    return say(falsified(said, int(digits))) if digits is not None and digits[0] != "0" else None


@wrong_answer("value")
def the_right_number_as_a_place(case: Case, said: Answer, say: Say) -> str | None:
    """The right number, said to be the place of the thing in the list."""
    if not said.number or said.year or said.parts:
        return None
    return say.rng.choice(
        (f"{said.thing} is number {said.number} in the list.", f"{said.thing} is in row {said.number} of the list.")
    )


@wrong_answer(*SAID)
def a_circular_answer(case: Case, said: Answer, say: Say) -> str | None:
    """The question as a statement that says nothing."""
    if said.sort == "value" and said.value.lower() in said.restated.lower():
        return None
    for start, stated in (("What is ", "It is "), ("Who is ", "It is "), ("What are ", "They are ")):
        if said.restated.startswith(start):
            return f"{stated}{said.restated.removeprefix(start).rstrip('?')}."
    return None


@wrong_answer("missing", "refused")
def an_error_that_was_not_there(case: Case, said: Answer, say: Say) -> str:
    """An error of the server as the reason, so that nothing is said about the thing itself."""
    error = say.rng.choice(("The server answered with an error", "The site was down", "My connection broke off"))
    if said.sort == "refused":
        return f"{error} when I wanted to do this for {said.thing}. I will try again later."
    return f"{error} when I looked for “{said.thing}”, so I do not know whether it is there. I will try again later."
