"""Held-back wordings that show what was found before they say what follows: comparisons, counts, facts, dates, sums."""

from __future__ import annotations

import random
from itertools import accumulate

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, number_of, two_of


@wording("higher")
def looked_up_on_two_sites(said: Answer, rng: random.Random) -> str | None:
    """What each of two sites lists, and whose value is the higher one."""
    if ".localhost" not in said.restated or (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    (first, its), (second, theirs) = rng.sample([(one, high), (other, low)], 2)
    return (
        f"I looked on both sites. {first} is listed with {its}; on the other site, {second} is listed with {theirs}. "
        f"The higher {said.called} is therefore that of {one}."
    )


@wording("value")
def a_card_with_the_asked_fact_marked(said: Answer, rng: random.Random) -> str | None:
    """All facts of the page as bullets, with a mark on the one that is asked for."""
    if not said.about:
        return None
    mark = rng.choice(("this is what you asked for", "the answer"))
    asked = f"- **{said.called[0].upper()}{said.called[1:]}: {said.value}** ← {mark}"
    rows = [asked, *(f"- {label}: {value}" for label, value in said.about)]
    return "\n".join([f"### {said.thing}", "", *rng.sample(rows, len(rows))])


@wording("value")
def a_date_in_two_notations(said: Answer, rng: random.Random) -> str | None:
    """The same day in letters and in numbers."""
    if not said.day:
        return None
    day = day_of(said)
    long = f"{day.day} {day:%B} {day.year}"
    return rng.choice((f"{long} ({said.day})", f"{said.day}, that is, {day:%A}, {long}."))


@wording("value")
def months_and_their_sum(said: Answer, rng: random.Random) -> str | None:
    """A table of months with a row for their sum, or one addition after the other."""
    months = said.called.rpartition(" in ")[2].split(" and ")
    if len(said.parts) < 2 or len(months) != len(said.parts):
        return None
    if min(said.parts) < 0 or sum(said.parts) != number_of(said):
        return None
    rows = [f"| {month} | {part} |" for month, part in zip(months, said.parts, strict=True)]
    table = "\n".join(["| Month | Figure |", "|---|---|", *rows, f"| **Total** | **{said.number}** |"])
    totals = list(accumulate(said.parts))
    steps = [
        f"{before} + {part} = {after}" for before, part, after in zip(totals, said.parts[1:], totals[1:], strict=False)
    ]
    return rng.choice((table, f"{said.thing}: {', then '.join(steps)}."))
