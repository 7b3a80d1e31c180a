"""Routes on the map, by the locator, to offers of a partner, and through reports."""

from __future__ import annotations

from urllib.parse import urlsplit

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import ON_MAP, Case
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import end_on_map, open_described, open_target, play


@route(*ON_MAP)
def follows_a_card_and_returns_to_the_map(case: Case, visitor: Visitor) -> None:
    """Follows the link of the card to the page of the place, returns to the map, and opens the card again."""
    open_described(case, visitor)
    visitor.open_path("/map")
    visitor.click_marker(case.target.entity.slug)
    visitor.open_path(case.target.path)
    visitor.back()
    visitor.open_path("/map")
    end_on_map(case, visitor)


@route("located")
def goes_on_in_the_located_list(case: Case, visitor: Visitor) -> None:
    """Uses the locator, looks at the first place that it found, and returns to the list."""
    play(case, visitor)
    paths = [urlsplit(thing.url).path for thing in visitor.things()]
    if not paths:
        raise CannotGoError("the list is empty")
    visitor.open_path(paths[0])
    visitor.back()


@route("partner")
def looks_at_another_offer_first(case: Case, visitor: Visitor) -> None:
    """Opens another offer of the box, closes it, and opens the right one."""
    open_target(visitor, case.target)
    offer = case.targets[1]
    others = [link for part in visitor.page.parts for link in part.links if not link.url.endswith(offer.path)]
    if not others:
        raise CannotGoError("there is no other offer")
    visitor.follow(others[0])
    visitor.back()
    visitor.open_path(offer.site.url(offer.path))


@route("report", "leader")
def reads_reports_from_the_last_to_the_first(case: Case, visitor: Visitor) -> None:
    """Opens the months in the opposite order, and returns from each by the browser's button."""
    visitor.open_path("/reports")
    for step in reversed(case.steps("visit")):
        visitor.open_path(step["path"])
        visitor.back()


@route("report", "leader")
def types_the_addresses_of_reports(case: Case, visitor: Visitor) -> None:
    """Writes the addresses of the months by hand after seeing how the first is spelt."""
    visitor.open_path("/reports")
    for step in case.steps("visit"):
        visitor.type_address(step["path"])
