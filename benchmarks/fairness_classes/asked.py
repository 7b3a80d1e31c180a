"""The answer to a task, with all that people need to put it into words.

An `Answer` may be wrong: `dataclasses.replace` makes one that says something else, and the same wordings serve it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from fairness_classes.case import Case, Target
from webdojo.sites.admin import MEASURES, REPORTS, Admin
from webdojo.sites.catalog import Attribute
from webdojo.sites.content.words import single

Sort = Literal["value", "count", "higher", "most", "names", "missing", "refused"]
"""A value of a thing, a count of things, which of two is higher, which section has the most, names of things, that
there is no such thing, that something cannot be done."""
SAID: tuple[Sort, ...] = ("value", "count", "higher", "most", "names")
"""Sorts of answers that say something found out."""
PERSONS = single("author editor photo assignee reporter lead last host")
"""Keys of attributes whose values are people."""


@dataclass(frozen=True)
class Answer:
    """What an answer says."""

    sort: Sort
    value: str
    """The answer as pages write it."""
    called: str = ""
    """What is asked for: `reading time`; of a count the plural of the things."""
    thing: str = ""
    """The name of the thing that has the value."""
    number: int | None = None
    unit: str = ""
    day: str = ""
    """The value as `2027-03-05`, if it is a date."""
    year: bool = False
    """The number is a year."""
    person: bool = False
    """The value is the name of a person."""
    two: tuple[tuple[str, str], ...] = ()
    """Of two compared things the name and the value, the higher one first."""
    names: tuple[tuple[str, str], ...] = ()
    """The things that are named, in their order, each with a value that belongs to it (empty: none is known)."""
    ordered: bool = False
    parts: tuple[int, ...] = ()
    """What the number is the sum of."""
    reason: str = ""
    """Why something cannot be done: `sold out`."""
    about: tuple[tuple[str, str], ...] = ()
    """Further values of the thing, by label."""
    instruction: str = ""
    restated: str = ""
    steps: str = ""
    """How it was found, as a sentence."""
    url: str = ""


def answer_of(case: Case) -> Answer:
    """The right answer to a task that asks for one."""
    base = Answer(
        "value",
        case.answer,
        instruction=case.task.instruction,
        restated=case.task.metadata["restated"],
        steps=_steps(case),
        url=case.targets[-1].site.url(case.targets[-1].path) if case.targets else case.site.url(),
    )
    return _filled(case, base)


def _filled(case: Case, base: Answer) -> Answer:
    match case.family:
        case "missing":
            return replace(base, sort="missing", thing=str(case.plan[0]["text"]))
        case "refused":
            thing = case.target.entity.name
            reason = case.plan[-1]["because"].removeprefix("It is ").rstrip(".")
            return replace(base, sort="refused", thing=thing, reason=reason)
        case "count":
            assert case.query is not None
            number = int(case.answer)
            nouns = case.query.collection.noun if number == 1 else case.query.collection.nouns
            names = tuple((entity.name, "") for entity in case.query.found)
            return replace(base, sort="count", number=number, called=nouns, names=names, parts=_pages(case, number))
        case "names":
            assert case.query is not None
            query = case.query
            key = query.sort if query.sort else next(a.key for a in query.collection.attributes if a.listed)
            attribute = query.collection.by_key[key]
            named = query.found[: len(case.names)]
            names = tuple((each.name, attribute.show(each.values[key]) if attribute.listed else "") for each in named)
            return replace(base, sort="names", names=names, ordered=bool(query.sort), called=query.collection.nouns)
        case "report" | "leader":
            return _report(case, base)
    assert case.attribute is not None
    if case.family in ("compare", "across", "corners"):
        return _compared(case, base, case.attribute)
    return about_target(case.target, case.attribute, replace(base, value=case.answer))


def about_target(target: Target, attribute: Attribute, base: Answer) -> Answer:
    """The answer that gives a value of a thing."""
    value = target.entity.values[attribute.key]
    others = [a for a in target.collection.attributes if a.listed and a.key != attribute.key]
    return replace(
        base,
        sort="value",
        called=attribute.called,
        thing=target.entity.name,
        number=value if isinstance(value, int) else None,
        unit=attribute.unit,
        day=str(value) if attribute.type == "date" else "",
        year=is_year(attribute),
        person=attribute.key in PERSONS and attribute.type == "choice",
        value=target.shown(attribute),
        about=tuple((a.label, target.shown(a)) for a in others if target.entity.values.get(a.key, "") != ""),
    )


def falsified(said: Answer, number: int) -> Answer:
    """The answer with another number, in the value and in what it is the sum of."""
    assert said.number is not None
    value = said.value.replace(str(said.number), str(number)) if said.sort == "value" else str(number)
    parts = (*said.parts[:-1], said.parts[-1] + number - said.number) if said.parts else ()
    return replace(said, number=number, value=value, parts=parts, names=())


def is_year(attribute: Attribute) -> bool:
    return attribute.type == "number" and (attribute.key in ("year", "since", "founded", "launched"))


def _compared(case: Case, base: Answer, attribute: Attribute) -> Answer:
    two = tuple((each.entity.name, each.shown(attribute)) for each in (case.winner, case.loser))
    number = int(case.answer) if case.compact else None
    return replace(base, sort="higher", called=attribute.called, two=two, number=number, year=is_year(attribute))


def _report(case: Case, base: Answer) -> Answer:
    site, because = case.site, case.plan[-1]["because"]
    assert isinstance(site, Admin)
    measure = next(each for each in MEASURES if each in because)
    months = [step["path"].rpartition("/")[2] for step in case.steps("visit")]
    when = " and ".join(REPORTS[month] for month in months)
    if case.family == "leader":
        figures = sorted(
            ((name, site.figures[months[0], name][measure]) for name in site.names), key=lambda each: -each[1]
        )
        two = tuple((name, str(figure)) for name, figure in figures[:2])
        return replace(base, sort="most", called=f"number of {measure.lower()}", two=two)
    section = next(name for name in site.names if f" of {name} in " in case.plan[0]["note"])
    parts = tuple(site.figures[month, section][measure] for month in months)
    called = f"number of {measure.lower()} in {when}"
    return replace(base, sort="value", called=called, thing=section, number=sum(parts), parts=parts)


def _pages(case: Case, number: int) -> tuple[int, ...]:
    """How many things each page of the list shows; empty where that is nothing to add up."""
    size = case.site.per_page
    pages = [min(size, number - start) for start in range(0, number, size)]
    return tuple(pages) if 2 <= len(pages) <= 6 else ()


def _steps(case: Case) -> str:
    if case.query is not None:
        return f"I opened the list of {case.query.collection.nouns} and set the filters"
    if case.targets and case.targets[0].described is not None:
        return f"I put the list of {case.targets[0].collection.nouns} into order and opened the first one"
    if case.family in ("report", "leader"):
        return "I opened the reports and read the table"
    return "I searched for the name on the site and looked at what came up"
