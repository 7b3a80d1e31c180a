"""How people get about on embedded sites: to a list, through it, to a thing, and to the end of a task.

`play` does a task from its home page to its end. The ways in which it finds things and opens lists are given to it, so
a route is mostly a way of its own to find something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fairness_visitor import CannotGoError, Visitor, address

from fairness_classes.case import Case, Query, Target, entity_at, form_step
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity
from webdojo.sites.sized import SizedSite

Finder = Callable[[Visitor, Target], None]
"""A way to a page that has a link to a thing."""
Opener = Callable[[Visitor, Query], None]
"""A way to a list as it is asked for."""
MOST_PAGES = 40


def start_list(visitor: Visitor, query: Query) -> None:
    """Open the list of a collection by its link, without filters; in the compact layout that of a section."""
    path = list_path(query)
    if address(visitor.url) != path:
        if not visitor.has_path(path):
            visitor.home()
        visitor.open_path(path)


def whole(target: Target) -> Query:
    """The list of all things of a collection; in the compact layout that of a section."""
    site = target.site
    if not (isinstance(site, SizedSite) and site.layout == "compact"):
        return Query(site, target.collection, ())
    attribute = target.collection.by_key[site.section]
    sections = target.collection.constraints(attribute)
    return Query(site, target.collection, tuple(each for each in sections if each.holds(target.entity)))


def list_path(query: Query) -> str:
    """The address of a list without filters and order."""
    site, path = query.site, f"/{query.collection.slug}"
    if isinstance(site, SizedSite) and site.layout == "compact":
        section = next(each for each in query.constraints if each.attribute.key == site.section)
        return site.list_path(str(section.value))
    return path


def settings(query: Query) -> list[tuple[str, str]]:
    """The controls to set for a list, in the order of its address, the order of the list last."""
    site = query.site
    renamed = site.renamed if isinstance(site, SizedSite) and site.layout == "compact" else {}
    section = site.section if isinstance(site, SizedSite) and site.layout == "compact" else ""
    filters = [(renamed.get(key, key), value) for key, value in sorted(query.values.items()) if key != section]
    return [*filters, *([("sort", query.sort)] if query.sort else [])]


def set_all(visitor: Visitor, wanted: Sequence[tuple[str, str]]) -> None:
    """Set controls of the list at hand one after another."""
    for key, value in wanted:
        visitor.narrow(key, value)


def open_query(visitor: Visitor, query: Query) -> None:
    """Open a list and set what it asks for; then go on to its page."""
    start_list(visitor, query)
    set_all(visitor, settings(query))
    for _ in range(1, query.page):
        go_on(visitor)


def go_on(visitor: Visitor) -> None:
    """Show the next part of a list that has one."""
    if not visitor.more():
        raise CannotGoError("the list has ended")


def to_the_end(visitor: Visitor) -> None:
    """Page through a list to its end."""
    for _ in range(MOST_PAGES):
        if not visitor.more():
            return
    raise CannotGoError("the list is too long for a person")


def browse_to(visitor: Visitor, target: Target) -> None:
    """Page through the list at hand until a thing is there."""
    for _ in range(MOST_PAGES):
        if in_list(visitor, target):
            return
        go_on(visitor)
    raise CannotGoError("the list is too long for a person")


def in_list(visitor: Visitor, target: Target) -> bool:
    """The lists at hand have a thing."""
    return any(address(thing.url) == target.path for thing in visitor.things())


def visit_site(visitor: Visitor, target: Target) -> None:
    """Be on the site of a thing; that of another host is typed, as its name is all that is known of it."""
    if visitor.host != target.site.host:
        visitor.type_address(target.site.url())


def as_planned(visitor: Visitor, target: Target) -> None:
    """Find a described thing in its list, and a named one by a search for its name."""
    if target.described is not None:
        open_query(visitor, target.described)
    else:
        visitor.search(target.entity.name)


def open_target(visitor: Visitor, target: Target, find: Finder = as_planned) -> None:
    """Find a thing and open its page."""
    visit_site(visitor, target)
    find(visitor, target)
    if address(visitor.url) != target.path:
        visitor.open_path(target.path)


def play(case: Case, visitor: Visitor, find: Finder = as_planned, open_list: Opener = open_query) -> None:
    """Do a task to its end."""
    match case.family:
        case "count" | "names" | "narrow" | "page" | "color" | "under" | "stock" | "region" | "category":
            assert case.query is not None
            open_list(visitor, case.query)
        case "missing" | "search":
            visitor.search(case.plan[0]["text"])
        case "report" | "leader":
            read_reports(case, visitor)
        case "cart":
            visitor.open_path("/cart")
        case "drag":
            drag_all(case, visitor)
        case "located":
            visitor.open_path("/find")
            visitor.locate(located(case))
        case "menu":
            find(visitor, case.target)
            take_offer(case, visitor)
        case _:
            play_targets(case, visitor, find)


def by_list(opened: Opener) -> Finder:
    """The way to a described thing by its list, opened in a way of its own."""

    def find(visitor: Visitor, target: Target) -> None:
        assert target.described is not None
        opened(visitor, target.described)

    return find


def play_described(case: Case, visitor: Visitor, find: Finder, open_list: Opener | None = None) -> None:
    """Do a task that has described things, or a list, in a way of its own; named things are found as planned."""
    listed = open_list is not None and case.family in ("count", "names", "narrow", "color", "under", "stock", "region")
    if not listed and not any(target.described is not None for target in case.targets):
        raise CannotGoError("nothing is described")

    def way(visitor: Visitor, target: Target) -> None:
        (find if target.described is not None else as_planned)(visitor, target)

    play(case, visitor, way, open_list or open_query)


def play_named(case: Case, visitor: Visitor, find: Finder) -> None:
    """Do a task that has named things that are to be found; described ones are found as planned."""
    first = case.targets[:1] if case.family == "partner" else case.targets
    if case.family in _FROM_THE_MAP or all(target.described is not None for target in first):
        raise CannotGoError("nothing is named")

    def way(visitor: Visitor, target: Target) -> None:
        (find if target.described is None else as_planned)(visitor, target)

    play(case, visitor, way)


def play_targets(case: Case, visitor: Visitor, find: Finder) -> None:
    """Do a task that is about things with pages."""
    for target in case.targets:
        if case.family == "partner" and target is not case.target:
            visitor.open_path(target.site.url(target.path))
            return
        if case.family not in _FROM_THE_MAP or target.described is not None:
            open_target(visitor, target, find)
        if case.family.startswith("add"):
            visitor.send(*form_for(visitor, "/cart/add"))
    if case.family == "act":
        send_forms(case, visitor)
    if case.family in _FROM_THE_MAP:
        end_on_map(case, visitor)


_FROM_THE_MAP = frozenset(("on_map", "from_map", "corner", "corner_page", "corner_fact", "corners"))


def end_on_map(case: Case, visitor: Visitor) -> None:
    """Open the cards of the places on the map, and where it is asked for the page from there."""
    visitor.open_path("/map")
    for target in case.targets:
        visitor.click_marker(target.entity.slug)
    if case.family in ("from_map", "corner_page"):
        visitor.open_path(case.target.path)


def form_for(visitor: Visitor, action: str) -> tuple[Any, dict[str, str], Any]:
    """The form sent to a path, without values, and where it stands: what `Visitor.send` takes."""
    form, source = visitor.form(action)
    return form, {}, source


def send_forms(case: Case, visitor: Visitor) -> None:
    """Fill in the forms of a plan; the first of an action with several pages is opened from the thing."""
    for step in case.steps("form"):
        send_form(visitor, step)


def send_form(visitor: Visitor, step: dict[str, Any], changed: dict[str, str] | None = None) -> None:
    """Fill in one form, with other values where some are given."""
    at = step["at"]
    if urlsplit(visitor.url).path != at:
        visitor.open_path(at)
    form, source = visitor.form(step["action"])
    visitor.send(form, {**step["values"], **(changed or {})}, source)


def take_offer(case: Case, visitor: Visitor) -> None:
    """Do what the menu of a right click on the thing offers."""
    visitor.offer(case.target.entity.name, case.steps("menu")[0]["action"])


def drag_all(case: Case, visitor: Visitor, order: Sequence[dict[str, Any]] | None = None) -> None:
    """Open the board and drag its cards."""
    open_board(case, visitor)
    for step in order or case.steps("drag"):
        visitor.drag(step["card"], step["column"])


def open_board(case: Case, visitor: Visitor) -> None:
    visitor.open_path("/boards")
    visitor.open_path(case.steps("drag")[0]["at"])


def read_reports(case: Case, visitor: Visitor) -> None:
    """Open the report of each month that is asked for."""
    for step in case.steps("visit"):
        if not visitor.has_path("/reports"):
            visitor.home()
        visitor.open_path("/reports")
        visitor.open_path(step["path"])


def located(case: Case) -> dict[str, str]:
    """What the locator is to be set to."""
    return dict(parse_qsl(urlsplit(case.steps("visit")[-1]["path"]).query))


def listed_things(visitor: Visitor, query: Query) -> list[str]:
    """The addresses of the things of a collection in the lists at hand."""
    found = [(address(thing.url), entity_at(query.site, address(thing.url))) for thing in visitor.things()]
    return [path for path, at in found if at is not None and at[0] is query.collection]


def do_something_else(case: Case, visitor: Visitor) -> None:
    """Change something on the site of the task that has nothing to do with it."""
    about = {target.entity.slug for target in case.targets}
    for action in case.site.actions:
        collection = case.site.collections.get(action.collection)
        if collection is None or action.steps:
            continue
        for entity in collection.entities:
            if entity.slug not in about and action.offered(entity) and not action.refuses(entity):
                open_target(visitor, Target(case.site, collection, entity))
                path = "/cart/add" if case.compact else action.path(entity)
                form, source = visitor.form(path)
                filled = {} if case.compact else {each.key: _some_value(each, entity) for each in action.fields}
                visitor.send(form, filled, source)
                return
    raise CannotGoError("nothing can be changed")


def _some_value(field: Field, entity: Entity) -> str:
    """A value that a field takes, and that the thing does not have."""
    now = str(entity.values.get(field.key, ""))
    match field.widget:
        case "number" | "range":
            return next(str(n) for n in range(field.most, field.least, -1) if str(n) != now)
        case "date" | "calendar":
            return "2027-05-07"
        case "time":
            return "10:30"
        case "agree" | "checkbox":
            return "yes"
        case "color":
            return "#1e66d0"
    options = [option for option in field.options if option != now]
    return options[0] if options else "something.else@mail.example"


def page_through(visitor: Visitor) -> None:
    """Go on to the last page of a list."""
    for _ in range(MOST_PAGES):
        if not visitor.more():
            return
    raise CannotGoError("the list is too long for a person")


def open_targets(case: Case, visitor: Visitor) -> None:
    """Open the things of a task, one after the other."""
    for target in case.targets:
        open_target(visitor, target)


def open_described(case: Case, visitor: Visitor) -> None:
    """Open those things of a task that it does not name."""
    for target in case.targets:
        if target.described is not None:
            open_target(visitor, target)


def opens_another(case: Case, visitor: Visitor) -> None:
    """Open a thing that is not the one that is asked for."""
    target = case.target
    other = next(each for each in target.collection.entities if each is not target.entity)
    visitor.search(other.name)
    visitor.open_path(Target(target.site, target.collection, other).path)


def only_looks(case: Case, visitor: Visitor, described: bool) -> None:
    """Find all things as planned, but open none of their pages."""
    if case.attribute is None or not case.attribute.listed:
        raise CannotGoError("lists do not show the value")
    if not any((target.described is not None) == described for target in case.targets):
        raise CannotGoError("things are found in another way")
    for target in case.targets:
        visit_site(visitor, target)
        as_planned(visitor, target)


def without_one(visitor: Visitor, query: Query, listed: bool) -> None:
    """Open an ordered list without the last filter whose values lists show, or do not show."""
    start_list(visitor, query)
    by_key = query.collection.by_key
    keys = [key for key, _ in settings(query) if key in by_key and by_key[key].listed == listed]
    if not keys:
        raise CannotGoError("there is no such filter")
    set_all(visitor, [each for each in settings(query) if each[0] != keys[-1]])


def asked_form(case: Case) -> dict[str, Any]:
    """The form that a task asks to fill in."""
    if case.family != "act":
        raise CannotGoError("no form is asked for")
    return form_step(case)


def open_asked_form(case: Case, visitor: Visitor) -> None:
    """Open that form."""
    open_targets(case, visitor)
    if urlsplit(visitor.url).path != asked_form(case)["at"]:
        visitor.open_path(asked_form(case)["at"])
