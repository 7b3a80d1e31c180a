"""Sessions that change the wrong thing, too much, or too little."""

from __future__ import annotations

import random

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, form_step
from fairness_classes.kinds_of_classes import ADDS, wrong_session
from fairness_classes.moves import (
    do_something_else,
    form_for,
    open_target,
    open_targets,
    play,
)


@wrong_session("read", "count", "compare", "names", "act", "report")
def changes_something_else_at_the_end(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Does all rightly, and then something to another thing that nobody asked for."""
    play(case, visitor)
    visitor.type_address(case.task.start_url)
    do_something_else(case, visitor)


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


@wrong_session("menu")
def opens_the_thing_instead_of_its_menu(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the page of the thing, and does nothing there."""
    open_target(visitor, case.target)


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
def opens_what_it_should_add(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the last thing, and does not put it into the cart."""
    for target in case.targets[:-1]:
        open_target(visitor, target)
        visitor.send(*form_for(visitor, "/cart/add"))
    open_target(visitor, case.targets[-1])


@wrong_session(*ADDS)
def takes_it_out_again(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Takes what it added out of the cart again."""
    play(case, visitor)
    visitor.open_path("/cart")
    visitor.send(*form_for(visitor, "/cart/remove"))
