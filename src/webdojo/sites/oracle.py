"""Solves every embedded task through the agent's own tools: the teacher, and the proof that tasks can be done.

It looks at the DOM to find where things are, but acts only by tool calls with coordinates in
0..1000. Its plan is a list of sub-goals (`goal.py`) that it checks on whatever page it finds, so it
recovers from wrong turns, its own (`noise`) included. Its thoughts are short and regular:
`Red Mug is a Mug. Open Mugs.`, `Size is Large. Done.`
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Protocol

from webdojo.errors import TaskError
from webdojo.sites import parse_host
from webdojo.sites.site import canonical, load_site
from webdojo.types import Task, ToolCall

SCROLL_AMOUNT = 0.5
"""Fraction of the viewport that one scroll moves."""

_LOOK = """() => {
  const out = [];
  for (const el of document.querySelectorAll('a[href], button, input:not([type=hidden])')) {
    let box = el.getBoundingClientRect();
    if (el.tagName !== 'INPUT') {
      const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
      let best = 0;
      while (walker.nextNode()) {
        const text = walker.currentNode.textContent.trim();
        if (text.length <= best) continue;
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        const rect = range.getClientRects()[0];
        if (rect && rect.width) { best = text.length; box = rect; }
      }
    }
    if (!box.width || !box.height) continue;
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const inside = x >= 0 && x < innerWidth && box.top >= 0 && box.bottom <= innerHeight;
    const hit = inside ? document.elementFromPoint(x, y) : null;
    out.push({
      tag: el.tagName.toLowerCase(), text: el.innerText.trim(), name: el.name || '', x, y,
      href: el.tagName === 'A' && el.origin === location.origin ? el.pathname + el.search : '',
      action: el.form ? new URL(el.form.action).pathname : '',
      clear: !!hit && (hit === el || el.contains(hit)),
    });
  }
  return {path: location.pathname + location.search, host: location.hostname, width: innerWidth, height: innerHeight, elements: out};
}"""


class Session(Protocol):
    """What the oracle needs of a browser session: the Playwright page of the active tab."""

    @property
    def page(self) -> Any: ...


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
        self._site = load_site(*parse_host(task.website))
        self._plan: list[dict[str, str]] = task.metadata["plan"]
        self._next = 0
        self._noise = noise
        self._rng = random.Random(f"oracle-{task.id}-{seed}")

    async def step(self, session: Session) -> OracleStep:
        """Look at the page and say what to do next."""
        view = await session.page.evaluate(_LOOK)
        here = canonical(view["path"]) if view["host"] == self._task.website else ""
        note = ""
        while self._holds(self._plan[self._next], here):
            note = self._plan[self._next].get("note", "")
            self._next += 1
        goal = self._plan[self._next]
        wrong = self._wrong_turn(view)
        if wrong is not None:
            return wrong
        if not here:
            return OracleStep("This is a wrong site. Go back.", [ToolCall(name="goto_url", arguments={"url": self._task.start_url})])
        think, calls = self._toward(goal, view, here)
        return OracleStep(f"{note} {think}".strip(), calls)

    def _holds(self, goal: dict[str, str], here: str) -> bool:
        match goal["do"]:
            case "visit":
                return here == goal["path"]
            case "search":
                return here.lower() == self._search_path(goal["text"])
            case "add":
                return here == f"/added/{goal['item']}"
        return False

    def _toward(self, goal: dict[str, str], view: dict[str, Any], here: str) -> tuple[str, list[ToolCall]]:
        match goal["do"]:
            case "visit":
                return self._visit(goal["path"], view)
            case "search":
                return self._search(goal["text"], view)
            case "add":
                if here != f"/p/{goal['item']}":
                    return self._visit(f"/p/{goal['item']}", view)
                button = next(e for e in view["elements"] if e["tag"] == "button" and e["action"] == "/cart/add")
                return self._click(button, self._site.look.words["add"], view, f"This is {goal['name']}.", "Press")
        return f"{goal['because']} Done.", [ToolCall(name="done", arguments={"answer": goal["answer"]})]

    def _visit(self, path: str, view: dict[str, Any]) -> tuple[str, list[ToolCall]]:
        """Use the link to a path, or else the link to the nearest page on the way there."""
        target, why = path, ""
        while True:
            before, label = self._site.way_to(target)
            links = [e for e in view["elements"] if e["href"] and canonical(e["href"]) == target]
            if links:
                link = next((e for e in links if e["clear"]), links[0])
                return self._click(link, label, view, why or f"{label} is in view.", "Open", "it" if not why else label)
            if target == "/":
                return "Home is not in view. Go home.", [ToolCall(name="goto_url", arguments={"url": self._task.start_url})]
            why = self._site.reason(target)
            target = before

    def _search(self, text: str, view: dict[str, Any]) -> tuple[str, list[ToolCall]]:
        field = next(e for e in view["elements"] if e["tag"] == "input" and e["name"] == "q")
        label = self._site.look.words["search"]
        if not field["clear"]:
            return self._click(field, label, view, "", "")
        calls = [
            ToolCall(name="click", arguments=_point(field, view)),
            ToolCall(name="write", arguments={"text": text}),
            ToolCall(name="press_keys", arguments={"keys": ["Enter"]}),
        ]
        return f"{label} is in view. Write {text}.", calls

    def _click(
        self, element: dict[str, Any], label: str, view: dict[str, Any], why: str, verb: str, what: str = ""
    ) -> tuple[str, list[ToolCall]]:
        if element["clear"]:
            return f"{why} {verb} {what or label}.", [ToolCall(name="click", arguments=_point(element, view))]
        way = "up" if element["y"] < view["height"] / 2 else "down"
        call = ToolCall(name="scroll", arguments={"direction": way, "amount": SCROLL_AMOUNT})
        return f"{label} is not in view. Scroll {way}.", [call]

    def _wrong_turn(self, view: dict[str, Any]) -> OracleStep | None:
        if self._rng.random() >= self._noise:
            return None
        links = [e for e in view["elements"] if e["href"] and e["clear"]]
        if not links:
            return None
        link = self._rng.choice(links)
        name = " ".join(link["text"].split())
        return OracleStep(f"{name} is in view. Open it.", [ToolCall(name="click", arguments=_point(link, view))])

    def _search_path(self, text: str) -> str:
        return canonical(f"/search?q={text.lower().replace(' ', '+')}")


def _point(element: dict[str, Any], view: dict[str, Any]) -> dict[str, Any]:
    """Centre of an element in 0..1000 of the viewport."""
    return {"x": round(1000 * element["x"] / view["width"]), "y": round(1000 * element["y"] / view["height"])}
