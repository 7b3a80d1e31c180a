"""webdojo's browser in the gauntlet."""

from __future__ import annotations

import math
from typing import Any

from tests.browser.gauntlet.pages import Json, Step
from tests.browser.gauntlet.run import ADDRESSES, Session
from webdojo.browser.config import BrowserConfig, GuardConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.store.images import MemoryImages
from webdojo.types import Observation, ToolCall

CONFIG = BrowserConfig(
    viewport_px=(1000, 800),
    action_timeout_s=8,
    ready_cap_s=3,
    step_retries=0,
    guard=GuardConfig(private_hosts=[ADDRESSES["main"], ADDRESSES["other"]], connections_per_second=0),
)


class OurSession:
    """A session, as the gauntlet leads it: a step, and the picture after it."""

    def __init__(self, session: BrowserSession, images: MemoryImages) -> None:
        self._session = session
        self._images = images
        self._seen: Observation | None = None

    async def do(self, step: Step) -> str:
        result = await self._session.act([ToolCall(name=name, arguments=given) for name, given in _calls(*step)])
        if step[0] == "write" and "no field is focused" in result.feedback[-1].text:  # the other tool that types
            result = await self._session.act([ToolCall(name="press_keys", arguments={"keys": list(step[1]["text"])})])
        return "\n".join(each.text for each in result.feedback)

    async def picture(self) -> bytes:
        self._seen = await self._session.observe()
        return self._images.get(self._seen.screenshot)

    async def evaluate(self, expression: str) -> Json:
        found: Json = await self._session.active.world.call(f"() => ({expression})")
        return found

    async def address(self) -> str:
        assert self._seen is not None
        return self._seen.url

    async def tabs(self) -> int:
        assert self._seen is not None
        return len(self._seen.tabs)

    async def close(self) -> None:
        await self._session.close()


def _calls(name: str, given: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls of our tools for a step of the gauntlet, whose points are in pixels."""
    width, height = CONFIG.viewport_px
    points = {"x": width, "y": height, "to_x": width, "to_y": height}
    at = {key: round(1000 * given[key] / size) for key, size in points.items() if key in given}
    match name:
        case "click":
            return [("click", at)]
        case "double_click":
            return [("click", {**at, "click_type": "double"})]
        case "right_click":
            return [("click", {**at, "button": "right"})]
        case "drag":
            return [("drag", {"x1": at["x"], "y1": at["y"], "x2": at["to_x"], "y2": at["to_y"]})]
        case "scroll":
            ways = [("down" if given["dy"] > 0 else "up", abs(given["dy"]) / height)]
            ways += [("right" if given["dx"] > 0 else "left", abs(given["dx"]) / width)]
            return [
                ("scroll", {**at, "direction": way, "amount": min(10, amount - done)})
                for way, amount in ways
                for done in range(0, math.ceil(amount), 10)
            ]
        case "goto":
            return [("goto_url", given)]
        case "close_tab":
            return [("switch_tab", given), ("close_tab", {})]
    return [(name, given)]


async def open_session(pool: BrowserPool, images: MemoryImages, url: str) -> Session:
    return OurSession(await pool.open(url), images)
