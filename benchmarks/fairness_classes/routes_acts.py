"""Routes to a change: by a menu, with a mistake on the way, in parts, or with a look afterwards."""

from __future__ import annotations

from fairness_page import controls
from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import ADDS, route
from fairness_classes.moves import (
    as_planned,
    asked_form,
    form_for,
    open_asked_form,
    open_board,
    open_target,
    play,
    send_form,
)


@route("act")
def leaves_a_field_empty_first(case: Case, visitor: Visitor) -> None:
    """Sends the form with nothing filled in, is told what is missing, and fills it in."""
    open_asked_form(case, visitor)
    form, source = visitor.form(asked_form(case)["action"])
    empty = {key: "" for key, control in controls(form).items() if not control.options and control.values == ("",)}
    if not empty:
        raise CannotGoError("nothing can be left out")
    before = visitor.state()
    visitor.send(form, {}, source)
    changed = {host: known["state"] for host, known in visitor.state().items()}
    if changed != {host: known["state"] for host, known in before.items()}:
        raise CannotGoError("an empty form was taken")
    first, *others = case.steps("form")
    form, source = visitor.form(first["action"])
    visitor.send(form, first["values"], source)
    for step in others:
        send_form(visitor, step)


@route("act")
def returns_to_the_first_step(case: Case, visitor: Visitor) -> None:
    """Goes back to the first page of a form with several pages, and sends it again."""
    first, *others = case.steps("form")
    if not others:
        raise CannotGoError("the form has one page")
    open_asked_form(case, visitor)
    send_form(visitor, first)
    visitor.open_path(first["at"])
    for step in (first, *others):
        send_form(visitor, step)


@route("act")
def checks_the_thing_afterwards(case: Case, visitor: Visitor) -> None:
    """Opens the thing's page again to see that all is well, and ends there."""
    play(case, visitor)
    for target in case.targets:
        visitor.home()
        visitor.search(target.entity.name)
        if not visitor.has_path(target.path):
            raise CannotGoError("it has another name now")
        visitor.open_path(target.path)
    if not case.targets:
        visitor.home()


@route("act", *ADDS)
def takes_a_wrong_thing_out_of_the_cart(case: Case, visitor: Visitor) -> None:
    """Puts another thing into the cart by mistake, takes it out, and goes on with the right one."""
    site, wanted = case.site, {target.entity.slug for target in case.targets}
    if site.kind != "shop" or (case.family == "act" and not asked_form(case)["action"].endswith("/add")):
        raise CannotGoError("there is no cart")
    free = [each for each in site.main.entities if each.slug not in wanted and int(each.values["stock"]) > 0]
    other = Target(site, site.main, free[0])
    open_target(visitor, other)
    visitor.send(*form_for(visitor, "/cart/add" if case.compact else f"{other.path}/add"))
    visitor.open_path("/cart")
    visitor.send(*form_for(visitor, "/cart/remove" if case.compact else f"/cart/remove/{other.entity.slug}"))
    visitor.home()
    play(case, visitor)


@route("act")
def adds_the_amount_in_two_parts(case: Case, visitor: Visitor) -> None:
    """Puts one into the cart, sees that more are wanted, and adds the others."""
    step = asked_form(case)
    amount = int(step["values"].get("amount", "0"))
    if not step["action"].endswith("/add") or amount < 2:
        raise CannotGoError("there is no amount")
    open_asked_form(case, visitor)
    send_form(visitor, step, {"amount": "1"})
    visitor.open_path(step["at"])
    send_form(visitor, step, {"amount": str(amount - 1)})


@route("drag")
def moves_cards_by_their_menus(case: Case, visitor: Visitor) -> None:
    """Moves the cards by the menus that a right click on them opens; only where nobody asked to drag them."""
    if "drag" in case.task.instruction.lower():
        raise CannotGoError("the instruction says how")
    open_board(case, visitor)
    names = {thing.url.rpartition("/")[2]: thing.name for thing in visitor.things()}
    for step in case.steps("drag"):
        visitor.offer(names[step["card"]], step["at"], {"card": step["card"], "column": step["column"]})


@route("act")
def takes_the_menu_of_the_list(case: Case, visitor: Visitor) -> None:
    """Does it by the menu of a right click on the thing in the list, where that offers the same as its page."""
    if not case.targets or asked_form(case)["values"]:
        raise CannotGoError("the menu has no fields")
    as_planned(visitor, case.target)
    visitor.offer(case.target.entity.name, asked_form(case)["action"])


@route("act", "menu", "drag", *ADDS)
def goes_home_afterwards(case: Case, visitor: Visitor) -> None:
    """Goes home when all is done, and ends there."""
    play(case, visitor)
    visitor.home()


@route("drag")
def drops_a_card_in_a_wrong_column_first(case: Case, visitor: Visitor) -> None:
    """Drops a card in a wrong column by mistake, and then in the right one."""
    open_board(case, visitor)
    first, *_ = case.steps("drag")
    columns = [node.get("data-column") for node in visitor.page.root.has("data-column")]
    visitor.drag(first["card"], next(column for column in columns if column != first["column"]))
    for step in case.steps("drag"):
        visitor.drag(step["card"], step["column"])
