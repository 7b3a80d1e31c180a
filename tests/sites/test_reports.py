"""Questions about the reports of a back office: the answers are what the tables say."""

import random
import re

from webdojo.sites.admin import Admin
from webdojo.sites.blocks import Late
from webdojo.sites.design.render import render
from webdojo.sites.goal import Goal
from webdojo.sites.site import Overlay, Page, Request


def figures_read(site: Admin, goal: Goal, overlay: Overlay) -> tuple[set[str], list[list[str]]]:
    """What the pages of a plan show: facts, and the rows of their tables."""
    shows: set[str] = set()
    rows: list[list[str]] = []
    for step in goal.plan[:-1]:
        page = site.respond(Request("GET", step["path"], {}), overlay)
        assert isinstance(page, Page)
        late = next((block for block in page.data["blocks"] if isinstance(block, Late)), None)
        if late is not None:
            assert not page.shows
            page = site.respond(Request("GET", late.path, {}), overlay)
            assert isinstance(page, Page)
        shows |= set(page.shows)
        found = re.findall(r"<tr>(.*?)</tr>", render(site, page, overlay, "compact"))
        rows += [re.findall(r"<td>(.*?)</td>", row) for row in found if "<td>" in row]
    return shows, rows


def test_a_question_about_reports_is_answered_by_their_tables() -> None:
    rng = random.Random(1)
    drawn = 0
    for seed in range(8):
        site = Admin(seed)
        for facts in (2, 3, 4, 5):
            goal = site.goals[0](site, facts, rng)
            assert goal is not None
            assert goal.difficulty == facts
            shows, rows = figures_read(site, goal, Overlay())
            assert {seen for each in goal.facts for seen in each.get("seen", ())} <= shows
            if goal.name == "report":
                measure = next(
                    i for i, name in enumerate(("Views", "Visitors", "Comments")) if name.lower() in goal.cores[0]
                )
                section = next(name for name in site.names if f"the section {name} in" in goal.cores[0])
                total = sum(int(row[1 + measure]) for row in rows if row[0] == section)
                assert goal.facts[-1]["answer"]["value"] == total
                drawn += 1
    assert drawn > 20
