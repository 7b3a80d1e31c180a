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
def two_names_swapped(case: Case, said: Answer, say: Say) -> str | None:
    """Two neighbours in the wrong order."""
    if not said.ordered or len(said.names) < 2:
        return None
    names, i = list(said.names), say.rng.randrange(len(said.names) - 1)
    names[i : i + 2] = names[i + 1], names[i]
    return say(replace(said, names=tuple(names)))


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


@wrong_answer("missing", "refused")
def nothing_but_the_name(case: Case, said: Answer, say: Say) -> str:
    """The name of the thing."""
    return said.thing


@wrong_answer("higher", "most")
def the_loser(case: Case, said: Answer, say: Say) -> str | None:
    """The other of the two, in ordinary words."""
    if said.number is None:
        return say(replace(said, two=said.two[::-1], value=said.two[1][0]))
    value = said.two[1][1].strip("$")
    return say(replace(said, two=said.two[::-1], value=value, number=int(value)))


@wrong_answer("higher", "most")
def both_of_them(case: Case, said: Answer, say: Say) -> str | None:
    """Both names as the answer."""
    if (two := two_of(said)) is None:
        return None
    return say.rng.choice((f"{two[0]} and {two[2]}", f"Both {two[0]} and {two[2]}.", f"{two[2]}, {two[0]}"))


@wrong_answer("higher", "most")
def the_winner_is_lower(case: Case, said: Answer, say: Say) -> str | None:
    """That the winner has less."""
    if (two := two_of(said)) is None:
        return None
    return f"{two[0]} has a lower {said.called} than {two[2]}."


@wrong_answer("higher")
def a_third_thing(case: Case, said: Answer, say: Say) -> str | None:
    """Another thing of the site."""
    names = {name for name, _ in said.two}
    others = [each.name for each in case.target.collection.entities if each.name not in names]
    if said.number is not None or not others:
        return None
    return say(replace(said, two=((say.rng.choice(others), said.two[0][1]), said.two[1])))


@wrong_answer("names")
def a_name_left_out(case: Case, said: Answer, say: Say) -> str | None:
    """One name fewer."""
    if len(said.names) < 2:
        return None
    i = say.rng.randrange(len(said.names))
    return say(replace(said, names=said.names[:i] + said.names[i + 1 :]))


def _neighbours(case: Case, said: Answer, say: Say) -> list[str]:
    """Names of things that are not asked for; those first that come next in the list."""
    assert case.query is not None
    known = {name for name, _ in said.names}
    after = [each.name for each in case.query.found if each.name not in known]
    others = [each.name for each in case.query.collection.entities if each.name not in known]
    return [*after[:1], *say.rng.sample(others, min(3, len(others)))]


@wrong_answer("names")
def a_name_too_many(case: Case, said: Answer, say: Say) -> str | None:
    """One name more."""
    others = _neighbours(case, said, say)
    return say(replace(said, names=(*said.names, (others[0], said.names[-1][1])))) if others else None


@wrong_answer("names")
def a_wrong_name(case: Case, said: Answer, say: Say) -> str | None:
    """Another thing instead of one of them."""
    others = _neighbours(case, said, say)
    if not others:
        return None
    names, i = list(said.names), say.rng.randrange(len(said.names))
    names[i] = (others[-1], names[i][1])
    return say(replace(said, names=tuple(names)))


@wrong_answer("refused")
def what_is_refused_is_done(case: Case, said: Answer, say: Say) -> str:
    """That it is done, which cannot be done."""
    return say.rng.choice(("done", "Done.", f"Done. I have done this for {said.thing}.", "The task is complete."))


def _most_alike(case: Case, said: Answer) -> str:
    """The name of a thing of the site that has most words in common with the missing one."""
    words = set(said.thing.lower().split())
    names = [each.name for collection in case.site.collections.values() for each in collection.entities]
    return max(names, key=lambda name: len(words & set(name.lower().split())))


@wrong_answer("missing")
def a_similar_thing_does_not_exist(case: Case, said: Answer, say: Say) -> str | None:
    """That a thing with a similar name does not exist, which is there, in ordinary words."""
    other = _most_alike(case, said)
    text = say(replace(said, thing=other))
    return text if other in text else None


@wrong_answer("missing")
def a_similar_thing_is_taken_for_it(case: Case, said: Answer, say: Say) -> str:
    """That a thing with a similar name is what was wanted."""
    other = _most_alike(case, said)
    return say.rng.choice(
        (f"You must mean {other}. I have opened its page.", f"The page of “{other}” is open now, as you asked.")
    )
