"""A person who follows a script: trusted input by a DevTools channel of its own, as from mouse and keyboard."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.async_api import CDPSession, Page

_BITS = {"left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}
_MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
_CODES = {"Enter": 13, "Tab": 9, "Backspace": 8, "ArrowDown": 40, "ArrowLeft": 37, "Control": 17, " ": 32}


class ScriptedPerson:
    """Uses the window of one page; places are in CSS pixels of the viewport."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self.page = page
        self._cdp = cdp

    @classmethod
    async def at(cls, page: Page) -> ScriptedPerson:
        return cls(page, await page.context.new_cdp_session(page))

    async def move(self, x: float, y: float) -> None:
        await self._mouse("mouseMoved", x, y)

    async def press(self, x: float, y: float, button: str = "left", count: int = 1) -> None:
        await self._mouse("mousePressed", x, y, button=button, buttons=_BITS[button], clickCount=count)

    async def release(self, x: float, y: float, button: str = "left", count: int = 1) -> None:
        await self._mouse("mouseReleased", x, y, button=button, clickCount=count)

    async def click(self, x: float, y: float, button: str = "left", count: int = 1) -> None:
        await self.move(x, y)
        for number in range(1, count + 1):
            await self.press(x, y, button, number)
            await self.release(x, y, button, number)

    async def wheel(self, x: float, y: float, dx: float = 0, dy: float = 0) -> None:
        await self._mouse("mouseWheel", x, y, deltaX=dx, deltaY=dy)

    async def type(self, text: str) -> None:
        for character in text:
            await self.key(character)

    async def key(self, key: str, modifiers: Sequence[str] = (), commands: Sequence[str] = ()) -> None:
        bits = sum(_MODIFIERS[each] for each in modifiers)
        code = _CODES.get(key, ord(key.upper()) if len(key) == 1 else 0)
        told = {"key": key, "modifiers": bits, "windowsVirtualKeyCode": code}
        if text := {"Enter": "\r"}.get(key, key if len(key) == 1 and not modifiers else ""):
            told["text"] = text
        await self._cdp.send("Input.dispatchKeyEvent", {"type": "keyDown", **told, "commands": list(commands)})
        await self._cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "modifiers": bits})

    async def compose(self, *steps: str) -> None:
        """Compose a text by an input method; the last step is what it becomes."""
        for step in steps[:-1]:
            given = {"text": step, "selectionStart": len(step), "selectionEnd": len(step)}
            await self._cdp.send("Input.imeSetComposition", given)
        await self._cdp.send("Input.insertText", {"text": steps[-1]})

    async def enter_address(self, url: str) -> None:
        await self._cdp.send("Page.navigate", {"url": url})

    async def reload(self) -> None:
        await self._cdp.send("Page.reload")

    async def travel(self, step: int) -> None:
        """By the buttons of the window: -1 goes back."""
        history = await self._cdp.send("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] + step]
        await self._cdp.send("Page.navigateToHistoryEntry", {"entryId": entry["id"]})

    async def _mouse(self, kind: str, x: float, y: float, **more: float | str) -> None:
        await self._cdp.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})
