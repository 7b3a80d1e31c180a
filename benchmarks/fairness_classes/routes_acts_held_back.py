"""The half of the classes of `routes_acts.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import ADDS, route
from fairness_classes.moves import (
    as_planned,
    asked_form,
    drag_all,
    open_asked_form,
    open_board,
    play,
    send_forms,
)


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
def drags_in_another_order(case: Case, visitor: Visitor) -> None:
    """Drags the cards in the opposite order."""
    if len(case.steps("drag")) < 2:
        raise CannotGoError("there is one card")
    drag_all(case, visitor, list(reversed(case.steps("drag"))))


@route("drag")
def drops_a_card_in_a_wrong_column_first(case: Case, visitor: Visitor) -> None:
    """Drops a card in a wrong column by mistake, and then in the right one."""
    open_board(case, visitor)
    first, *_ = case.steps("drag")
    columns = [node.get("data-column") for node in visitor.page.root.has("data-column")]
    visitor.drag(first["card"], next(column for column in columns if column != first["column"]))
    for step in case.steps("drag"):
        visitor.drag(step["card"], step["column"])


@route("drag")
def comes_to_the_board_from_the_project(case: Case, visitor: Visitor) -> None:
    """Opens the project and takes its link to the board."""
    board = case.steps("drag")[0]["at"]
    visitor.open_path("/projects")
    visitor.open_path(f"/projects/{board.rpartition('/')[2]}")
    visitor.open_path(board)
    for step in case.steps("drag"):
        visitor.drag(step["card"], step["column"])


@route("act")
def turns_to_the_form_after_another_form(case: Case, visitor: Visitor) -> None:
    """Opens another form of the site, leaves it unsent, and goes on with the right one."""
    others = [path for _, path in case.site.sections() if path.startswith("/do/") and path != asked_form(case)["at"]]
    if not others:
        raise CannotGoError("there is no other form")
    visitor.open_path(others[0])
    visitor.home()
    open_asked_form(case, visitor)
    send_forms(case, visitor)


@route("menu")
def takes_the_menu_in_another_list(case: Case, visitor: Visitor) -> None:
    """Opens the thing's page, and then uses the menu where a list found by one word has it."""
    as_planned(visitor, case.target)
    visitor.open_path(case.target.path)
    visitor.search(case.target.entity.name.split()[0].strip("?!,:."))
    while not any(thing.name == case.target.entity.name for thing in visitor.things()):
        if not visitor.more():
            raise CannotGoError("the list has ended")
    visitor.offer(case.target.entity.name, case.steps("menu")[0]["action"])
