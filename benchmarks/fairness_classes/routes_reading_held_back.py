"""The half of the classes of `routes_reading.py` that is held back."""

from __future__ import annotations

from urllib.parse import urlsplit

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import DO, Case, Target
from fairness_classes.kinds_of_classes import ASKED, COMPARED, READ, route
from fairness_classes.moves import as_planned, browse_to, in_list, only_looks, play, start_list, visit_site, whole


@route(*READ)
def reads_the_value_in_the_results(case: Case, visitor: Visitor) -> None:
    """Reads the value in the results of a search, and opens no page."""
    only_looks(case, visitor, described=False)


@route(*COMPARED)
def compares_values_in_results(case: Case, visitor: Visitor) -> None:
    """Reads both values in results of searches, and opens no page."""
    if not all(target.described is None for target in case.targets):
        raise CannotGoError("not all are named")
    only_looks(case, visitor, described=False)


@route(*COMPARED)
def looks_at_the_second_thing_first(case: Case, visitor: Visitor) -> None:
    """Finds the things in the opposite order."""
    for target in reversed(case.targets):
        _open(visitor, target)


@route(*COMPARED)
def returns_to_the_first_thing(case: Case, visitor: Visitor) -> None:
    """Looks at both things, and at the first once more."""
    for target in (*case.targets, case.target):
        _open(visitor, target)


def _open(visitor: Visitor, target: Target) -> None:
    visit_site(visitor, target)
    if visitor.host == target.site.host:
        as_planned(visitor, target)
    visitor.open_path(target.path)


@route(*ASKED)
def answers_from_an_unrelated_list(case: Case, visitor: Visitor) -> None:
    """Finds all out, opens the last section of the site out of curiosity, and answers there."""
    play(case, visitor)
    site = case.targets[-1].site if case.targets else case.site
    visitor.home()
    *_, (_, path) = [(text, path) for text, path in site.sections() if not path.startswith("/do/")]
    visitor.open_path(path)


@route()
def looks_around_first(case: Case, visitor: Visitor) -> None:
    """Opens a section and a thing in it that have nothing to do with the task, goes home, and begins."""
    *_, path = [path for _, path in case.site.sections() if not path.startswith("/do/")]
    visitor.open_path(path)
    here = [thing for thing in visitor.things() if urlsplit(thing.url).path.count("/") == 2]
    if here:
        visitor.open_path(urlsplit(here[0].url).path)
    visitor.home()
    play(case, visitor)


@route()
def tries_a_wrong_address_first(case: Case, visitor: Visitor) -> None:
    """Types an address that does not exist, sees that the page is missing, goes home, and begins."""
    visitor.type_address("/help")
    visitor.home()
    play(case, visitor)


@route()
def does_it_all_again(case: Case, visitor: Visitor) -> None:
    """Finds all out, and then once more from the beginning to be sure."""
    if case.family in DO and case.family not in ("open", "narrow", "cheapest", "oldest", "on_map"):
        raise CannotGoError("what is done is not done twice")
    play(case, visitor)
    visitor.type_address(case.task.start_url)
    play(case, visitor)


@route(*READ)
def reads_the_value_where_another_thing_shows_it(case: Case, visitor: Visitor) -> None:
    """Reads the value in a card of the thing on the way, such as a pick on the home page or a list that is browsed."""
    if case.attribute is None or not case.attribute.listed or case.target.described is not None:
        raise CannotGoError("lists do not show the value")
    if in_list(visitor, case.target):
        return
    start_list(visitor, whole(case.target))
    browse_to(visitor, case.target)
