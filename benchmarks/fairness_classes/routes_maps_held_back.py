"""The half of the classes of `routes_maps.py` that is held back."""

from __future__ import annotations

from urllib.parse import urlsplit

from fairness_visitor import Visitor

from fairness_classes.case import ON_MAP, Case, Target
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import end_on_map, located, open_described, open_target, play, read_reports


@route(*ON_MAP)
def clicks_the_marker_twice(case: Case, visitor: Visitor) -> None:
    """Clicks the right markers twice."""
    open_described(case, visitor)
    visitor.open_path("/map")
    for target in case.targets:
        visitor.click_marker(target.entity.slug)
    end_on_map(case, visitor)


@route(*ON_MAP)
def looks_at_the_map_and_later_at_the_marker(case: Case, visitor: Visitor) -> None:
    """Looks at the map, goes home, and comes to the map again."""
    visitor.open_path("/map")
    visitor.home()
    open_described(case, visitor)
    end_on_map(case, visitor)


@route(*ON_MAP)
def comes_to_the_map_from_another_place(case: Case, visitor: Visitor) -> None:
    """Opens the page of another place, and the map from there."""
    open_described(case, visitor)
    known = {target.entity.slug for target in case.targets}
    other = next(each for each in case.site.main.entities if each.slug not in known)
    open_target(visitor, Target(case.site, case.site.main, other))
    end_on_map(case, visitor)


@route("located")
def locates_twice(case: Case, visitor: Visitor) -> None:
    """Uses the locator, and then once more with the same values."""
    play(case, visitor)
    visitor.home()
    visitor.open_path("/find")
    visitor.locate(located(case))


@route("located")
def locates_after_a_look_at_the_list(case: Case, visitor: Visitor) -> None:
    """Looks at the list of all places first, and then uses the locator."""
    visitor.open_path(f"/{case.site.main.slug}")
    visitor.home()
    play(case, visitor)


@route("partner")
def returns_to_the_article_for_the_offer(case: Case, visitor: Visitor) -> None:
    """Opens the article, goes home, and opens it again for its offer."""
    open_target(visitor, case.target)
    visitor.home()
    play(case, visitor)


@route("report", "leader")
def reads_all_reports_in_turn(case: Case, visitor: Visitor) -> None:
    """Opens every report of the list, from the first to the last."""
    visitor.open_path("/reports")
    for path in [urlsplit(thing.url).path for thing in visitor.things()]:
        visitor.open_path(path)
        visitor.back()


@route("report", "leader")
def reads_the_reports_twice(case: Case, visitor: Visitor) -> None:
    """Opens the reports, goes home, and opens them again to check the figures."""
    read_reports(case, visitor)
    visitor.home()
    read_reports(case, visitor)
