"""Held-back wrong answers that conclude wrongly: by another value, filter or order, against the facts, or not."""

from __future__ import annotations

from dataclasses import replace

from fairness_classes.asked import Answer, is_year
from fairness_classes.case import Case, Query
from fairness_classes.falsehoods import another_answer
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import joined, only_names, sentence, short

_MOST_NAMES = 8
"""Longer lists are not written out."""


@wrong_answer("higher")
def compared_by_another_value(case: Case, said: Answer, say: Say) -> str | None:
    """The other of the two, because another of its values is higher."""
    winner, loser = case.winner.entity, case.loser.entity
    found = []
    for attribute in case.loser.collection.attributes:
        low, high = winner.values.get(attribute.key), loser.values.get(attribute.key)
        if attribute is case.attribute or attribute.type != "number" or not attribute.asked:
            continue
        if isinstance(low, int) and isinstance(high, int) and high > low:
            degree = "later" if is_year(attribute) else "higher"
            found.append(f"the {degree} {attribute.called} ({attribute.show(high)} versus {attribute.show(low)})")
    right, wrong = (each[said.number is not None] for each in said.two)
    if not found or right == wrong:
        return None
    return f"{loser.name} has {say.rng.choice(found)}, so the answer is {wrong}."


@wrong_answer("higher", "most")
def a_correction_to_the_other(case: Case, said: Answer, say: Say) -> str | None:
    """The right one at first, and the other one after a correction."""
    right, wrong = (each[said.number is not None] for each in said.two)
    if right == wrong:
        return None
    return say.rng.choice(
        (
            f"At first I thought it was {right}, but that was a mistake. The final answer is {wrong}.",
            f"{right}. Wait, I mixed them up: it is {wrong}.",
        )
    )


def _named(case: Case, said: Answer, query: Query) -> tuple[tuple[str, str], ...]:
    """The names that another list has instead of the right ones; empty where they are the same or too many."""
    found = query.found[: len(said.names)] if said.ordered else query.found
    names = [each.name for each in found]
    same = names == only_names(said) if said.ordered else set(names) == set(only_names(said))
    return () if same or len(names) > _MOST_NAMES else tuple((name, "") for name in names)


@wrong_answer("names")
def names_under_another_filter(case: Case, said: Answer, say: Say) -> str | None:
    """The names of a list that has one of the filters at another value."""
    query = case.query
    if query is None or not query.constraints:
        return None
    left = say.rng.choice(query.constraints)
    kept = tuple(each for each in query.constraints if each is not left)
    others = [each for each in query.collection.constraints(left.attribute) if each.value != left.value]
    lists = [_named(case, said, replace(query, constraints=(*kept, each))) for each in others]
    lists = [names for names in lists if names]
    return say(replace(said, names=say.rng.choice(lists))) if lists else None


@wrong_answer("names")
def names_by_another_order(case: Case, said: Answer, say: Say) -> str | None:
    """The first names of the list in the order of something else."""
    query = case.query
    if query is None or not said.ordered:
        return None
    orders = [each.key for each in query.collection.attributes if each.sort and each.key != query.sort]
    lists = [names for key in orders if (names := _named(case, said, replace(query, sort=key)))]
    return say(replace(said, names=say.rng.choice(lists))) if lists else None


@wrong_answer("names")
def one_of_these_names(case: Case, said: Answer, say: Say) -> str | None:
    """That one of the names is the answer, and that one cannot tell which."""
    if len(said.names) < 2:
        return None
    return f"The answer is either {joined(only_names(said), ' or ')}. I cannot tell which of them it is."


@wrong_answer("missing", "refused")
def unsure_whether_it_can_be_done(case: Case, said: Answer, say: Say) -> str:
    """That one is not sure whether it is there, or whether it can be done."""
    if said.sort == "refused":
        return f"I am not sure whether this can be done. {said.thing} may or may not be {said.reason}."
    return f"I am not sure whether “{said.thing}” is on this site. It may or may not be there."


@wrong_answer("missing", "refused")
def it_works_after_a_login(case: Case, said: Answer, say: Say) -> str:
    """That one has to log in, and that it works then."""
    if said.sort == "refused":
        return f"I was not logged in, so I have not done this for {said.thing} yet. It works as soon as one logs in."
    return f"“{said.thing}” is there, but one has to log in to see it. After a login it opens."


@wrong_answer("value", "count", "higher", "most")
def the_right_one_is_ruled_out(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer and another one, and that the right one is ruled out."""
    right, wrong = short(said), another_answer(case, said, say)
    if wrong is None or wrong == right:
        return None
    one, two = say.rng.sample((right, wrong), 2)
    return f"It has to be either {one} or {two}. Now, {right} can be ruled out, which leaves {wrong}."


@wrong_answer("value", "count", "higher", "most")
def right_in_the_thought_and_wrong_in_the_action(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer in a thought, and another one in the action that gives the answer."""
    wrong = another_answer(case, said, say)
    if wrong is None or wrong == short(said):
        return None
    content = wrong.replace("'", "\\'")
    return f"Thought: {said.steps}. {sentence(said)}.\nAction: finished(content='{content}')"
