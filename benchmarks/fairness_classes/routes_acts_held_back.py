"""The half of the classes of `routes_acts.py` that is held back."""

from __future__ import annotations

from dataclasses import replace

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import ADDS, route
from fairness_classes.moves import (
    drag_all,
    form_for,
    open_asked_form,
    open_board,
    open_target,
    play,
    send_forms,
)


@route("act")
def reloads_the_form_before_it_fills_it_in(case: Case, visitor: Visitor) -> None:
    """Opens the form, confirms its address in the address bar once more, and fills it in."""
    open_asked_form(case, visitor)
    visitor.type_address(visitor.url)
    send_forms(case, visitor)


@route("act")
def leaves_the_form_and_returns(case: Case, visitor: Visitor) -> None:
    """Opens the form, goes home without sending it, and comes again to send it."""
    open_asked_form(case, visitor)
    visitor.home()
    open_asked_form(case, visitor)
    send_forms(case, visitor)


@route("act", "menu", *ADDS)
def goes_back_when_it_is_done(case: Case, visitor: Visitor) -> None:
    """Does all, and returns by the browser's button to the page before."""
    play(case, visitor)
    visitor.back()


@route("act", "menu", "drag", *ADDS)
def opens_something_else_when_it_is_done(case: Case, visitor: Visitor) -> None:
    """Does all, and ends on the page of a thing that has nothing to do with it."""
    play(case, visitor)
    known = {target.entity.slug for target in case.targets}
    visitor.type_address(case.task.start_url)
    other = next(each for each in case.site.main.entities if each.slug not in known)
    open_target(visitor, Target(case.site, case.site.main, other))


@route("act", "drag", "menu")
def looks_into_a_list_before_it_acts(case: Case, visitor: Visitor) -> None:
    """Opens the main list and goes on in it, returns home, and then does what is asked."""
    visitor.open_path(f"/{case.site.main.slug}")
    visitor.more()
    visitor.home()
    play(case, visitor)


@route("drag")
def drags_a_card_again_to_where_it_is(case: Case, visitor: Visitor) -> None:
    """Drags all cards, and the first once more to the column that it is in."""
    drag_all(case, visitor)
    first, *_ = case.steps("drag")
    visitor.drag(first["card"], first["column"])


@route("drag")
def looks_at_a_card_before_it_drags(case: Case, visitor: Visitor) -> None:
    """Opens the page of a card on the board, returns to the board, and drags."""
    open_board(case, visitor)
    card = case.steps("drag")[0]["card"]
    visitor.follow(next(link for link in visitor.links if link.url.endswith(f"/{card}")))
    visitor.back()
    for step in case.steps("drag"):
        visitor.drag(step["card"], step["column"])


@route("add_two")
def adds_in_the_opposite_order(case: Case, visitor: Visitor) -> None:
    """Puts the second thing into the cart first."""
    play(replace(case, targets=case.targets[::-1]), visitor)


@route(*ADDS)
def looks_into_the_cart_before_it_adds(case: Case, visitor: Visitor) -> None:
    """Looks into the empty cart, goes home, and then adds."""
    visitor.open_path("/cart")
    visitor.home()
    play(case, visitor)


@route("add", "add_cheapest", "add_cheapest_color")
def takes_it_out_and_puts_it_in_again(case: Case, visitor: Visitor) -> None:
    """Puts the thing into the cart, takes it out by mistake, and puts it in again."""
    play(case, visitor)
    visitor.open_path("/cart")
    visitor.send(*form_for(visitor, "/cart/remove"))
    visitor.home()
    play(case, visitor)


@route(*ADDS)
def looks_at_the_thing_before_and_adds_later(case: Case, visitor: Visitor) -> None:
    """Opens each thing and adds none, goes home, and then adds."""
    if any(target.described is not None for target in case.targets):
        raise CannotGoError("things are described")
    for target in case.targets:
        open_target(visitor, target)
    visitor.home()
    play(case, visitor)
