"""BrowserGym and plain Playwright in the gauntlet of `tests/browser/gauntlet`, as their users drive them."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

from browser_peers import BrowserGymHand, open_worker
from playwright.async_api import Browser, BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from tests.browser.gauntlet.pages import Json, Step

VIEWPORT_PX = (1000, 800)


class PlaywrightSession:
    """A context with its newest page; the agent is told what Playwright raises, and nothing else."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self._context, self._page = context, page
        context.on("page", self._follow)

    @classmethod
    async def open(cls, browser: Browser, url: str) -> PlaywrightSession:
        width, height = VIEWPORT_PX
        context = await browser.new_context(viewport={"width": width, "height": height})
        page = await context.new_page()
        await page.goto(url)
        return cls(context, page)

    def _follow(self, page: Page) -> None:
        self._page = page

    async def do(self, step: Step) -> str:
        try:
            await self._do(*step)
            return ""
        except PlaywrightError as error:
            return error.message.splitlines()[0]

    async def _do(self, name: str, given: dict[str, Any]) -> None:
        page, mouse = self._page, self._page.mouse
        match name:
            case "click":
                await mouse.click(given["x"], given["y"])
            case "double_click":
                await mouse.dblclick(given["x"], given["y"])
            case "right_click":
                await mouse.click(given["x"], given["y"], button="right")
            case "write":
                await page.keyboard.press("ControlOrMeta+a")
                await page.keyboard.insert_text(given["text"])
            case "press_keys":
                for key in given["keys"]:
                    await page.keyboard.press(chord(key))
            case "scroll":
                await mouse.move(given["x"], given["y"])
                await mouse.wheel(given["dx"], given["dy"])
            case "drag":
                await mouse.move(given["x"], given["y"])
                await mouse.down()
                await mouse.move(given["to_x"], given["to_y"], steps=6)
                await mouse.up()
            case "go_back":
                await page.go_back()
            case "goto":
                await page.goto(given["url"])
            case "wait":
                await asyncio.sleep(given["seconds"])
            case "switch_tab":
                self._page = self._context.pages[given["index"]]
                await self._page.bring_to_front()
            case "close_tab":
                await self._context.pages[given["index"]].close()
                self._page = self._context.pages[-1]

    async def picture(self) -> bytes:
        return await self._page.screenshot()

    async def evaluate(self, expression: str) -> Json:
        found: Json = await self._page.evaluate(expression)
        return found

    async def address(self) -> str:
        return self._page.url

    async def tabs(self) -> int:
        return len(self._context.pages)

    async def close(self) -> None:
        await self._context.close()


class BrowserGymSession:
    """An environment with coordinate actions; the agent is told the error of its last action."""

    def __init__(self, hand: BrowserGymHand) -> None:
        self._hand = hand
        self._seen: dict[str, Any] = {}

    @classmethod
    async def open(cls, python: str, executable: str, url: str) -> BrowserGymSession:
        hand = await open_worker(python, {"executable": executable, "delays": True, "viewport": VIEWPORT_PX}, url)
        session = cls(hand)
        await session._act("noop(0)")
        return session

    async def _act(self, action: str) -> str:
        self._seen = await self._hand.ask({"do": "act", "action": action})
        return str(self._seen["said"])

    async def do(self, step: Step) -> str:
        return await self._act(_action(*step))

    async def picture(self) -> bytes:
        return base64.b64decode(self._seen["picture"])

    async def evaluate(self, expression: str) -> Json:
        found: Json = (await self._hand.ask({"do": "evaluate", "expression": expression}))["value"]
        return found

    async def address(self) -> str:
        return str(self._seen["url"])

    async def tabs(self) -> int:
        return int(self._seen["tabs"])

    async def close(self) -> None:
        await self._hand.close()


def _action(name: str, given: dict[str, Any]) -> str:
    """A step in BrowserGym's own language."""
    at = f"{given.get('x')}, {given.get('y')}"
    match name:
        case "click":
            return f"mouse_click({at})"
        case "double_click":
            return f"mouse_dblclick({at})"
        case "right_click":
            return f"mouse_click({at}, button='right')"
        case "write":
            return f"keyboard_press('Control+a')\nkeyboard_insert_text({given['text']!r})"
        case "press_keys":
            return "\n".join(f"keyboard_press({chord(key)!r})" for key in given["keys"])
        case "scroll":
            return f"scroll_at({at}, {given['dx']}, {given['dy']})"
        case "drag":
            return f"mouse_drag_and_drop({at}, {given['to_x']}, {given['to_y']})"
        case "go_back":
            return "go_back()"
        case "goto":
            return f"goto({json.dumps(given['url'])})"
        case "wait":
            return f"noop({1000 * given['seconds']:g})"
        case "switch_tab":
            return f"tab_focus({given['index']})"
    return f"tab_focus({given['index']})\ntab_close()"


def chord(key: str) -> str:
    """A key as Playwright names it."""
    names = {"ctrl": "Control", "shift": "Shift", "alt": "Alt", "cmd": "Meta", "enter": "Enter", "esc": "Escape"}
    parts = [names.get(part.lower(), part) for part in (key.split("+") if len(key) > 1 else [key])]
    return "+".join(part if len(part) == 1 else part[0].upper() + part[1:] for part in parts)
