"""Solves every embedded task through the agent's own tools: the teacher, and the proof that tasks can be done.

It looks at the DOM to find where things are, but acts only by tool calls with coordinates in
0..1000. Its plan is a list of sub-goals (`goal.py`) that it checks on whatever page it finds, so it
recovers from wrong turns, its own (`noise`) included, and from weather (`weather/recover.py`). A thought
is the goal, why and what, short and regular: `Open Red Mug. Red Mug is a Mug. Open Mugs.`, `What is the
Size of Red Mug? Size is Large. Done.`
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from webdojo.errors import TaskError
from webdojo.sites import parse_host
from webdojo.sites.oracle_forms import Move, click, drag, fill, narrow, open_menu, point
from webdojo.sites.oracle_map import reach
from webdojo.sites.site import canonical, href, load_site
from webdojo.sites.weather.recover import recover
from webdojo.types import Task, ToolCall

_LOOK = """() => {
  const out = [];
  const fields = 'input:not([type=hidden]), select, textarea, select:open option';
  const board = '[data-card], [data-column], [data-column] h2';
  for (const el of document.querySelectorAll(`a[href], button, ${fields}, ${board}`)) {
    const frame = el.getBoundingClientRect();
    let box = frame, best = 0;
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    while (!el.dataset.marker && walker.nextNode()) {
      const text = walker.currentNode.textContent.trim();
      if (text.length <= best) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      const rect = range.getClientRects()[0];
      if (rect && rect.width) { best = text.length; box = rect; }
    }
    if (!frame.width || !frame.height) continue;
    const x = (Math.max(box.left, frame.left) + Math.min(box.right, frame.right)) / 2;
    const y = (Math.max(box.top, frame.top) + Math.min(box.bottom, frame.bottom)) / 2;
    const inside = x >= 0 && x < innerWidth && y >= 8 && y <= innerHeight - 8;
    const hit = inside ? document.elementFromPoint(x, y) : null;
    out.push({
      tag: el.tagName.toLowerCase(), text: el.innerText.trim(), name: el.name || el.closest('select')?.name || '', x, y,
      type: el.type || '', value: el.value || '', checked: !!el.checked, label: el.labels?.[0]?.innerText.trim() || '',
      calendar: el.dataset.calendar || '', day: el.dataset.day || '',
      card: el.dataset.card || '',
      column: el.dataset.column || (el.tagName === 'H2' && el.parentElement.dataset.column) || '',
      marker: el.dataset.marker || '', zoom: el.dataset.zoom || '',
      hidden: getComputedStyle(el).visibility === 'hidden', menu: el.closest('[data-menu]')?.dataset.menu || '',
      into: el.closest('[data-column]')?.dataset.column || '',
      href: el.tagName === 'A' && el.origin === location.origin ? el.pathname + el.search : '',
      action: el.form ? new URL(el.form.getAttribute('action') || '', location).pathname : '',
      event: el.form?.elements.event?.value ?? '',
      clear: !!hit && (hit === el || el.contains(hit) || (!!el.labels && [...el.labels].some(l => l.contains(hit)))),
    });
  }
  const map = document.querySelector('[data-map]');
  const {left, top, right, bottom} = map?.querySelector('.sheet').getBoundingClientRect() || {};
  return {
    map: map && {left, top, right, bottom, card: map.dataset.opened || ''},
    path: location.pathname + location.search, host: location.hostname,
    status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0,
    width: innerWidth, height: innerHeight, elements: out,
  };
}"""


class Session(Protocol):
    """What the oracle needs of a browser session."""

    @property
    def page(self) -> Any:
        """The Playwright page of the active tab."""
        ...

    @property
    def active(self) -> Any:
        """The active tab; its `url` is the address asked for, even where nothing came."""
        ...


@dataclass(frozen=True)
class OracleStep:
    """One turn: a short thought and the calls that follow from it."""

    think: str
    calls: list[ToolCall]


class Oracle:
    """The scripted expert for one episode of one task.

    Args:
        task: an embedded task, with its plan in `metadata`.
        noise: chance of a wrong turn at each step, 0..1.
        seed: of the wrong turns.

    Raises:
        TaskError: the task has no plan.
    """

    def __init__(self, task: Task, noise: float = 0.0, seed: int = 0) -> None:
        if "plan" not in task.metadata:
            raise TaskError(f"task {task.id!r} has no plan in its metadata; the oracle solves embedded tasks only")
        self._task = task
        self._goal = task.metadata["restated"]
        self._site = load_site(*parse_host(task.website))
        self._plan: list[dict[str, Any]] = task.metadata["plan"]
        self._next = 0
        self._noise = noise
        self._lost = False
        """The last step was a wrong turn; the next one is not."""
        self._rng = random.Random(f"oracle-{task.id}-{seed}")

    async def step(self, session: Session) -> OracleStep:
        """Look at the page and say what to do next."""
        step = await self._decide(session)
        return OracleStep(f"{self._goal} {step.think}", step.calls)

    async def _decide(self, session: Session) -> OracleStep:
        view = await session.page.evaluate(_LOOK)
        remedy = recover(view, session.active.url)
        if remedy is not None:
            target = remedy.target
            call = target if isinstance(target, ToolCall) else ToolCall(name="click", arguments=point(target, view))
            return OracleStep(remedy.think, [call])
        note, first = "", self._next
        while self._holds(self._plan[self._next], view):
            note = self._plan[self._next].get("note", "")
            self._next += 1
        if self._next == first:  # what was just reached must not be left before it is used
            wrong = self._wrong_turn(view)
            if wrong is not None:
                return wrong
        goal = self._plan[self._next]
        if not self._here(goal, view):
            if host := goal.get("site", ""):
                calls = [ToolCall(name="new_tab")] if len(self._task.id) % 2 else []
                calls.append(ToolCall(name="goto_url", arguments={"url": f"http://{host}/"}))
                return OracleStep(f"{note} The other site is {host}. Go there.".lstrip(), calls)
            back = ToolCall(name="goto_url", arguments={"url": self._task.start_url})
            return OracleStep("This is not the site. Go back.", [back])
        self._site = load_site(*parse_host(view["host"]))
        why, what, calls = self._toward(goal, view, self._here(goal, view))
        return OracleStep(f"{note or why} {what}", calls)

    def _here(self, goal: dict[str, Any], view: dict[str, Any]) -> str:
        """The page that the browser shows, as path with query; empty where it is not of the sub-goal's site."""
        return canonical(view["path"]) if view["host"] == goal.get("site", self._task.website) else ""

    def _holds(self, goal: dict[str, Any], view: dict[str, Any]) -> bool:
        here = self._here(goal, view)
        match goal["do"]:
            case "visit":
                return here == goal["path"]
            case "search":
                return here.lower() == self._search_path(goal["text"])
            case "add":
                return here == f"/added/{goal['item']}"
            case "form":
                return here == goal["lands"]
            case "marker":
                return bool(view["map"]) and view["map"]["card"] == goal["marker"]
            case "drag":
                return any(e["card"] == goal["card"] and e["into"] == goal["column"] for e in view["elements"])
        return False

    def _toward(self, goal: dict[str, Any], view: dict[str, Any], here: str) -> Move:
        match goal["do"]:
            case "visit":
                return self._visit(goal["path"], view, goal.get("via", ""))
            case "search":
                return self._search(goal["text"], view)
            case "form":
                move = fill(goal["action"], goal["values"], view)
                return move or self._visit(goal["at"], view, goal.get("via", ""))
            case "marker":
                move = reach(goal["marker"], goal["name"], view)
                return move or self._visit(goal["at"], view)
            case "drag":
                move = drag(goal["card"], goal["column"], view)
                return move or self._visit(goal["at"], view)
            case "add":
                if here != f"/p/{goal['item']}":
                    return self._visit(f"/p/{goal['item']}", view)
                button = next(e for e in view["elements"] if e["tag"] == "button" and e["action"] == "/cart/add")
                return click(button, self._site.look.words["add"], f"This is {goal['name']}.", "Press", view)
        return goal["because"], "Done.", [ToolCall(name="done", arguments={"answer": goal["answer"]})]

    def _visit(self, path: str, view: dict[str, Any], via: str = "") -> Move:
        """Use the link to a path, or else the link to the nearest page on the way there; `via` has one, if given."""
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
            target = before
        link = next((e for e in links if e["clear"]), links[0])
        if link["hidden"] and link["menu"]:
            return open_menu(link["menu"], view)
        why = f"{label} is in view."
        if target != path:
            lost = target == "/" or "page=" in target
            why = f"{name} is not here." if lost else self._site.reason(path) or why
        return click(link, label, why, "Open", view)

    def _search(self, text: str, view: dict[str, Any]) -> Move:
        field = next(e for e in view["elements"] if e["tag"] == "input" and e["name"] == "q")
        label = self._site.look.words["search"]
        why, what, calls = click(field, label, f"{label} is in view.", "Open", view)
        if not field["clear"]:
            return why, what, calls
        write = ToolCall(name="write", arguments={"text": text})
        return why, f"Write {text}.", [*calls, write, ToolCall(name="press_keys", arguments={"keys": ["Enter"]})]

    def _wrong_turn(self, view: dict[str, Any]) -> OracleStep | None:
        if self._lost or self._rng.random() >= self._noise:
            self._lost = False
            return None
        links = [e for e in view["elements"] if e["href"] and e["clear"]]
        if not links:
            return None
        self._lost = True
        link = self._rng.choice(links)
        name = " ".join(link["text"].split()).lstrip("->* ")
        return OracleStep(f"{name} is in view. Open {name}.", [ToolCall(name="click", arguments=point(link, view))])

    def _search_path(self, text: str) -> str:
        return href("/search", q=text).lower()
