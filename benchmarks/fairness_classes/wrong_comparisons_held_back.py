"""Held-back wrong answers to comparisons: a wrong value, a wrong conclusion, the wrong direction, one side only."""

from __future__ import annotations

from fairness_classes.asked import Answer
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer


def _asked(said: Answer, side: int) -> str:
    """One of the two as it is asked for: its value where the higher number is asked for, or its name."""
    return said.two[side][said.number is not None]


@wrong_answer("higher", "most")
def right_values_and_the_wrong_conclusion(case: Case, said: Answer, say: Say) -> str:
    """Both with their right values, and the other one as the answer."""
    rows = "\n".join(f"- {name}: {value}" for name, value in say.rng.sample(said.two, 2))
    return f"{rows}\n\n**Answer:** {_asked(said, 1)}"


@wrong_answer("higher")
def the_lower_instead_of_the_higher(case: Case, said: Answer, say: Say) -> str:
    """That the lower one was looked for, and this one as the answer."""
    return f"I looked up which of the two has the lower {said.called}. My answer is {_asked(said, 1)}."


@wrong_answer("higher")
def the_site_of_the_other(case: Case, said: Answer, say: Say) -> str | None:
    """The other of two things on two sites, by its site."""
    if case.family != "across":
        return None
    where = "this site" if case.loser.site.host == case.host else case.loser.site.host
    return f"The one on {where} has the higher {said.called}."


@wrong_answer("higher")
def one_of_two_could_not_be_found(case: Case, said: Answer, say: Say) -> str:
    """The value of one, and that the other could not be found, so that nothing follows."""
    (one, value), (other, _) = say.rng.sample(said.two, 2)
    return (
        f"The {said.called} of {one} is {value}. I could not find {other}, so I cannot say which of the two is higher."
    )
