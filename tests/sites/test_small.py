"""What small sites ask for is achieved by its plan and by nothing less."""

from collections import defaultdict
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from webdojo.sites import SMALL_KINDS, layout_of
from webdojo.sites.kinds import KINDS, load_site, parse_host
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.small.kinds import SMALL
from webdojo.sites.taskgen import HELDOUT_KINDS, make_tasks
from webdojo.sites.verdict import evaluate
from webdojo.types import Task

TASKS = make_tasks(SMALL_KINDS, range(30), 800, 0, layout="grid")


class Visit:
    """A session that asks for pages as a browser would."""

    def __init__(self, task: Task) -> None:
        self.task, self.url = task, ""
        self.overlays: dict[str, Overlay] = defaultdict(Overlay)
        self.go(task.website, "/")

    def go(self, host: str, path: str, method: str = "GET") -> None:
        parts, overlay = urlsplit(path), self.overlays[host]
        request = Request(method, parts.path, dict(parse_qsl(parts.query)))
        reply = load_site(*parse_host(host), "grid").respond(request, overlay)
        if isinstance(reply, Redirect):
            self.go(host, reply.path)
            return
        assert isinstance(reply, Page) and reply.status == 200, path
        overlay.visited.append(path)
        overlay.seen.update(reply.facts)
        self.url = f"http://{host}{path}"

    def play(self, plan: list[dict[str, Any]]) -> str | None:
        """Follow a plan from list to list and page to page; returns the answer."""
        for step in plan:
            host = step.get("site", self.task.website)
            match step["do"]:
                case "search":
                    self.go(host, f"/search?q={step['text'].lower().replace(' ', '+')}")
                case "visit":
                    before = load_site(*parse_host(host), "grid").way_to(step["path"])[0]
                    self.go(host, before)
                    self.go(host, step["path"])
                case "form":
                    self.go(host, step["action"], "POST")
                case "done":
                    return str(step["answer"])
        return None

    def success(self, answer: str | None) -> bool:
        state = {host: overlay.snapshot() for host, overlay in self.overlays.items()}
        return evaluate(self.task, answer, self.url, state).success


def test_every_kind_but_shops_and_wikis_has_small_sites() -> None:
    assert set(SMALL) == set(SMALL_KINDS) and {"shop", "wiki", *SMALL_KINDS} == set(KINDS.built_in)
    for kind in SMALL_KINDS:
        partner = SMALL[kind].partner
        assert (kind in HELDOUT_KINDS) == (partner in HELDOUT_KINDS), "a split has both of two partners"
        assert layout_of(kind, "grid") == "grid"
        assert layout_of(kind, "compact") == ""


def test_every_plan_is_a_success_and_an_answer_without_it_is_none() -> None:
    for task in TASKS:
        plan = task.metadata["plan"]
        visit = Visit(task)
        assert visit.success(visit.play(plan)), (task.instruction, plan)
        assert not Visit(task).success(plan[-1]["answer"]), task.instruction


@pytest.mark.parametrize("goal", ["compare", "compare_sites", "kept_alike"])
def test_what_is_carried_must_have_been_read(goal: str) -> None:
    tasks = [task for task in TASKS if task.metadata["goal"] == goal]
    assert len(tasks) > 10
    for task in tasks:
        visit = Visit(task)
        assert not visit.success(visit.play(task.metadata["plan"][1:])), task.instruction


def test_the_lower_of_two_numbers_is_wrong() -> None:
    for task in (task for task in TASKS if task.metadata["goal"] == "compare_sites"):
        plan = task.metadata["plan"]
        visit = Visit(task)
        visit.play(plan)
        numbers = {word.strip(".") for word in plan[-1]["because"].split()[:3]} - {"and"}
        (low,) = numbers - {plan[-1]["answer"]}
        assert not visit.success(low), task.instruction


def test_a_button_pressed_for_something_else_is_wrong() -> None:
    for task in (task for task in TASKS if task.metadata["goal"] == "act"):
        visit = Visit(task)
        other = next(e for e in load_site(*parse_host(task.website), "grid").main.entities if e.slug not in task.id)
        visit.go(task.website, f"/item/{other.slug}")
        visit.go(task.website, f"/item/{other.slug}/act", "POST")
        assert not visit.success(visit.play(task.metadata["plan"])), task.instruction
