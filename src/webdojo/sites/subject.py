"""What a question is about, by what its site has: what an answer may say besides the value, and what contradicts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites.answers.doubts import DOUBTS
from webdojo.sites.answers.reading import TALK, texts_of
from webdojo.sites.answers.subject import Subject
from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity
from webdojo.sites.pages import CatalogSite

_COMMON = frozenset(("Closed", "Done", "High", "Low", "New", "Open", "Read", "Solved"))
"""Values of filters that are words of talk, too."""


def subject_of(wanted: dict[str, Any], site: CatalogSite) -> Subject:
    """What an answer may say besides its value, and what contradicts it, by what the site has.

    Of the check `wanted`, `thing` is the address of the thing that is asked about, and `attribute` the key of what is
    asked about it. `of` is the address of the list that an answer counts, or whose things it names.
    """
    rivals = list(wanted.get("rivals", ()))
    where = urlsplit(wanted.get("thing") or wanted.get("of", ""))
    if not where.path:
        return Subject(rivals=tuple(rivals))
    collection = site.collections[where.path.split("/")[1]]
    asked = collection.by_key.get(wanted.get("attribute", ""))
    if asked is not None and asked.type in ("choice", "text"):
        rivals += {str(entity.values.get(asked.key, "")) for entity in collection.entities} - {""}
    told: list[Entity] = []
    if "thing" in wanted:
        told = [collection.by_slug[where.path.rpartition("/")[2]]]
        names = {thing.name for thing in told}
    elif wanted["type"] == "number":
        constraints = collection.asked(dict(parse_qsl(where.query)))
        names = {entity.name for entity in collection.find(constraints)}
        rivals += _filtered_out(collection, constraints)
    else:
        names = set()
        values = {name for side in wanted.get("sides", [wanted.get("values", ())]) for name in side}
        told = [entity for entity in collection.entities if entity.name in values]
    rivals += [entity.name for entity in collection.entities if entity.name not in names]
    known = set(rivals)
    called = {each.key: (each.label, each.called) for each in collection.attributes}
    own = (collection.noun, collection.nouns) if asked is None else called.pop(asked.key)
    labels = {label for those in called.values() for label in those} if asked or wanted["type"] == "number" else set()
    return Subject(
        tuple(names),
        tuple(said for each in told for said in _told(collection, each, asked, known)),
        own,
        tuple(labels.difference(own)),
        {each.name: frozenset(_figures(collection, each, asked)) for each in told},
        tuple(rivals),
    )


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
