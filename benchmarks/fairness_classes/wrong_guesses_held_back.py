"""The half of the classes of `wrong_guesses.py` that is held back."""

from __future__ import annotations

import random
from dataclasses import replace

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, query_of
from fairness_classes.evidence import Evidence
from fairness_classes.kinds_of_classes import ASKED, wrong_session
from fairness_classes.moves import open_query, open_target, start_list


@wrong_session(*ASKED)
def closed_book_after_an_unrelated_search(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Searches for something that has nothing to do with it, and answers there."""
    visitor.search("weather")


@wrong_session(*ASKED)
def closed_book_after_a_form(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens a form of the site, and answers there."""
    forms = [path for _, path in case.site.sections() if path.startswith("/do/")]
    if not forms:
        raise CannotGoError("there is no form")
    visitor.open_path(forms[0])


@wrong_session(*ASKED)
def closed_book_after_a_look_at_the_cart(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the empty cart, and answers there."""
    visitor.open_path("/cart")


@wrong_session("report", "leader")
def closed_book_after_the_list_of_reports(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the list of reports, and none of them."""
    visitor.open_path("/reports")


@wrong_session("count")
def closed_book_after_the_list_in_order(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Puts the whole list into some order, and answers there."""
    query = query_of(case)
    orders = [attribute.key for attribute in query.collection.attributes if attribute.sort]
    if not orders:
        raise CannotGoError("there is no order")
    start_list(visitor, query)
    visitor.narrow("sort", orders[0])


@wrong_session("compare", "across")
def guesses_after_the_second_of_two(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at the second thing only."""
    open_target(visitor, case.targets[-1])


@wrong_session("read", "compare", "price", "read_oldest", "read_oldest_region")
def guesses_after_neighbours(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens other things of the collection instead of the right ones, and no page shows what is asked for."""
    attribute = case.attribute
    if attribute is None:
        raise CannotGoError("no value is asked for")
    known = {each.entity.slug for each in case.targets}
    for target in case.targets:
        value = target.entity.values[attribute.key]
        others = [
            each
            for each in target.collection.entities
            if each.slug not in known and each.values.get(attribute.key, value) != value
        ]
        if not others:
            raise CannotGoError("all have the same value")
        open_target(visitor, Target(target.site, target.collection, rng.choice(others)))
    if not Evidence(case, visitor).clueless():
        raise CannotGoError("a page showed what is asked for")


@wrong_session("names")
def guesses_names_without_their_order(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sets the filters but no order, and names things after the first page."""
    query = query_of(case)
    if not query.sort or len(query.found) <= case.site.per_page:
        raise CannotGoError("one page shows all")
    open_query(visitor, replace(query, sort=""))


@wrong_session("across")
def guesses_on_one_of_two_sites(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the thing of the first site, and searches there for that of the other."""
    open_target(visitor, case.target)
    visitor.search(case.targets[-1].entity.name)
