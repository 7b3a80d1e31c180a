"""The half of the classes of `wrong_hedges.py` that is held back."""

from __future__ import annotations

from fairness_classes.asked import SAID, Answer
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import short


@wrong_answer(*SAID)
def maybe(case: Case, said: Answer, say: Say) -> str:
    """With a word of doubt before it."""
    return f"{say.rng.choice(('Maybe', 'Perhaps', 'Possibly', 'Probably'))} {short(said)}."


@wrong_answer(*SAID)
def it_might_be(case: Case, said: Answer, say: Say) -> str:
    """As a possibility."""
    return f"It {say.rng.choice(('might', 'could', 'may'))} be {short(said)}."


@wrong_answer(*SAID)
def as_a_question(case: Case, said: Answer, say: Say) -> str:
    """As a question."""
    return say.rng.choice((f"Is it {short(said)}?", f"{short(said)}?"))


@wrong_answer("value", "count")
def about_so_many(case: Case, said: Answer, say: Say) -> str | None:
    """A number that is not meant exactly."""
    if said.number is None:
        return None
    start = say.rng.choice(("about", "around", "approximately", "roughly", "nearly"))
    return f"{start.capitalize()} {short(said)}."


@wrong_answer("value", "count")
def at_least_so_many(case: Case, said: Answer, say: Say) -> str | None:
    """A number as a limit."""
    if said.number is None:
        return None
    start = say.rng.choice(("at least", "at most", "no more than", "up to"))
    return f"{start.capitalize()} {short(said)}."


@wrong_answer("value", "count")
def more_than_so_many(case: Case, said: Answer, say: Say) -> str | None:
    """A number that it is more or less than."""
    if said.number is None:
        return None
    return say.rng.choice(
        (f"More than {said.number}.", f"Over {said.number}.", f"Fewer than {said.number}.", f"{said.number}+")
    )


@wrong_answer("value", "count")
def a_range(case: Case, said: Answer, say: Say) -> str | None:
    """A range that the number lies in, or begins."""
    if said.number is None:
        return None
    n = said.number
    return say.rng.choice((f"Between {n - 1} and {n + 4}.", f"{n}-{n + 5}", f"{n} to {n + 10}"))


@wrong_answer(*SAID)
def an_echo(case: Case, said: Answer, say: Say) -> str:
    """The question and nothing else."""
    return said.instruction


@wrong_answer(*SAID)
def no_answer(case: Case, said: Answer, say: Say) -> str:
    """That the work is done, without the answer."""
    return say.rng.choice(("done", "Done.", "The task is complete.", "I have found the answer."))


@wrong_answer(*SAID)
def i_do_not_know(case: Case, said: Answer, say: Say) -> str:
    """That one does not know."""
    return say.rng.choice(("I don't know.", "I could not find this information on the site.", "The site does not say."))


@wrong_answer("value", "higher")
def many_values(case: Case, said: Answer, say: Say) -> str | None:
    """The values or names of many things, among them the right one."""
    if said.number is not None or not case.targets:
        return None
    entities = case.target.collection.entities[:12]
    if said.sort == "higher":
        return ", ".join(dict.fromkeys([said.two[0][0], *(each.name for each in entities), said.two[1][0]]))
    assert case.attribute is not None
    key = case.attribute.key
    shown = [case.attribute.show(each.values[key]) for each in entities if each.values.get(key, "") != ""]
    found = list(dict.fromkeys([*shown, said.value]))
    return ", ".join(found) if len(found) > 1 else None


@wrong_answer("done")
def it_was_not_to_be_found(case: Case, said: Answer, say: Say) -> str:
    """That there is no such thing, though it is on the screen."""
    return say.rng.choice(("There is no such page on this site.", "I could not find it.", "It does not exist."))
