"""The half of the classes of `wrong_changes.py` that is held back."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from fairness_page import controls
from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import ADDS, wrong_session
from fairness_classes.moves import (
    asked_form,
    form_for,
    open_asked_form,
    open_board,
    open_target,
    play,
    send_form,
)


@wrong_session("act")
def stops_after_the_first_of_several_pages(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sends the first page of a form with several pages, and stops."""
    if len(case.steps("form")) < 2:
        raise CannotGoError("the form has one page")
    open_asked_form(case, visitor)
    send_form(visitor, asked_form(case))


@wrong_session("act")
def sends_the_form_as_it_stands(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sends the form without filling in anything."""
    open_asked_form(case, visitor)
    form, source = visitor.form(asked_form(case)["action"])
    known = controls(form)
    if all(known[key].filled(value) == known[key].values for key, value in asked_form(case)["values"].items()):
        raise CannotGoError("the form is filled in as it stands")
    visitor.send(form, {}, source)


@wrong_session("act")
def does_it_to_a_second_thing_as_well(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Does it to another thing, and then to the right one."""
    if not case.targets or len(case.steps("form")) > 1:
        raise CannotGoError("no thing is named")
    target, step = case.target, asked_form(case)
    key = step["action"].rpartition("/")[2]
    action = next(each for each in case.site.actions if each.key == key and each.collection == target.collection.slug)
    fitting = [
        e for e in target.collection.entities if e is not target.entity and action.offered(e) and not action.refuses(e)
    ]
    if not fitting:
        raise CannotGoError("no other thing offers it")
    other = Target(target.site, target.collection, fitting[-1])
    open_target(visitor, other)
    before = _changes(visitor)
    form, source = visitor.form(action.path(other.entity))
    visitor.send(form, step["values"], source)
    if _changes(visitor) == before:
        raise CannotGoError("nothing was changed")
    visitor.type_address(case.task.start_url)
    play(case, visitor)


def _changes(visitor: Visitor) -> dict[str, Any]:
    """What the session has changed on each host."""
    return {host: known["state"] for host, known in visitor.state().items()}


@wrong_session("menu")
def takes_the_menus_of_two_things(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Does it to the right thing, and then to another one of the list."""
    play(case, visitor)
    action = case.steps("menu")[0]["action"].rpartition("/")[2]
    visitor.open_path(f"/{case.target.collection.slug}")
    for thing in visitor.things():
        for _, to, _, _ in thing.offers:
            if to.endswith(f"/{action}") and thing.name != case.target.entity.name:
                visitor.offer(thing.name, to)
                return
    raise CannotGoError("no other thing offers it")


@wrong_session("menu")
def takes_another_entry_of_the_menu(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Takes another entry of the menu of the right thing."""
    action = case.steps("menu")[0]["action"]
    visitor.search(case.target.entity.name)
    for thing in visitor.things():
        others = [to for _, to, _, _ in thing.offers if to != action]
        if thing.name == case.target.entity.name and others:
            visitor.offer(thing.name, rng.choice(others))
            return
    raise CannotGoError("the menu has one entry")


@wrong_session("menu")
def finds_the_thing_and_opens_no_menu(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Finds the thing in the results of a search, and stops."""
    visitor.search(case.target.entity.name)


@wrong_session("drag")
def drags_a_card_back_at_the_end(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Drags all cards rightly, and the last one back to where it was."""
    open_board(case, visitor)
    last = case.steps("drag")[-1]["card"]
    columns = {
        card.get("data-card"): node.get("data-column")
        for node in visitor.page.root.has("data-column")
        for card in node.has("data-card")
    }
    for step in case.steps("drag"):
        visitor.drag(step["card"], step["column"])
    visitor.drag(last, columns[last])


@wrong_session(*ADDS)
def adds_another_thing_as_well(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Adds what is asked for, and another thing."""
    play(case, visitor)
    wanted = {target.entity.slug for target in case.targets}
    free = [each for each in case.site.main.entities if each.slug not in wanted and int(each.values["stock"]) > 0]
    open_target(visitor, Target(case.site, case.site.main, rng.choice(free)))
    visitor.send(*form_for(visitor, "/cart/add"))


@wrong_session("add_cheapest", "add_cheapest_color")
def adds_the_second_of_the_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Adds the second cheapest thing."""
    described = case.target.described
    if described is None or len(described.found) < 2:
        raise CannotGoError("the list has one thing")
    first, second, *_ = described.found
    if first.values[described.sort] == second.values[described.sort]:
        raise CannotGoError("two things are the cheapest")
    play(replace(case, targets=[Target(case.site, case.target.collection, second)]), visitor)


@wrong_session("add_two")
def adds_the_first_of_two_twice(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Adds the first thing twice, and not the second."""
    play(replace(case, targets=[case.target, case.target]), visitor)


@wrong_session(*ADDS)
def opens_the_cart_and_adds_nothing(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks into the empty cart."""
    visitor.open_path("/cart")


@wrong_session("price", "read_oldest", "read_oldest_region", "compare", "cheapest", "open")
def puts_what_it_found_into_the_cart(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Does all rightly, and puts the thing into the cart, which nobody asked for."""
    play(case, visitor)
    open_target(visitor, case.targets[-1])
    visitor.send(*form_for(visitor, "/cart/add"))
