"""The half of the classes of `routes_maps.py` that is held back."""

from __future__ import annotations

from urllib.parse import urlsplit

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import ON_MAP, Case, Target
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import end_on_map, located, open_described, open_target, play, read_reports


@route(*ON_MAP)
def clicks_other_markers_first(case: Case, visitor: Visitor) -> None:
    """Clicks a few other markers before the right one."""
    open_described(case, visitor)
    visitor.open_path("/map")
    slugs = [node.get("data-marker") for node in visitor.page.root.has("data-marker")]
    for slug in [each for each in slugs if each not in {target.entity.slug for target in case.targets}][:3]:
        visitor.click_marker(slug)
    end_on_map(case, visitor)


@route("on_map", "corner")
def checks_the_place_and_returns_to_the_map(case: Case, visitor: Visitor) -> None:
    """Opens the place's page from a search to be sure of it, and then its card on the map."""
    open_described(case, visitor)
    visitor.search(case.target.entity.name)
    visitor.open_path(case.target.path)
    end_on_map(case, visitor)


@route("located")
def locates_from_the_home_page(case: Case, visitor: Visitor) -> None:
    """Uses the locator that stands on the home page."""
    visitor.locate(located(case))


@route("located")
def locates_something_else_first(case: Case, visitor: Visitor) -> None:
    """Sends the locator as it stands, returns, and sets it rightly."""
    visitor.open_path("/find")
    visitor.locate({})
    visitor.back()
    visitor.locate(located(case))


@route("partner")
def looks_at_another_article_first(case: Case, visitor: Visitor) -> None:
    """Opens another article before the right one."""
    other = next(each for each in case.site.main.entities if each is not case.target.entity)
    open_target(visitor, Target(case.site, case.site.main, other))
    visitor.home()
    play(case, visitor)


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
