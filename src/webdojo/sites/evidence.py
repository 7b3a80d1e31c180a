"""Checks by which goals on catalogue sites ask that something was found out here, and for the answer that it gives."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date as Date
from typing import Any

from webdojo.sites.answers.values import date, number, text, units_of
from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity, Value, fact_name
from webdojo.sites.goal import Fact, fact, place
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import href


def was_shown(entity: Entity, attribute: Attribute, site: str = "", ordered: dict[str, Any] | None = None) -> Fact:
    """A page showed an entity's value; `site` is its host, if not the task's.

    It is enough that a list was shown as `ordered` says, if that is given.
    """
    says, seen = f"The {attribute.called} of {entity.name} was shown", [fact_name(entity.slug, attribute.label)]
    if ordered is None:
        return fact(says, site=site, seen=seen)
    return fact(says, site=site, one_of=[{"seen": seen}, {"ordered": ordered}])


def answer_of(attribute: Attribute, value: Value, thing: str) -> dict[str, Any]:
    """The check of an answer that is the value of a thing, whose address is given."""
    about = {"thing": thing, "attribute": attribute.key}
    if attribute.type == "number":
        return {**number(int(value), unit_of(attribute)), **about}
    right = date(Date.fromisoformat(str(value))) if attribute.type == "date" else text(str(value))
    return {**right, **about}


def unit_of(attribute: Attribute) -> str:
    """The unit of an attribute's values, as `answers/values.py` calls it."""
    return next(iter(units_of(attribute.unit)), attribute.unit)


def narrowed(where: str, constraint: Constraint) -> list[dict[str, Any]]:
    """Checks of which one holds if the list at the end is narrowed by a filter, as that at an address is."""
    return [{"within": place(where.partition("?")[0], **constraint.query)}, {"shows": where}]


def counted_elsewhere(
    site: CatalogSite, counted: Collection, constraints: list[Constraint]
) -> Iterator[dict[str, Any]]:
    """Checks of which one holds if a page of another thing showed the count: `Article count` on that of an author."""
    for collection in site.collections.values():
        for attribute in collection.attributes:
            if attribute.counts == (counted.slug, constraints[0].attribute.key) and len(constraints) == 1:
                those = (entity for entity in collection.entities if entity.name == constraints[0].value)
                yield from ({"seen": [fact_name(entity.slug, attribute.label)]} for entity in those)


def browsed(collection: Collection, name: str) -> Iterator[dict[str, Any]]:
    """Checks of which one holds if a list was browsed in which a thing of this name would have stood.

    That is the whole list, or one under a filter that all things pass whose names have a word of it, if there are
    several and most things there: the mugs for a mug, but not the articles of somebody who once wrote about mugs.
    """
    yield {"listed": f"/{collection.slug}"}
    for word in name.split():
        akin = [entity for entity in collection.entities if word in entity.name.split()]
        for attribute in collection.attributes:
            if len(akin) > 1 and attribute.filter == "is":
                own = Constraint(attribute, akin[0].values[attribute.key])
                if all(map(own.holds, akin)) and 2 * len(akin) > len(collection.find([own])):
                    yield {"listed": href(f"/{collection.slug}", **own.query)}
