"""What a site is about: collections of entities with attributes, which pages show and goals ask for.

A kind of site describes its content with these records; lists, filters, pages (`pages.py`), goals
(`goals.py`) and their checks follow from the descriptions. Everything is immutable: what a session
changes lies in `Overlay.state` under flat keys and is laid over the content by `Collection.changed`.

| key of a state | means |
|---|---|
| `<collection>/<slug>/<attribute>` | an entity has this value now |
| `<collection>/<slug>/gone` | an entity was deleted |
| `<collection>/new-1/<attribute>` | a value of the first entity that the session made; `new-2`, … follow |
| `<key of a count>/<slug>` | how many of an entity the session took, as into a cart |
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

Value = str | int
"""The value of an attribute: text, a whole number, or a date as `2027-03-05`."""

_NEW = "new-"
_HOLDS = {"max": operator.le, "min": operator.ge, "under": operator.lt}


@dataclass(frozen=True)
class Attribute:
    """One thing to know of every entity of a collection."""

    key: str
    """In queries, forms and states."""
    label: str
    """As pages name it."""
    type: Literal["choice", "number", "date", "text"] = "choice"
    unit: str = ""
    """`$` stands before a number, any other unit after it."""
    listed: bool = False
    """Lists show it; otherwise only the entity's own page does."""
    filter: Literal["", "is", "max", "min", "under"] = ""
    """How lists can be narrowed by it: to one value, at most a limit, at least a limit, less than a limit."""
    sort: str = ""
    """What the control says that orders a list by it, lowest first; empty: there is none."""
    least: str = ""
    """Says which entity has the lowest value: `cheapest`; empty: no goal asks for it."""
    phrase: str = "{value}"
    """How an instruction says the filter, after the noun: `under {value}`, `by {value}`."""
    asked: bool = True
    """Goals may ask for its value."""
    noun: str = ""
    """What instructions call it, where that is not the label: `destination`."""
    control: str = ""
    """What the control of its only filter says, where that does not name the value: `In stock`."""
    counts: tuple[str, str] | None = None
    """A number of things: the collection that they are in, and the attribute that names the entity. None: it is not."""
    person: bool = False
    """Its values are people, so instructions ask who it is."""

    @property
    def called(self) -> str:
        """What instructions call it: `price per night`."""
        return self.noun or self.label.lower()

    @property
    def asks(self) -> Literal["What is", "Who is"]:
        """How a question for its value begins."""
        return "Who is" if self.person else "What is"

    def show(self, value: Value) -> str:
        """A value as pages show it: `$24`, `35 min`, `5 March 2027`."""
        if self.type == "date" and value:
            day = date.fromisoformat(str(value))
            return f"{day.day} {day:%B %Y}"
        if self.type == "number" and self.unit:
            return f"${value}" if self.unit == "$" else f"{value} {self.unit}"
        return str(value)


@dataclass(frozen=True)
class Constraint:
    """A filter of a list with its value."""

    attribute: Attribute
    value: Value

    def holds(self, entity: Entity) -> bool:
        found = entity.values[self.attribute.key]
        return bool(_HOLDS.get(self.attribute.filter, operator.eq)(found, self.value))

    @property
    def label(self) -> str:
        """What its control says: `Up to $40`, `4 or more`, `Red`."""
        if self.attribute.control:
            return self.attribute.control
        shown = self.attribute.show(self.value)
        if self.attribute.type == "date":
            return f"{'Until' if self.attribute.filter == 'max' else 'From'} {shown}"
        bounds = {"max": f"Up to {shown}", "min": f"{shown} or more", "under": f"Under {shown}"}
        return bounds.get(self.attribute.filter, shown)

    @property
    def phrase(self) -> str:
        """How an instruction says it: `for at most $40`."""
        return self.attribute.phrase.format(value=self.attribute.show(self.value))

    @property
    def query(self) -> dict[str, str]:
        return {self.attribute.key: str(self.value).lower()}


@dataclass(frozen=True)
class Entity:
    """One thing with a page of its own."""

    slug: str
    """Unique on its site."""
    name: str
    values: Mapping[str, Value]
    """By key of the collection's attributes; one that its page alone shows may be absent."""
    texts: tuple[str, ...] = ()
    """Paragraphs of its page; they hold no value of an attribute."""


@dataclass(frozen=True)
class Collection:
    """Entities of one sort, with a list at `/<slug>` and pages at `/<slug>/<entity>`."""

    slug: str
    name: str
    """In the navigation and above the list: `Flights`."""
    noun: str
    nouns: str
    attributes: tuple[Attribute, ...]
    entities: tuple[Entity, ...]
    limits: Mapping[str, Sequence[Value]] = field(default_factory=lambda: MappingProxyType({}))
    """Values that the filters offer, by attribute key; where absent, those that occur."""
    absent: tuple[str, ...] = ()
    """Names like those of its entities that nothing here has: for goals that cannot be reached."""
    people: bool = False
    """They are people, so instructions do not open them, but their pages."""
    title: str = "name"
    """What instructions call the name of one of them: `subject`."""

    @cached_property
    def by_slug(self) -> dict[str, Entity]:
        return {entity.slug: entity for entity in self.entities}

    @cached_property
    def by_key(self) -> dict[str, Attribute]:
        return {attribute.key: attribute for attribute in self.attributes}

    def constraints(self, attribute: Attribute) -> list[Constraint]:
        """What the filter of an attribute offers, in order."""
        values = self.limits.get(attribute.key) or sorted({e.values[attribute.key] for e in self.entities} - {""})
        return [Constraint(attribute, value) for value in values]

    def asked(self, query: Mapping[str, str]) -> list[Constraint]:
        """The constraints that a query names; what no filter offers is ignored."""
        return [
            constraint
            for attribute in self.attributes
            if attribute.filter and attribute.key in query
            for constraint in self.constraints(attribute)
            if constraint.query[attribute.key] == query[attribute.key].lower()
        ]

    def find(self, constraints: Sequence[Constraint], sort: str = "") -> list[Entity]:
        """The entities that meet all constraints, in the order of the list or of an attribute's key."""
        found = [entity for entity in self.entities if all(constraint.holds(entity) for constraint in constraints)]
        if sort in self.by_key and self.by_key[sort].sort:
            found.sort(key=lambda entity: entity.values[sort])
        return found

    def changed(self, state: Mapping[str, Any]) -> Collection:
        """The collection as a session sees it, after what the session changed."""
        if not (changes := _changes(self.slug, state)):
            return self
        kept = [
            replace(each, name=str(change.get("name", each.name)), values={**each.values, **change}) if change else each
            for each in self.entities
            for change in [changes.get(each.slug, {})]
            if not change.get("gone")
        ]
        made = [self._made(slug, values) for slug, values in changes.items() if slug.startswith(_NEW)]
        return replace(self, entities=(*kept, *made))

    def _made(self, slug: str, values: dict[str, Any]) -> Entity:
        needed = [a for a in self.attributes if a.listed or a.filter or a.sort]
        blank: dict[str, Value] = {a.key: 0 if a.type == "number" else "" for a in needed}
        name = str(values.get("name", f"New {self.noun}"))
        return Entity(slug, name, {**blank, **values}, (str(values.get("text", "")),))


def _changes(collection: str, state: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    changes: dict[str, dict[str, Any]] = {}
    for key, value in state.items():
        head, _, rest = key.partition("/")
        slug, _, attribute = rest.partition("/")
        if head == collection and attribute:
            changes.setdefault(slug, {})[attribute] = value
    return changes


def new_slug(collection: str, state: Mapping[str, Any]) -> str:
    """The slug of the next entity that a session makes in a collection."""
    return f"{_NEW}{sum(slug.startswith(_NEW) for slug in _changes(collection, state)) + 1}"


def made_about(collection: str, entity: str, state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of what a session made in a collection about an entity, in order."""
    changes = _changes(collection, state)
    return [new for slug, new in changes.items() if slug.startswith(_NEW) and new.get("about") == entity]


def fact_name(entity: str, attribute: str = "Name") -> str:
    """Name under which a session's `seen` keeps that a page showed a value of an entity, or its name."""
    return f"{entity}.{attribute}"


def order_fact(entity: str, attribute: str, where: str) -> str:
    """The same for the place of an entity in the list at an address when it was ordered by an attribute."""
    return f"{entity}.{attribute} order#{where}"


def listed_fact(entity: str, where: str) -> str:
    """The same for an entity in the list at an address, which has its filters alone."""
    return f"{entity}#{where}"


def told_fact(entity: str, constraint: Constraint) -> str:
    """The same for what a list under a filter tells of an entity in it: its value, or that it passes a limit."""
    label, exact = constraint.attribute.label, constraint.attribute.filter == "is"
    return fact_name(entity, label if exact else f"{label}, {constraint.label}")


def found_fact(entity: str) -> str:
    """The same for an entity among the results of a search."""
    return f"{entity}.Found"


def count_fact(path: str) -> str:
    """The same for how many things a list has; the address has its filters alone."""
    return f"{path}#count"
