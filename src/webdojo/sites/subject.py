"""What a question is about, by what its site has: what an answer may say besides the value, and what contradicts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites.answers.doubts import DOUBTS
from webdojo.sites.answers.reading import TALK, texts_of
from webdojo.sites.answers.subject import Subject
from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity
from webdojo.sites.pages import CatalogSite

_COMMON = frozenset(("Closed", "Done", "High", "Low", "New", "Open", "Read", "Solved"))
"""Values of filters that are words of talk, too."""


_MORE = ("≥", ">=", "min", "minimum", "at least", "from"), ("+", "plus", "or more", "and up", "or better", "and more")
_LESS = ("≤", "<=", "max", "maximum", "at most", "up to", "until"), ("or less", "and less", "or fewer", "and below")
_BOUNDS = {"min": _MORE, "max": _LESS, "under": (("<", "under", "below", "less than"), ())}
"""How limits are told, before and after the value."""


def subject_of(wanted: dict[str, Any], site: CatalogSite) -> Subject:
    """What an answer may say besides its value, and what contradicts it, by what the site has.

    Of the check `wanted`, `thing` is the address of the thing that is asked about, and `attribute` the key of what is
    asked about it. `of` is the address of the list that an answer counts, or whose things it names.
    """
    rivals = list(wanted.get("rivals", ()))
    if wanted["type"] == "missing":
        things = (each.name for collection in site.collections.values() for each in collection.entities)
        rivals += [name for name in things if len(texts_of(name)) > 1]
    where = urlsplit(wanted.get("thing") or wanted.get("of", ""))
    if not where.path:
        return Subject(rivals=tuple(rivals))
    collection = site.collections[where.path.split("/")[1]]
    asked = collection.by_key.get(wanted.get("attribute", ""))
    if asked is not None and asked.type in ("choice", "text"):
        rivals += {str(entity.values.get(asked.key, "")) for entity in collection.entities} - {""}
    told: list[Entity] = []
    passed = collection.asked(dict(parse_qsl(where.query)))
    if "thing" in wanted:
        told = [collection.by_slug[where.path.rpartition("/")[2]]]
        names = {thing.name for thing in told}
        limits = [each for each in collection.attributes if each.filter not in ("", "is") and each is not asked]
        passed = [each for limit in limits for each in collection.constraints(limit) if each.holds(told[0])]
    elif wanted["type"] == "number":
        names = {entity.name for entity in collection.find(passed)}
        rivals += _filtered_out(collection, passed)
    else:
        names = set()
        values = {name for side in wanted.get("sides", [wanted.get("values", ())]) for name in side}
        told = [entity for entity in collection.entities if entity.name in values]
    rivals += [entity.name for entity in collection.entities if entity.name not in names]
    known = set(rivals)
    called = {each.key: (each.label, each.called) for each in collection.attributes}
    own = (collection.noun, collection.nouns) if asked is None else called.pop(asked.key)
    labels = {label for those in called.values() for label in those} if asked or wanted["type"] == "number" else set()
    if asked is None and wanted["type"] == "number":
        labels |= {noun for each in site.collections.values() for noun in (each.noun, each.nouns)}
    return Subject(
        tuple(names),
        tuple(said for each in told for said in _told(collection, each, asked, known)),
        own,
        tuple(labels.difference(own)),
        {each.name: frozenset(_figures(collection, each, asked)) for each in told},
        tuple(said for each in passed for said in _as_told(each)),
        tuple(rivals),
    )


def _as_told(filtered: Constraint) -> Iterator[str]:
    """A filter as answers tell it, with its label: `Wheelchair access no`, `Stock ≥ 1`, `1 or more stock`.

    A bound that is a number alone has its sign with it: `… in stock: 1` is a count.
    """
    attribute = filtered.attribute
    before, after = _BOUNDS.get(attribute.filter, ((), ()))
    for label, shown in product(
        dict.fromkeys((attribute.label, attribute.called)),
        dict.fromkeys((attribute.show(filtered.value), str(filtered.value))),
    ):
        if not ((before or after) and shown.isdecimal()):
            yield from (f"{label} {shown}", f"{shown} {label}", f"{label} = {shown}", f"{label} is {shown}")
        yield from (f"{label} {sign} {shown}" for sign in before)
        yield from (f"{sign} {label} {shown}" for sign in before)
        yield from (f"{sign} {shown} {label}" for sign in before)
        yield from (f"{label} {shown} {sign}" for sign in after)
        yield from (f"{shown} {sign} {label}" for sign in after)


def _filtered_out(collection: Collection, constraints: Iterable[Constraint]) -> Iterator[str]:
    """The values that filters leave out; with their label, if they are words of talk."""
    for each in (each for each in constraints if each.attribute.filter == "is"):
        for value in {str(entity.values[each.attribute.key]) for entity in collection.entities} - {each.value}:
            talk = value in _COMMON or not TALK.isdisjoint(texts_of(value))
            yield f"{value} {each.attribute.label}" if talk else value


def _figures(collection: Collection, thing: Entity, asked: Attribute | None) -> Iterator[str]:
    """The numbers, dates and years of a thing but for what is asked, as `words_of` writes them."""
    for attribute in collection.attributes:
        value = thing.values.get(attribute.key, "")
        if attribute is asked or value == "":
            continue
        if attribute.type == "number":
            yield str(value)
        elif attribute.type == "date":
            yield from (f"@{value}", f"@-{str(value)[4:]}", str(value)[:4])


def _told(collection: Collection, thing: Entity, asked: Attribute | None, rivals: set[str]) -> Iterable[str]:
    """The values of a thing as answers tell them: with their label, or alone where they can be nothing else."""
    for attribute in collection.attributes:
        value = thing.values.get(attribute.key, "")
        if value == "" or attribute is asked:
            continue
        shown = attribute.show(value)
        for label in dict.fromkeys((attribute.label, attribute.called)):
            yield f"{label} {shown}"
            yield f"{shown} {label}"
        same_unit = asked is not None and attribute.unit == asked.unit
        alone = attribute.type in ("choice", "text") or (
            attribute.type == "number" and attribute.unit and not same_unit
        )
        if alone and shown not in rivals and not DOUBTS.issuperset(texts_of(shown)):
            yield shown
