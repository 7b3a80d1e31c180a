"""Held-back wrong endings of tasks of doing: that it was not done, or not to this thing, not here, not wholly."""

from __future__ import annotations

from fairness_classes.asked import Answer
from fairness_classes.case import CHANGES, Case
from fairness_classes.kinds_of_classes import NARROWED, Say, wrong_answer


@wrong_answer("done")
def did_it_with_another_thing_or_elsewhere(case: Case, said: Answer, say: Say) -> str:
    """That it was done with another thing than the right one, or on another site."""
    elsewhere = "I did this on www.example.com instead of on the site that you named."
    if not case.targets:
        return elsewhere
    target, known = case.targets[-1], {each.entity.name for each in case.targets}
    others = [each.name for each in target.collection.entities if each.name not in known]
    if not others:
        return elsewhere
    other, name = say.rng.choice(others), target.entity.name
    return say.rng.choice((elsewhere, f"I had trouble with {name}, so I did this with {other} instead."))


@wrong_answer("done")
def asks_before_it_begins(case: Case, said: Answer, say: Say) -> str:
    """A wish for a go-ahead, before anything is done."""
    return say.rng.choice(
        (
            f"Before I begin, please confirm that this is what you want: {said.restated}",
            "Shall I go ahead with this? I will start as soon as you say yes.",
        )
    )


@wrong_answer("done")
def did_it_and_undid_it(case: Case, said: Answer, say: Say) -> str:
    """That all is as it was before, since what was done was undone."""
    if case.family in CHANGES:
        return "I did this at first, but then I undid it, so everything is as it was before."
    return "I was there at first, but then I left again, and now I am looking at something else."


@wrong_answer("done")
def a_filter_could_not_be_set(case: Case, said: Answer, say: Say) -> str | None:
    """That the list lacks one of the filters that were asked for."""
    if case.family not in NARROWED or case.query is None or not case.query.constraints:
        return None
    label = say.rng.choice(case.query.constraints).attribute.label
    return f"The list is open, but I could not set the filter “{label}”, so it still shows too much."
