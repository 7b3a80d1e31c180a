"""The half of the classes of `wrong_names.py` that is held back."""

from __future__ import annotations

import re
from dataclasses import replace

from fairness_classes.asked import Answer
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import joined, only_names, two_of
from webdojo.sites.admin import MEASURES, Admin


@wrong_answer("higher", "most")
def the_difference_instead_of_the_name(case: Case, said: Answer, say: Say) -> str | None:
    """How far they are apart, and not which is higher."""
    if (two := two_of(said)) is None:
        return None
    numbers = [int(re.sub(r"\D", "", value)) for value in (two[1], two[3])]
    return f"The difference is {numbers[0] - numbers[1]}."


@wrong_answer("higher")
def it_depends(case: Case, said: Answer, say: Say) -> str | None:
    """That it depends."""
    return say.rng.choice(("It depends.", "That depends on how you look at it.", "One of the two is higher."))


@wrong_answer("higher", "most")
def the_loser_with_the_higher_value(case: Case, said: Answer, say: Say) -> str | None:
    """The other of the two, with the value of the winner."""
    if (two := two_of(said)) is None:
        return None
    return f"{two[2]} ({two[1]})"


@wrong_answer("higher")
def the_wrong_place_in_the_question(case: Case, said: Answer, say: Say) -> str | None:
    """The other of the two by its place in the question."""
    if two_of(said) is None or len(case.targets) != 2:
        return None
    return f"The {'first' if case.loser is case.target else 'second'} one."


@wrong_answer("higher")
def the_winner_has_less_than_the_other(case: Case, said: Answer, say: Say) -> str | None:
    """That the value of the other is greater."""
    if (two := two_of(said)) is None:
        return None
    return f"The {said.called} of {two[2]} is higher than that of {two[0]}."


@wrong_answer("higher")
def the_mean_of_both(case: Case, said: Answer, say: Say) -> str | None:
    """A number between the two."""
    if said.number is None:
        return None
    low = int(re.sub(r"\D", "", said.two[1][1]))
    mean = (said.number + low) // 2
    return str(mean) if mean not in (said.number, low) else None


@wrong_answer("most")
def the_section_with_the_least(case: Case, said: Answer, say: Say) -> str | None:
    """The section with the lowest figure, in ordinary words."""
    site = case.site
    if not isinstance(site, Admin):
        return None
    measure = next(each for each in MEASURES if each.lower() in said.called)
    month = case.steps("visit")[0]["path"].rpartition("/")[2]
    least = min(site.names, key=lambda name: site.figures[month, name][measure])
    figure = str(site.figures[month, least][measure])
    return say(replace(said, two=((least, figure), said.two[1]))) if least not in dict(said.two) else None


@wrong_answer("most")
def all_sections(case: Case, said: Answer, say: Say) -> str | None:
    """The names of all sections."""
    return joined(list(getattr(case.site, "names", ()))) or None


@wrong_answer("names")
def a_name_said_twice(case: Case, said: Answer, say: Say) -> str | None:
    """One name instead of another, so that it stands there twice."""
    if len(said.names) < 2:
        return None
    return say(replace(said, names=(said.names[0], *said.names[:1], *said.names[2:])))


@wrong_answer("names")
def names_and_so_on(case: Case, said: Answer, say: Say) -> str | None:
    """All names but the last, and that there are others."""
    names = only_names(said)
    return f"{', '.join(names[:-1])}{say.rng.choice((', etc.', ', and others', ', …'))}" if len(names) > 1 else None


@wrong_answer("names")
def the_last_name_comes_first(case: Case, said: Answer, say: Say) -> str | None:
    """The last name in front of the others, where an order is asked for."""
    if not said.ordered or len(said.names) < 3:
        return None
    return say(replace(said, names=(said.names[-1], *said.names[:-1])))


@wrong_answer("names")
def all_but_the_names(case: Case, said: Answer, say: Say) -> str:
    """All things with the exception of the right ones."""
    return f"All of them except {joined(only_names(said))}."


@wrong_answer("names")
def names_from_the_other_end(case: Case, said: Answer, say: Say) -> str | None:
    """The last things of the list where the first are asked for."""
    assert case.query is not None
    names, found = only_names(said), [each.name for each in case.query.found]
    if not said.ordered or len(found) < 2 * len(names):
        return None
    last = found[: -len(names) - 1 : -1]
    return say(replace(said, names=tuple((name, "") for name in last)))


@wrong_answer("names")
def the_values_instead_of_the_names(case: Case, said: Answer, say: Say) -> str | None:
    """What the list says of the things, without their names."""
    values = [value for _, value in said.names]
    text = ", ".join(values)
    return text if all(values) and not any(name.lower() in text.lower() for name in only_names(said)) else None


@wrong_answer("missing")
def it_is_there_but_does_not_load(case: Case, said: Answer, say: Say) -> str:
    """That it is there."""
    return f"{said.thing} is on the site, but its page does not load."


@wrong_answer("missing")
def a_made_up_fact(case: Case, said: Answer, say: Say) -> str:
    """Something about it, as if it were there."""
    return say.rng.choice(
        (f"{said.thing} is the first in the list.", f"You can see {said.thing} on the home page.", f"{said.thing}: $20")
    )


@wrong_answer("missing")
def did_not_look(case: Case, said: Answer, say: Say) -> str:
    """That one did not look."""
    return f"I have not looked for {said.thing} yet."


@wrong_answer("refused")
def it_is_in_progress(case: Case, said: Answer, say: Say) -> str:
    """That it is being done, which cannot be done."""
    return say.rng.choice(
        (f"I have requested it for {said.thing}, and it will be done soon.", "Your request is being processed.")
    )


@wrong_answer("refused")
def it_could_be_done(case: Case, said: Answer, say: Say) -> str:
    """That it can be done."""
    return f"It is possible to do this for {said.thing}. Just tell me to go on."


@wrong_answer("names")
def names_the_last_of_which_is_doubted(case: Case, said: Answer, say: Say) -> str | None:
    """All names, the last with a word of doubt."""
    names = only_names(said)
    return f"{', '.join(names[:-1])} and {say.rng.choice(('maybe', 'possibly'))} {names[-1]}." if names[1:] else None


@wrong_answer("missing", "refused")
def a_made_up_receipt(case: Case, said: Answer, say: Say) -> str:
    """An address of what is not there, or a number that confirms what cannot be done."""
    if said.sort == "refused":
        return f"Done. The confirmation number for {said.thing} is {say.rng.randrange(10_000, 100_000)}."
    slug = "-".join(re.findall(r"\w+", said.thing.lower()))
    return f"I have opened the page of “{said.thing}”. Its address is {case.site.url()}{slug}."
