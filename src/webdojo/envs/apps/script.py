"""Does a task of an application by its plan, through the agent's own tools: the proof that it can be done.

It looks at the DOM to find where things are, but acts only by tool calls with coordinates in 0..1000. Each step of a
plan is done once, and scrolled to first:

Texts are compared without regard to capitals, which styles change.

| step | does |
|---|---|
| `{"do": "click", "text": t}` | click the link or button with this text; `near` is a text of its row |
| `{"do": "click", "href": p}` | click the link whose path begins with this one; with `text`, one that has it |
| `{"do": "click", "css": s}` | click what this selector finds; with `text`, what has it |
| `{"do": "write", "field": f, "text": t}` | write into the field of this name, or `css`; with `enter`, press Enter |
| `{"do": "choose", "field": f, "option": o}` | choose from the list of this name |
| `{"do": "tick", "field": f, "near": t}` | click the box of this name in the row that has this text |
| `{"do": "page", "text": t, "next": n}` | click `n` (of this `css`) until the page has a link with this text |
| `{"do": "see", "css": s, "text": t}` | wait until the page shows this, without clicking it |
| `{"do": "go", "path": p}` | go to this path, or to an address of another application |
| `{"do": "wait", "seconds": s}` | wait, such as for a dialog that takes the focus when it has opened |
| `{"do": "done", "answer": a}` | end the episode |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from webdojo.browser.page.world import until_read
from webdojo.browser.session import BrowserSession
from webdojo.errors import TaskError
from webdojo.types import Task, ToolCall

_SCROLL = 0.5
_PATIENCE = 6
"""Turns that a step waits for its element."""
_READ = """css => {
  const said = el => (el.innerText || el.value || el.ariaLabel || el.title || '').trim().replace(/\\s+/g, ' ');
  const out = [];
  for (const el of document.querySelectorAll(
    `a[href], button, input:not([type=hidden]), select, textarea${css ? `, ${css}` : ''}`)) {
    const box = [...el.getClientRects()].find(each => each.width && each.height);
    if (!box || getComputedStyle(el).visibility === 'hidden') continue;
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const hit = x >= 0 && x < innerWidth && y >= 4 && y <= innerHeight - 4 ? document.elementFromPoint(x, y) : null;
    const row = el.closest('tr, article, li, form');
    out.push({
      tag: el.tagName.toLowerCase(), text: said(el), name: el.name || '', x, y,
      css: !!css && el.matches(css), path: el.tagName === 'A' ? el.pathname + el.search : '',
      row: row ? row.innerText.replace(/\\s+/g, ' ') : '',
      clear: !!hit && (hit === el || el.contains(hit) || hit.contains(el) && hit.tagName === 'LABEL'),
    });
  }
  return {width: innerWidth, height: innerHeight, elements: out};
}"""


@dataclass(frozen=True)
class PlanStep:
    """One turn: a short thought and the calls that follow from it."""

    think: str
    calls: list[ToolCall]


class PlanScript:
    """The script of one episode of one task."""

    def __init__(self, task: Task) -> None:
        if task.evaluator.get("type") != "apps" or "plan" not in task.metadata:
            raise TaskError(f"task {task.id!r} has no plan in its metadata; the script does tasks of applications only")
        self._task = task
        self._plan: list[dict[str, Any]] = task.metadata["plan"]
        self._next = self._waited = 0

    async def step(self, session: BrowserSession) -> PlanStep:
        """Look at the page and say what to do next."""
        goal = self._plan[self._next]
        match goal["do"]:
            case "done":
                return self._did(f"{goal['answer']}.", ToolCall(name="done", arguments={"answer": goal["answer"]}))
            case "go":
                url = urljoin(self._task.start_url, goal["path"])
                return self._did(f"Go to {goal['path']}.", ToolCall(name="goto_url", arguments={"url": url}))
            case "wait":
                return self._did("It is opening.", ToolCall(name="wait", arguments={"seconds": goal["seconds"]}))
        view = await until_read(lambda: session.page.evaluate(_READ, goal.get("css", "")))
        if goal["do"] == "page":
            if _find({"do": "click", "text": goal["text"]}, view["elements"]) is not None:
                self._next += 1
                return await self.step(session)
            element = _find({"do": "click", "text": goal["next"], "css": goal.get("css", "")}, view["elements"])
            return self._reach(element, view, f"{goal['text']} is not here", goal["next"], advance=False)
        element = _find(goal, view["elements"])
        if goal["do"] == "see" and element is not None:
            self._next, self._waited = self._next + 1, 0
            return await self.step(session)
        label = goal.get("field") or goal.get("text") or goal.get("css") or goal["href"]
        match goal:
            case {"do": "write", "text": text}:
                then = [ToolCall(name="write", arguments={"text": text})]
                if goal.get("enter"):
                    then.append(ToolCall(name="press_keys", arguments={"keys": ["Enter"]}))
            case {"do": "choose", "option": option}:
                then = [ToolCall(name="write", arguments={"text": option})]
            case _:
                then = []
        return self._reach(element, view, "It is next", str(label), *then)

    def _reach(
        self, element: dict[str, Any] | None, view: dict[str, Any], why: str, label: str, *then: ToolCall,
        advance: bool = True,
    ) -> PlanStep:  # fmt: skip
        """Click an element and go on from there, or scroll towards it if it is not in view."""
        if element is None:
            self._waited += 1
            if self._waited > _PATIENCE:
                gave_up = ToolCall(name="done", arguments={"answer": f"I could not find {label}, so it is not done."})
                return PlanStep(f"{label} is nowhere.", [gave_up])
            return PlanStep(f"{label} is not there yet.", [ToolCall(name="wait", arguments={"seconds": 1})])
        self._waited = 0
        if not element["clear"]:
            way = "up" if element["y"] < view["height"] / 2 else "down"
            call = ToolCall(name="scroll", arguments={"direction": way, "amount": _SCROLL})
            return PlanStep(f"{label} is not in view. Scroll {way}.", [call])
        point = {"x": round(1000 * element["x"] / view["width"]), "y": round(1000 * element["y"] / view["height"])}
        self._next += advance
        return PlanStep(f"{why}. Click {label}.", [ToolCall(name="click", arguments=point), *then])

    def _did(self, think: str, *calls: ToolCall) -> PlanStep:
        self._next += 1
        return PlanStep(think, list(calls))


def _find(goal: dict[str, Any], elements: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The first element that a step is about, one in view if there is one."""

    def meant(element: dict[str, Any]) -> bool:
        if goal.get("near", "") not in element["row"]:
            return False
        if goal.get("css"):
            return element["css"] and (goal["do"] == "write" or goal.get("text", element["text"]) == element["text"])
        if goal["do"] in ("click", "page"):
            said = element["text"].casefold() == goal["text"].casefold() if goal.get("text") else True
            return said and element["path"].startswith(goal.get("href", "")) and element["tag"] != "select"
        return bool(element["name"] == goal["field"])

    found = [element for element in elements if meant(element)]
    return next((element for element in found if element["clear"]), found[0] if found else None)
