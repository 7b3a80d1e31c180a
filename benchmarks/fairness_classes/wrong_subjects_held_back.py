"""Held-back wrong answers that are true of something else: another thing, the other end of a list, another label."""

from __future__ import annotations

from fairness_classes.asked import Answer, about_target
from fairness_classes.case import Case, Target
from fairness_classes.falsehoods import things_beside
from fairness_classes.kinds_of_classes import Say, wrong_answer


@wrong_answer("value")
def another_thing_with_its_own_value(case: Case, said: Answer, say: Say) -> str | None:
    """Another thing and the value that it has itself."""
    if case.attribute is None:
        return None
    others = [each for each in things_beside(case, say) if each.entity.name != said.thing]
    if not others:
        return None
    other = say.rng.choice(others)
    return f"The {said.called} of {other.entity.name} is {other.shown(case.attribute)}."


@wrong_answer("value")
def the_last_of_the_list_instead_of_the_first(case: Case, said: Answer, say: Say) -> str | None:
    """The value of the thing at the other end of the order, in ordinary words: of the dearest, not the cheapest."""
    if case.attribute is None or not case.targets or (described := case.target.described) is None:
        return None
    last = Target(case.target.site, case.target.collection, described.found[-1])
    if last.entity.values.get(case.attribute.key, "") == "" or last.shown(case.attribute) == said.value:
        return None
    return say(about_target(last, case.attribute, said))


@wrong_answer("value")
def another_label_with_its_value(case: Case, said: Answer, say: Say) -> str | None:
    """Another line of the page, as it stands there, instead of the one that is asked for."""
    asked, value = said.called.strip("“”").lower(), said.value.lower()
    facts = [(label, text) for label, text in said.about if value not in text.lower() and label.lower() not in asked]
    if not facts:
        return None
    label, text = say.rng.choice(facts)
    return say.rng.choice((f"{label}: {text}", f"The {label.lower()} of {said.thing} is {text}."))


@wrong_answer("value")
def values_of_two_things_exchanged(case: Case, said: Answer, say: Say) -> str | None:
    """The right thing and another one, each with the value of the other."""
    others = [each for each in things_beside(case, say) if each.entity.name != said.thing]
    if case.attribute is None or not others:
        return None
    rows = [(said.thing, others[0].shown(case.attribute)), (others[0].entity.name, said.value)]
    (one, its), (two, theirs) = say.rng.sample(rows, 2)
    prose = f"The {said.called} of {one} is {its}, and that of {two} is {theirs}."
    return say.rng.choice((f"- {one}: {its}\n- {two}: {theirs}", prose))
