"""Routes on the map, by the locator, to offers of a partner, and through reports."""

from __future__ import annotations

from urllib.parse import urlsplit

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import ON_MAP, Case
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import end_on_map, located, open_described, open_target, read_reports


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
def types_the_addresses_of_reports(case: Case, visitor: Visitor) -> None:
    """Writes the addresses of the months by hand after seeing how the first is spelt."""
    visitor.open_path("/reports")
    for step in case.steps("visit"):
        visitor.type_address(step["path"])


@route(*ON_MAP)
def clicks_other_markers_first(case: Case, visitor: Visitor) -> None:
    """Clicks a few other markers before the right one."""
    open_described(case, visitor)
    visitor.open_path("/map")
    slugs = [node.get("data-marker") for node in visitor.page.root.has("data-marker")]
    for slug in [each for each in slugs if each not in {target.entity.slug for target in case.targets}][:3]:
        visitor.click_marker(slug)
    end_on_map(case, visitor)


@route("located")
def locates_from_the_home_page(case: Case, visitor: Visitor) -> None:
    """Uses the locator that stands on the home page."""
    visitor.locate(located(case))


@route("report", "leader")
def looks_at_neighbouring_months(case: Case, visitor: Visitor) -> None:
    """Opens the reports of other months as well."""
    wanted = {step["path"] for step in case.steps("visit")}
    visitor.open_path("/reports")
    others = [urlsplit(thing.url).path for thing in visitor.things() if urlsplit(thing.url).path not in wanted]
    if not others:
        raise CannotGoError("there are no other months")
    visitor.open_path(others[0])
    read_reports(case, visitor)
