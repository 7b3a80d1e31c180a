"""What the scripted MiniWoB++ agent sees: it reads the DOM to decide, and never touches it."""

from __future__ import annotations

import json
import re
from typing import Any

from webdojo.browser.session import BrowserSession
from webdojo.types import ToolCall

_SPOT = """([fx, fy]) => {
  const element = %s;
  if (!element) throw new Error('not on the page: ' + %s);
  const box = element.getClientRects()[0] || element.getBoundingClientRect();
  const inside = [[.5, .5], [.2, .2], [.8, .8], [.2, .8], [.8, .2], [.5, .15], [.5, .85], [.15, .5], [.85, .5]];
  const shares = fx === null ? inside : [[fx, fy]];
  const spots = shares.map(([x, y]) => [box.left + x * box.width, box.top + y * box.height]);
  const clear = ([x, y]) => {
    const hit = document.elementFromPoint(x, y);
    return !!hit && (hit === element || element.contains(hit));
  };
  const best = spots.find(clear);
  return {spot: best || spots[0], clear: !!best};
}"""


def css(selector: str, n: int = 0) -> str:
    """The n-th element of a selector, as JavaScript."""
    return f"document.querySelectorAll({json.dumps(selector)})[{n}]"


def said(selector: str, text: str) -> str:
    """The first element of a selector that is shown and says just this text, as JavaScript."""
    return (
        f"[...document.querySelectorAll({json.dumps(selector)})]"
        f".find(e => e.getClientRects().length && e.textContent.trim() === {json.dumps(text)})"
    )


def wait(seconds: float) -> ToolCall:
    return ToolCall(name="wait", arguments={"seconds": seconds})


def write(text: str) -> ToolCall:
    return ToolCall(name="write", arguments={"text": text})


def press(*keys: str) -> ToolCall:
    return ToolCall(name="press_keys", arguments={"keys": list(keys)})


class Look:
    """One page, by the eyes of a script. Elements are JavaScript expressions (`css`, `said`); spots are CSS pixels."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session

    async def js(self, script: str) -> Any:
        return await self._session.page.evaluate(script)

    async def utterance(self) -> str:
        said = await self.js("core.getUtterance()")
        return said if isinstance(said, str) else said["utterance"]

    async def asked(self, pattern: str) -> tuple[str, ...]:
        """The groups of a pattern in the utterance."""
        utterance = await self.utterance()
        found = re.search(pattern, utterance)
        assert found, f"{pattern} is not in {utterance!r}"
        return found.groups()

    async def quoted(self) -> list[str]:
        return re.findall(r'"([^"]*)"', await self.utterance())

    async def text(self, element: str) -> str:
        return (await self.js(f"({element}).textContent")).strip()

    async def texts(self, selector: str) -> list[str]:
        return await self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent.trim())")

    async def there(self, element: str) -> bool:
        """Whether there is such an element, shown."""
        return await self.js(f"!!(e => e && e.getClientRects().length)({element})")

    async def clear(self, element: str) -> bool:
        """Whether a click on its middle would reach it."""
        return (await self._see(element, 0.5, 0.5))["clear"]

    async def spot(self, element: str, fx: float | None = None, fy: float | None = None) -> tuple[float, float]:
        """A spot where a click reaches the element, or the given fractions of its box."""
        x, y = (await self._see(element, fx, fy))["spot"]
        return x, y

    async def click(self, element: str) -> ToolCall:
        return self.click_at(await self.spot(element))

    async def hover(self, element: str) -> ToolCall:
        return ToolCall(name="hover", arguments=self._point(await self.spot(element)))

    async def fill(self, element: str, text: str) -> list[ToolCall]:
        """Click a field and write into it."""
        return [await self.click(element), write(text)]

    async def scroll(self, element: str, direction: str, amount: float) -> ToolCall:
        point = self._point(await self.spot(element))
        return ToolCall(name="scroll", arguments={"direction": direction, "amount": amount, **point})

    async def drag(self, element: str, to: tuple[float, float]) -> ToolCall:
        return self.drag_from(await self.spot(element), to)

    def click_at(self, spot: tuple[float, float]) -> ToolCall:
        return ToolCall(name="click", arguments=self._point(spot))

    def drag_from(self, start: tuple[float, float], end: tuple[float, float]) -> ToolCall:
        a, b = self._point(start), self._point(end)
        return ToolCall(name="drag", arguments={"x1": a["x"], "y1": a["y"], "x2": b["x"], "y2": b["y"]})

    async def _see(self, element: str, fx: float | None, fy: float | None) -> dict[str, Any]:
        return await self._session.page.evaluate(_SPOT % (element, json.dumps(element)), [fx, fy])

    def _point(self, spot: tuple[float, float]) -> dict[str, int]:
        width, height = self._session.viewport_px
        return {"x": round(1000 * spot[0] / width), "y": round(1000 * spot[1] / height)}
