"""Sessions that change the wrong thing, too much, or too little."""

from __future__ import annotations

import random

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, form_step
from fairness_classes.kinds_of_classes import ADDS, wrong_session
from fairness_classes.moves import do_something_else, form_for, open_board, open_target, open_targets, play, send_form


@wrong_session("act")
def does_it_twice(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sends a form that makes something twice."""
    key = case.steps("form")[-1]["action"].split("/")[3 if case.targets else 2]
    action = next(each for each in case.site.actions if each.key == key)
    if not (action.makes or action.counts):
        raise CannotGoError("what is done twice is done once")
    play(case, visitor)
    visitor.type_address(case.task.start_url)
    play(case, visitor)


@wrong_session("act")
def leaves_an_optional_field_out(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Leaves out something that was to be filled in, and that the form does not need."""
    if len(case.steps("form")) > 1:
        raise CannotGoError("the form has several pages")
    step = form_step(case)
    key = step["action"].rpartition("/")[2]
    action = next(each for each in case.site.actions if each.key == key)
    free = [f.key for f in action.fields if not f.required and not f.default and step["values"].get(f.key)]
    if not free:
        raise CannotGoError("all is needed")
    open_targets(case, visitor)
    if not case.targets:
        visitor.open_path(step["at"])
    form, source = visitor.form(step["action"])
    left = rng.choice(free)
    visitor.send(form, {key: value for key, value in step["values"].items() if key != left}, source)


@wrong_session("drag")
def drags_a_card_too_many(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Drags another card as well."""
    play(case, visitor)
    known = {step["card"] for step in case.steps("drag")}
    for node in visitor.page.root.has("data-column"):
        for card in node.has("data-card"):
            columns = [each.get("data-column") for each in visitor.page.root.has("data-column")]
            if card.get("data-card") not in known:
                visitor.drag(card.get("data-card"), next(each for each in columns if each != node.get("data-column")))
                return
    raise CannotGoError("there is no other card")


@wrong_session(*ADDS)
def adds_another_thing(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Puts another thing into the cart."""
    wanted = {target.entity.slug for target in case.targets}
    free = [each for each in case.site.main.entities if each.slug not in wanted and int(each.values["stock"]) > 0]
    open_target(visitor, Target(case.site, case.site.main, rng.choice(free)))
    visitor.send(*form_for(visitor, "/cart/add"))


@wrong_session(*ADDS)
def adds_too_much(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Puts one thing into the cart twice."""
    play(case, visitor)
    open_target(visitor, Target(case.site, case.site.main, case.target.entity))
    visitor.send(*form_for(visitor, "/cart/add"))


@wrong_session(*ADDS)
def takes_it_out_again(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Takes what it added out of the cart again."""
    play(case, visitor)
    visitor.open_path("/cart")
    visitor.send(*form_for(visitor, "/cart/remove"))


@wrong_session()
def changes_something_else_as_well(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Does all rightly, but did something to another thing before that nobody asked for."""
    do_something_else(case, visitor)
    visitor.type_address(case.task.start_url)
    play(case, visitor)


@wrong_session("act")
def does_it_to_a_neighbour(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Does it to another thing of the list."""
    if not case.targets or len(case.steps("form")) > 1:
        raise CannotGoError("no thing is named")
    target, step = case.target, form_step(case)
    key = step["action"].rpartition("/")[2]
    action = next(each for each in case.site.actions if each.key == key and each.collection == target.collection.slug)
    fitting = [
        e for e in target.collection.entities if e is not target.entity and action.offered(e) and not action.refuses(e)
    ]
    other = Target(target.site, target.collection, rng.choice(fitting))
    open_target(visitor, other)
    form, source = visitor.form(action.path(other.entity))
    visitor.send(form, step["values"], source)


@wrong_session("act")
def fills_in_a_wrong_value(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Fills in another value in one field."""
    if len(case.steps("form")) > 1:
        raise CannotGoError("the form has several pages")
    step = form_step(case)
    open_targets(case, visitor)
    changed = _another_value(step["values"])
    if changed is None:
        raise CannotGoError("nothing is filled in")
    send_form(visitor, step, changed)


def _another_value(values: dict[str, str]) -> dict[str, str] | None:
    """One of the values as it is not asked for."""
    for key, value in values.items():
        if value.isdecimal():
            return {key: str(int(value) - 1 if int(value) > 2 else int(value) + 1)}
        if len(value) == 10 and value[:4].isdecimal():
            return {key: f"{value[:8]}{'02' if value[8:] != '02' else '03'}"}
        if value.endswith((".", "?")) or (" " in value and key in ("text", "name", "note", "subject", "title")):
            return {key: f"{value.rstrip('.?')} now."}
    return None


@wrong_session("menu")
def takes_the_menu_of_a_neighbour(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Does it to another thing of the list."""
    action = case.steps("menu")[0]["action"].rpartition("/")[2]
    visitor.open_path(f"/{case.target.collection.slug}")
    for thing in visitor.things():
        for _, to, _, _ in thing.offers:
            if to.endswith(f"/{action}") and thing.name != case.target.entity.name:
                visitor.offer(thing.name, to)
                return
    raise CannotGoError("no other thing offers it")


@wrong_session("drag")
def leaves_a_card_where_it_is(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Drags all cards but the last."""
    open_board(case, visitor)
    for step in case.steps("drag")[:-1]:
        visitor.drag(step["card"], step["column"])
