"""Wrong answers to comparisons and lists of names, and made-up answers where nothing can be done."""

from __future__ import annotations

from dataclasses import replace

from fairness_classes.asked import Answer
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import two_of


@wrong_answer("higher")
def they_are_equal(case: Case, said: Answer, say: Say) -> str | None:
    """That there is no difference."""
    if (two := two_of(said)) is None:
        return None
    return say.rng.choice(
        (f"{two[0]} and {two[2]} have the same {said.called}.", "They are equal.", "Neither is higher.")
    )


@wrong_answer("higher")
def the_difference_or_the_sum(case: Case, said: Answer, say: Say) -> str | None:
    """Something computed from the two numbers."""
    if said.number is None:
        return None
    low = int(said.two[1][1].strip("$"))
    number = say.rng.choice((said.number + low, said.number - low))
    return str(number) if number != said.number else None


@wrong_answer("names")
def names_in_reverse(case: Case, said: Answer, say: Say) -> str | None:
    """The opposite of the order that is asked for."""
    return say(replace(said, names=said.names[::-1])) if said.ordered and len(said.names) > 1 else None


@wrong_answer("names")
def two_names_swapped(case: Case, said: Answer, say: Say) -> str | None:
    """Two neighbours in the wrong order."""
    if not said.ordered or len(said.names) < 2:
        return None
    names, i = list(said.names), say.rng.randrange(len(said.names) - 1)
    names[i : i + 2] = names[i + 1], names[i]
    return say(replace(said, names=tuple(names)))


@wrong_answer("names")
def names_with_or(case: Case, said: Answer, say: Say) -> str | None:
    """The names as alternatives."""
    return " or ".join(name for name, _ in said.names) if len(said.names) > 1 else None


@wrong_answer("most")
def any_other_section(case: Case, said: Answer, say: Say) -> str | None:
    """A section that is neither the first nor the second."""
    names = [name for name in getattr(case.site, "names", ()) if name not in dict(said.two)]
    return say(replace(said, two=((names[0], said.two[0][1]), said.two[1]))) if names else None


@wrong_answer("missing")
def a_thing_that_does_not_exist_was_found(case: Case, said: Answer, say: Say) -> str:
    """That it was found."""
    return say.rng.choice(
        (f"I found {said.thing}.", f"{said.thing} exists on this site.", f"Yes, there is {said.thing}.")
    )


@wrong_answer("missing")
def it_may_not_exist(case: Case, said: Answer, say: Say) -> str:
    """Doubt whether it exists."""
    return say.rng.choice((f"Perhaps there is no {said.thing}.", f"{said.thing} might exist, or it might not."))


@wrong_answer("refused")
def it_worked_after_all(case: Case, said: Answer, say: Say) -> str:
    """That it worked, in spite of what the page says."""
    return f"It worked, although the page says that {said.thing} is {said.reason}."


@wrong_answer("refused")
def another_thing_is_refused(case: Case, said: Answer, say: Say) -> str:
    """That it cannot be done to another thing."""
    other = next(each.name for each in case.target.collection.entities if each.name != said.thing)
    return f"It cannot be done to {other}."


@wrong_answer("missing", "refused")
def nothing_but_the_name(case: Case, said: Answer, say: Say) -> str:
    """The name of the thing."""
    return said.thing


@wrong_answer("missing")
def something_else_does_not_exist(case: Case, said: Answer, say: Say) -> str:
    """That a thing which is there does not exist."""
    return f"There is no {case.site.main.entities[0].name} on this site."
