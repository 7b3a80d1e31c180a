"""Solves every embedded task through the agent's own tools: the teacher, and the proof that tasks can be done.

The oracle looks at the DOM to find where things are, but acts only by tool calls with coordinates in 0..1000. Its plan
is a list of sub-goals (`goal.py`). It checks them on whatever page it finds, so it recovers from wrong turns, its own
(`noise`) included, and from perturbations. A thought says the goal, the reason and the next action in
short, regular sentences: `Open Red Mug. Red Mug is a Mug. Open Mugs.`, `What is the Size of Red Mug? Size is Large.
Done.`
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.browser.session import BrowserSession
from webdojo.errors import TaskError
from webdojo.sites.kinds import site_of
from webdojo.sites.oracle.moves import Move, by_menu, click, drag, fill, narrow, reach, recover, write
from webdojo.sites.oracle.page import PageView, read_page
from webdojo.sites.site import canonical, href
from webdojo.types import Task, ToolCall, View


@dataclass(frozen=True)
class OracleStep:
    """One turn: a short thought and the calls that follow from it."""

    think: str
    calls: list[ToolCall]


class Oracle:
    """The scripted expert for one episode of one task; `noise` is the chance of a wrong turn at each step, 0..1.

    For an agent whose `view` is the whole page, it does not scroll to what is out of view and chooses from lists by
    typing; its points may lie beyond 0..1000.
    """

    def __init__(self, task: Task, noise: float = 0.0, seed: int | str = 0, view: View | None = None) -> None:
        if "plan" not in task.metadata:
            raise TaskError(f"task {task.id!r} has no plan in its metadata; the oracle solves embedded tasks only")
        self._task = task
        self._goal = task.metadata["restated"]
        self._site = site_of(task)
        self._plan: list[dict[str, Any]] = task.metadata["plan"]
        self._next = 0
        self._noise = noise
        self._whole_page = view is not None and view.whole_page
        self._lost = False
        """The last step was a wrong turn. The next one goes back, so that filters chosen so far are not lost."""
        self._now: tuple[Any, str] = (None, "")
        """The tab and the page that were seen last."""
        self._before = ""
        """The page that the active tab showed before the current one; empty if unknown."""
        self._returned = -1
        """The sub-goal for which the oracle last went back."""
        self._rng = random.Random(f"oracle-{task.id}-{seed}")

    async def step(self, session: BrowserSession) -> OracleStep:
        """Look at the page and say what to do next."""
        why, what, calls = await self._decide(session)
        return OracleStep(" ".join(said for said in (self._goal, why, what) if said), calls)

    async def _decide(self, session: BrowserSession) -> Move:
        view = await read_page(session.page)
        now = (session.active, f"{view['host']}{canonical(view['path'])}")
        if now != self._now:
            self._before = self._now[1] if now[0] is self._now[0] else ""
            self._now = now
        if (remedy := recover(view, session.active.url)) is not None:
            return remedy
        view["whole"] = self._whole_page
        if self._whole_page:
            for element in view["elements"]:
                element["clear"] |= not element["hidden"]
                element["x"], element["y"] = element["seen"]
        note, first = "", self._next
        lost, self._lost = self._lost, False
        while self._holds(self._plan[self._next], view):
            note = self._plan[self._next].get("note", "")
            self._next += 1
        if self._next == first and not self._filling(view):  # a page that was just reached is used before it is left
            wrong = self._wrong_turn(view, lost)
            if wrong is not None:
                return wrong
        goal = self._plan[self._next]
        if self._next != first and (leave := self._back_to_first_tab(goal, session)) is not None:
            return note, "The next thing is on the first tab. Go there.", [leave]
        if here := self._here(goal, view):
            self._site = site_of(self._task, view["host"])
            why, what, calls = self._toward(goal, view, here)
            return note or why, what, calls
        if not (host := goal.get("site", "")):
            back = ToolCall(name="goto_url", arguments={"url": self._task.start_url})
            return "This is not the site.", "Go back.", [back]
        for path, where in ((goal.get("path", "/"), "It is in the box."), ("/", "It is on another site.")):
            link = next((e for e in view["elements"] if e["away"] == f"http://{host}{path}"), None)
            if link is not None:
                why, what, calls = click(link, link["text"].split("\n")[0], where, "Open", view)
                return note or why, what, calls
        calls = [ToolCall(name="new_tab")] if len(self._task.id) % 2 else []
        calls.append(ToolCall(name="goto_url", arguments={"url": f"http://{host}/"}))
        return note, f"The other site is {host}. Go there.", calls

    def _filling(self, view: PageView) -> bool:
        """Whether the page has the form of the sub-goal, whose fields a wrong turn would empty again."""
        goal = self._plan[self._next]
        sent_to = goal.get("action") or urlsplit(goal.get("path", "")).path
        return any(e["action"] == sent_to for e in view["elements"] if e["action"])

    def _here(self, goal: dict[str, Any], view: PageView) -> str:
        """The page that the browser shows, as path with query; empty if it is not on the sub-goal's site."""
        return canonical(view["path"]) if view["host"] == goal.get("site", self._task.website) else ""

    def _holds(self, goal: dict[str, Any], view: PageView) -> bool:
        here = self._here(goal, view)
        match goal["do"]:
            case "visit":
                return here == goal["path"]
            case "search":
                return here.lower() == href("/search", q=goal["text"]).lower()
            case "add":
                return here == f"/added/{goal['item']}"
            case "form" | "menu":
                return bool(here) and goal["lands"] in (here, *view["frames"])
            case "marker":
                return here == f"/map/card/{goal['marker']}" or (
                    bool(view["map"]) and view["map"]["card"] == goal["marker"]
                )
            case "drag":
                return any(e["card"] == goal["card"] and e["into"] == goal["column"] for e in view["elements"])
        return False

    def _back_to_first_tab(self, goal: dict[str, Any], session: BrowserSession) -> ToolCall | None:
        """A call that leaves a tab which a link opened, once what it shows is known; None if there is no need."""
        at = session.tabs.index(session.active)
        first = urlsplit(session.tabs[0].url).hostname
        if not at or goal["do"] == "done" or first != goal.get("site", self._task.website):
            return None
        if at == 1 and len(self._task.id) % 2:
            return ToolCall(name="close_tab")
        return ToolCall(name="switch_tab", arguments={"index": 0})

    def _toward(self, goal: dict[str, Any], view: PageView, here: str) -> Move:
        move: Move | None = None
        at = goal.get("at") or goal.get("path", "")
        match goal["do"]:
            case "search":
                return self._search(goal["text"], view)
            case "done":
                return goal["because"], "Done.", [ToolCall(name="done", arguments={"answer": goal["answer"]})]
            case "form":
                move = fill(goal["action"], goal["values"], view)
            case "menu":
                move = by_menu(goal["item"], goal["name"], goal["action"], view)
            case "marker":
                move = reach(goal["marker"], goal["name"], view)
            case "drag":
                move = drag(goal["card"], goal["column"], view)
            case "add":
                at = f"/p/{goal['item']}"
                if here == at:
                    button = next(e for e in view["elements"] if e["tag"] == "button" and e["action"] == "/cart/add")
                    return click(button, self._site.look.words["add"], f"This is {goal['name']}.", "Press", view)
        return move or self._visit(at, view, goal.get("via", ""))

    def _visit(self, path: str, view: PageView, via: str = "") -> Move:
        """Use the link to a path, which stands on the page `via` if there is one, or to the nearest page on the way."""
        target, name = path, self._site.way_to(path)[1]
        while True:
            before, label = self._site.way_to(target)
            if target == path and via:
                before = via
            links = [e for e in view["elements"] if e["href"] and canonical(e["href"]) == target]
            if links:
                break
            if target.startswith("/search?"):
                return self._search(dict(parse_qsl(urlsplit(target).query))["q"], view)
            if (move := narrow(target, view)) is not None:
                return move
            assert target != "/", "every page links to home"
            if canonical(view["path"]) == before:  # this list shows the link on another of its pages
                return self._search(label, view)
            target = before
        if via and target == via and self._before == f"{view['host']}{via}" and self._returned != self._next:
            self._returned = self._next
            return f"{name} is on the page before.", "Go back.", [ToolCall(name="go_back")]
        link = next((e for e in links if e["clear"]), links[0])
        if link["hidden"] and link["menu"]:
            button = next(e for e in view["elements"] if e["menu"] == link["menu"] and e["tag"] == "button")
            return click(button, button["text"], "The menu is closed.", "Point at", view, "hover")
        why = f"{label} is in view."
        if target != path:
            lost = target == "/" or "page=" in target
            why = f"{name} is not here." if lost else self._site.reason(path) or why
        return click(link, label, why, "Open", view)

    def _search(self, text: str, view: PageView) -> Move:
        field = next(e for e in view["elements"] if e["tag"] == "input" and e["name"] == "q")
        label = self._site.look.words["search"]
        enter = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
        return write(field, label, text, view, f"{label} is in view.", enter)

    def _wrong_turn(self, view: PageView, lost: bool) -> Move | None:
        """A wrong turn, or the way back if the last step was one; None: neither is due."""
        if lost:
            return "This is not the page.", "Go back.", [ToolCall(name="go_back")]
        if self._rng.random() >= self._noise:
            return None
        links = [e for e in view["elements"] if e["href"] and e["clear"] and e["text"]]
        if not links:
            return None
        self._lost = True
        link = self._rng.choice(links)
        name = " ".join(link["text"].split()).lstrip("->* ")
        return click(link, name, f"{name} is in view.", "Open", view)
