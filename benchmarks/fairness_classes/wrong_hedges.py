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
def a_denial(case: Case, said: Answer, say: Say) -> str:
    """That it is not so."""
    return f"It is not {short(said)}."


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
def impossible_what_is_possible(case: Case, said: Answer, say: Say) -> str:
    """That it cannot be found out, though it can."""
    return say.rng.choice(
        ("Impossible: it does not exist.", "There is no such thing on this site.", "This cannot be done.")
    )


@wrong_answer(*SAID)
def maybe(case: Case, said: Answer, say: Say) -> str:
    """With a word of doubt before it."""
    return f"{say.rng.choice(('Maybe', 'Perhaps', 'Possibly', 'Probably'))} {short(said)}."


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


@wrong_answer(*SAID)
def with_little_confidence(case: Case, said: Answer, say: Say) -> str:
    """The answer with a low confidence."""
    return say.rng.choice((f"{short(said)} (low confidence)", f"{short(said)} – this is just a guess."))


@wrong_answer(*SAID)
def a_promise(case: Case, said: Answer, say: Say) -> str:
    """What one is going to do."""
    return say.rng.choice(
        ("I will now look this up for you.", "Next, I am going to open the page and read the answer.", "One moment…")
    )


@wrong_answer(*SAID)
def a_plan_in_steps(case: Case, said: Answer, say: Say) -> str:
    """What is to be done, with numbers, and no answer."""
    return "1. Open the site.\n2. Look for what is asked for.\n3. Read the answer."
