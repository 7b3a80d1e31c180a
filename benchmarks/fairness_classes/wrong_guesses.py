"""Right answers of sessions that never saw them."""

from __future__ import annotations

import random

from fairness_visitor import Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import ASKED, READ, wrong_session
from fairness_classes.moves import as_planned, open_target, visit_site


@wrong_session(*ASKED)
def closed_book_after_other_things(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens two other things, and answers there."""
    main = case.site.main
    wanted = {target.entity.slug for target in case.targets}
    for other in rng.sample([each for each in main.entities if each.slug not in wanted], 2):
        open_target(visitor, Target(case.site, main, other))


@wrong_session(*READ, "compare", "across", "refused")
def closed_book_after_a_search(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Finds the thing in a list or in results that do not show the value, and does not open it."""
    for target in case.targets:
        visit_site(visitor, target)
        as_planned(visitor, target)


@wrong_session("report", "leader")
def guesses_after_another_month(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at the report of another month."""
    wanted = {step["path"] for step in case.steps("visit")}
    visitor.open_path("/reports")
    visitor.open_path(
        next(f"/reports/2026-{month:02d}" for month in range(1, 13) if f"/reports/2026-{month:02d}" not in wanted)
    )


@wrong_session("compare", "across", "corners")
def guesses_after_one_of_two(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at one of two things only."""
    if case.family == "corners":
        visitor.open_path("/map")
        visitor.click_marker(case.target.entity.slug)
        return
    open_target(visitor, case.target)
