"""What a session's pages have shown of the lists of a site: all of one, its number, an order, the first, a search.

What is needed may have been on screen in any list: by the same filters, or by fewer where it was told of each thing
whether it passes the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites.catalog import (
    Collection,
    Constraint,
    Entity,
    count_fact,
    fact_name,
    found_fact,
    listed_fact,
    order_fact,
    told_fact,
)
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import href


def _filters_at(site: CatalogSite, where: str) -> tuple[Collection, list[Constraint]]:
    """The collection of the list at an address of an evaluator, and its filters."""
    parts = urlsplit(where)
    collection = site.collections[parts.path.strip("/")]
    return collection, collection.asked(dict(parse_qsl(parts.query)))


def _list_at(site: CatalogSite, where: str) -> tuple[Collection, list[Constraint], str] | None:
    """The collection that a list is of, its filters, and its page number; None if the address is of no list."""
    inward = site.inward(where)
    parts = urlsplit(inward)
    if parts.path.strip("/") not in site.collections:
        return None
    return *_filters_at(site, inward), dict(parse_qsl(parts.query)).get("page", "1")


def was_listed(site: CatalogSite, where: str, seen: Iterable[str]) -> bool:
    """Whether all things of a list were on screen, and with them that they are all.

    A list by these filters or fewer was on screen to its end, with what tells that the things pass the filters that it
    lacks, and of each other thing in it that it does not; or it was in the order of a limit, which is all that it
    lacks, and on screen until that was passed.
    """
    (collection, asked), known = _filters_at(site, where), set(seen)
    wanted = collection.find(asked)
    for address, given in _narrower(collection, asked, known):
        lacking = [each for each in asked if each not in given]
        found = collection.find(given)
        if all(listed_fact(each.slug, address) in known for each in found):
            others = (each for each in found if each not in wanted)
            told = _told((each.slug for each in wanted), lacking, known)
            if told and all(_told_out(each, lacking, known) for each in others):
                return True
        elif [each.attribute.filter for each in lacking] in (["max"], ["under"]):
            limit = lacking[0].attribute
            first = [each.slug for each in collection.find(given, limit.key)[: len(wanted) + 1]]
            ordered = all(order_fact(slug, limit.label, address) in known for slug in first)
            if ordered and _told(first, lacking, known):
                return True
    return False


def was_counted(site: CatalogSite, where: str, seen: Iterable[str]) -> bool:
    """Whether it was on screen how many things a list has, or how many it has of each value of a further filter."""
    (collection, _), known = _filters_at(site, where), set(seen)
    query = dict(parse_qsl(urlsplit(where).query))
    sums = [[where]]
    for attribute in collection.attributes:
        if attribute.filter == "is":
            parts = collection.constraints(attribute)
            sums.append([href(f"/{collection.slug}", **{**query, **part.query}) for part in parts])
    return any(all(count_fact(part) in known for part in parts) for parts in sums)


def was_ordered(site: CatalogSite, wanted: dict[str, Any], seen: Iterable[str]) -> bool:
    """Whether things were on screen in one list by the order of a label.

    If that is to be the list at an address, it has no other filters; what it lacks was told of the things.
    """
    label, things, known = wanted["label"], wanted["things"], set(seen)
    start = order_fact(things[0], label, "")
    addresses = [each.removeprefix(start) for each in known if each.startswith(start)]
    if "of" in wanted:
        collection, asked = _filters_at(site, wanted["of"])
        addresses = [
            address
            for address, given in _narrower(collection, asked, known)
            if _told(things, [each for each in asked if each not in given], known)
        ]
    return any(all(order_fact(thing, label, where) in known for thing in things) for where in addresses)


def was_first(site: CatalogSite, wanted: dict[str, Any], seen: Iterable[str]) -> bool:
    """Whether it was on screen that a thing is the first of a list by a label.

    A list by the same filters or by fewer showed it, and of each other thing of that list it was to be seen that it
    comes later, by the order of the list or by both values, or that it lacks one of the filters.
    """
    (collection, asked), known = _filters_at(site, wanted["of"]), set(seen)
    thing, label = wanted["thing"], wanted["label"]
    attribute = next(each for each in collection.attributes if each.label == label)
    valued = fact_name(thing, label) in known
    for address, given in _narrower(collection, asked, known):
        lacking = [each for each in asked if each not in given]
        ordered = order_fact(thing, label, address) in known
        if not (ordered or listed_fact(thing, address) in known) or not _told([thing], lacking, known):
            continue
        members = [each.slug for each in collection.find(given, attribute.key)]
        later = set(members[members.index(thing) + 1 :])
        if all(
            (slug in later and (ordered or (valued and fact_name(slug, label) in known)))
            or _told_out(collection.by_slug[slug], lacking, known)
            for slug in members
            if slug != thing
        ):
            return True
    return False


def _narrower(
    collection: Collection, asked: list[Constraint], seen: set[str]
) -> Iterator[tuple[str, list[Constraint]]]:
    """The addresses and filters of the lists that were on screen with these filters or fewer."""
    for address in {known.partition("#")[2] for known in seen} - {""}:
        given = collection.asked(dict(parse_qsl(urlsplit(address).query)))
        if all(each in asked for each in given):
            yield address, given


def _told(things: Iterable[str], filters: Iterable[Constraint], seen: set[str]) -> bool:
    """Whether it was on screen of each thing whether it passes each filter: by its value, or because a list told it."""
    return all(
        fact_name(thing, each.attribute.label) in seen or told_fact(thing, each) in seen
        for thing, each in product(things, filters)
    )


def _told_out(thing: Entity, filters: Iterable[Constraint], seen: set[str]) -> bool:
    """Whether a value that a thing lacks one of some filters by was on screen."""
    return any(not each.holds(thing) and fact_name(thing.slug, each.attribute.label) in seen for each in filters)


def shows(site: CatalogSite, wanted: str, url: str) -> bool:
    """Whether a page shows the things of a list, and by its filters, or by fewer where cards tell the others."""
    parts = urlsplit(url)
    this, that = _list_at(site, wanted), _list_at(site, f"{parts.path}?{parts.query}")
    if this is None or that is None or this[0] is not that[0]:
        return False
    (collection, asked, page), (_, given, shown) = this, that
    if "page=" in wanted and page != shown:
        return False
    dropped = [each for each in asked if each not in given]
    if not dropped and len(given) == len(asked):
        return True
    by_eye = bool(given) and all(each in asked for each in given) and all(each.attribute.listed for each in dropped)
    return by_eye and collection.find(given) == collection.find(asked)


def was_followed(here: str, there: str, came: str, address: str) -> bool:
    """Whether a page led to another; only a form sends fields that are empty."""
    wanted, given = urlsplit(there), urlsplit(address)
    sent = {key for key, _ in parse_qsl(given.query, keep_blank_values=True)}
    fields = set(wanted.query.split("&")) - {""}
    return here == came and wanted.path == given.path and bool(fields) == bool(sent) and fields <= sent


def was_searched(site: CatalogSite, name: str, visited: Iterable[str], seen: Iterable[str]) -> bool:
    """Whether a search was made whose every word is in a name, and all that it found was on screen."""
    known, things = set(seen), [each for collection in site.collections.values() for each in collection.entities]
    for address in visited:
        parts = urlsplit(address)
        words = dict(parse_qsl(parts.query)).get("q", "").lower().split()
        if parts.path == "/search" and all(word in name.lower() for word in words):
            found = (each for each in things if all(word in each.name.lower() for word in words))
            if all(found_fact(each.slug) in known for each in found):
                return True
    return False
