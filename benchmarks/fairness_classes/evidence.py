"""What a session was shown, and whether that is enough to know what its task asks for.

A value counts as shown where a page had it beside the name of its thing, or in the name. That a thing is the first of a
list is known where all others of the list were seen to come later or to lack something, in whatever list a session
found them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from fairness_page import Page
from fairness_visitor import Visitor, address, query_of

from fairness_classes.case import ON_MAP, Case, Query, Target, entity_at, query_at, site_at
from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity
from webdojo.sites.pages import CatalogSite

_CARD = "/map/card/"


@dataclass
class _Seen:
    """The parts of one list that were on screen."""

    query: Query
    slugs: set[str] = field(default_factory=set)
    counted: bool = False

    @property
    def complete(self) -> bool:
        return {entity.slug for entity in self.query.found} <= self.slugs


class Evidence:
    """What the pages of a session showed about the things of its sites."""

    def __init__(self, case: Case, visitor: Visitor) -> None:
        self._case, self._views = case, visitor.views
        self._values: dict[tuple[str, str, str], set[str]] = {}
        """Labels of values that were shown, by host, collection and thing."""
        self._lists: dict[tuple[object, ...], _Seen] = {}
        for view in self._views:
            self._read(view)

    def _read(self, view: Page) -> None:
        site = site_at(self._case.task, urlsplit(view.url).netloc)
        path = address(view.url)
        own = f"/places/{path.removeprefix(_CARD)}" if path.startswith(_CARD) else path
        if (found := entity_at(site, own)) is not None:
            self._learn(site, *found, view.details)
        here = [(entity_at(site, address(thing.url)), thing.values) for thing in view.things]
        for found, values in here:
            if found is not None:
                self._learn(site, *found, values)
        query = query_at(site, path)
        if query is not None and view.status == 200:
            limits = frozenset((each.attribute.key, each.value) for each in query.constraints)
            seen = self._lists.setdefault((site.host, query.collection.slug, limits, query.sort), _Seen(query))
            names = {found[1].slug for found, _ in here if found is not None and found[0] is query.collection}
            seen.slugs |= names
            seen.counted |= view.lead.split(" ")[0] == str(len(query.found))

    def _learn(self, site: CatalogSite, collection: Collection, entity: Entity, values: dict[str, str]) -> None:
        first = next((a.label for a in collection.attributes if a.listed), "")
        known = self._values.setdefault((site.host, collection.slug, entity.slug), said_by_names(collection))
        for label, text in values.items():
            for attribute in collection.attributes:
                value = entity.values.get(attribute.key, "")
                if attribute.label == (label or first) and attribute.show(value) == text:
                    known.add(attribute.key)

    def knows(self, target: Target, attribute: Attribute) -> bool:
        """The value of a thing was on screen."""
        return self._knows(target.site, target.collection, target.entity, attribute)

    def _knows(self, site: CatalogSite, collection: Collection, entity: Entity, attribute: Attribute) -> bool:
        return attribute.key in self._values.get((site.host, collection.slug, entity.slug), set())

    def _judged(self, query: Query, entity: Entity, constraint: Constraint) -> bool:
        """Whether a thing meets a constraint was to be seen: by its value, or because a narrowed list had it."""
        if self._knows(query.site, query.collection, entity, constraint.attribute):
            return True
        return any(
            entity.slug in seen.slugs and constraint in seen.query.constraints
            for seen in self._lists.values()
            if seen.query.site.host == query.site.host and seen.query.collection.slug == query.collection.slug
        )

    def _wider(self, query: Query) -> list[tuple[_Seen, list[Constraint]]]:
        """The lists seen that hold all that a query asks for, with the filters that they lack."""
        return [
            (seen, [each for each in query.constraints if each not in seen.query.constraints])
            for seen in self._lists.values()
            if seen.query.site.host == query.site.host
            and seen.query.collection.slug == query.collection.slug
            and set(seen.query.constraints) <= set(query.constraints)
        ]

    def first(self, query: Query, count: int = 1) -> bool:
        """It was to be seen which things come first in an order."""
        top = query.found[:count]
        return any(self._first_by(query, top, seen, lacking) for seen, lacking in self._wider(query))

    def _first_by(self, query: Query, top: Sequence[Entity], seen: _Seen, lacking: list[Constraint]) -> bool:
        attribute = query.collection.by_key[query.sort]
        ordered = seen.query.sort == query.sort

        def value(entity: Entity) -> bool:
            return self._knows(query.site, query.collection, entity, attribute)

        def before(one: Entity, other: Entity) -> bool:
            if ordered:
                return True
            values: list[Any] = [one.values[attribute.key], other.values[attribute.key]]
            return value(one) and value(other) and values[0] < values[1]

        for i, entity in enumerate(top):
            if entity.slug not in seen.slugs or not all(self._judged(query, entity, each) for each in lacking):
                return False
            if i and not before(top[i - 1], entity):
                return False
        members = seen.query.found
        last = max(members.index(entity) for entity in top)
        for i, other in enumerate(members):
            out = any(not each.holds(other) and self._judged_out(query, other, each) for each in lacking)
            if other in top or out or (ordered and i > last):
                continue
            if ordered or not before(top[-1], other):
                return False
        return True

    def _judged_out(self, query: Query, entity: Entity, constraint: Constraint) -> bool:
        return self._knows(query.site, query.collection, entity, constraint.attribute)

    def counted(self, query: Query) -> bool:
        """It was to be seen how many things meet a query: the page said it, or all could be counted."""
        whole = any(not lacking and seen.counted for seen, lacking in self._wider(query))
        return whole or self._counted_in_parts(query) or self.listed(query)

    def _counted_in_parts(self, query: Query) -> bool:
        """The page said how many there are of each value of a further filter."""
        counted = {
            frozenset(seen.query.constraints)
            for seen in self._lists.values()
            if seen.counted and seen.query.collection.slug == query.collection.slug
        }
        own, further = frozenset(query.constraints), [a for a in query.collection.attributes if a.filter == "is"]
        return any(
            all(own | {part} in counted for part in query.collection.constraints(attribute))
            for attribute in further
            if attribute.key not in query.values
        )

    def listed(self, query: Query) -> bool:
        """All things that meet a query were to be seen, and that they are all."""
        return any(
            seen.complete and all(self._judged(query, entity, each) for entity in seen.query.found for each in lacking)
            for seen, lacking in self._wider(query)
        )

    def absent(self, name: str) -> bool:
        """It was to be seen that nothing has this name: by a search, or in all of the list where it would be."""
        words = {word.strip("?!,:.") for word in name.lower().split()} | set(name.lower().split())
        for view in self._views:
            asked = query_of(view.url).get("q", "").lower().split()
            if urlsplit(view.url).path == "/search" and asked and set(asked) <= words and self._all_results(view):
                return True
        return any(
            not seen.query.constraints
            and seen.complete
            and seen.query.collection is where_it_would_be(seen.query.site, name)
            for seen in self._lists.values()
        )

    def _all_results(self, view: Page) -> bool:
        """All pages of the results of a search were on screen."""
        asked = query_of(view.url)["q"]
        found = {thing.url for each in self._views if query_of(each.url).get("q") == asked for thing in each.things}
        return len(found) >= int(view.lead.split(" ")[0]) if view.lead else not found

    def says(self, path: str, text: str) -> bool:
        """A page at this path showed a text."""
        return any(urlsplit(view.url).path == path and text in view.text for view in self._views)

    def clueless(self) -> bool:
        """Nothing that is asked for was on screen, so that a right answer is a guess."""
        case = self._case
        if self._ranked():
            return False
        if case.attribute is not None:
            return not any(self.knows(target, case.attribute) for target in case.targets)
        return not self.enough()

    def _ranked(self) -> bool:
        """Which of two is lower was to be seen by their places in one list, in the order of what is compared."""
        case = self._case
        if case.family != "compare" or case.attribute is None:
            return False
        one, key = case.target, case.attribute.key
        return any(
            seen.query.sort == key
            and seen.query.site.host == one.site.host
            and seen.query.collection.slug == one.collection.slug
            and all(target.entity.slug in seen.slugs for target in case.targets)
            for seen in self._lists.values()
        )

    def _follows(self) -> bool:
        """Which of two is lower follows from its description, as the first in the order of what is compared, of a list
        that the other is in as well."""
        case = self._case
        if case.family != "compare" or case.attribute is None:
            return False
        winner, lowest = case.winner, case.loser.described
        if lowest is None or lowest.sort != case.attribute.key or not self.knows(winner, case.attribute):
            return False
        if winner.described is not None and not self.first(winner.described):
            return False
        return all(
            each.holds(winner.entity) and self._judged(lowest, winner.entity, each) for each in lowest.constraints
        )

    def enough(self) -> bool:
        """The session was shown all that its task asks to find out."""
        case = self._case
        if self._follows():
            return True
        if not all(self.first(target.described) for target in case.targets if target.described is not None):
            return False
        if case.family in ON_MAP:
            corner = case.target.collection.by_key["corner"]
            asked = [corner] if case.attribute is None else [corner, case.attribute]
            named = case.family in ("on_map", "from_map")
            return named or all(self.knows(target, each) for target in case.targets for each in asked)
        if case.attribute is not None:
            return self._ranked() or all(self.knows(target, case.attribute) for target in case.targets)
        query = case.query
        match case.family:
            case "count":
                assert query is not None
                return self.counted(query)
            case "names":
                assert query is not None
                return self.first(query, len(case.names)) if query.sort else self.listed(query)
            case "missing":
                return self.absent(case.plan[0]["text"])
            case "refused":
                return self.says(case.target.path, "Not possible")
            case "report" | "leader":
                months = [step["path"] for step in case.steps("visit")]
                return all(any(self.says(f"{month}{end}", "Views") for end in ("", "/figures")) for month in months)
        return True


def said_by_names(collection: Collection) -> set[str]:
    """Keys of the attributes whose values all names of a collection have in them, as those of flights have airlines."""

    def said(entity: Entity, attribute: Attribute) -> bool:
        value = entity.values.get(attribute.key, "")
        return value != "" and attribute.show(value) in entity.name

    chosen = [attribute for attribute in collection.attributes if attribute.type == "choice"]
    return {each.key for each in chosen if all(said(entity, each) for entity in collection.entities)}


def where_it_would_be(site: CatalogSite, name: str) -> Collection:
    """The collection that a thing of this name would be in: one whose names are most like it."""
    words = set(name.split())

    def likeness(collection: Collection) -> int:
        if name in collection.absent:
            return len(words)
        return max((len(words & set(entity.name.split())) for entity in collection.entities), default=0)

    return max(site.collections.values(), key=likeness)
