"""Applications that nobody here wrote, and how they are walked through: by the tools alone, each step checked.

A step is one call. Afterwards `Walk` checks that its feedback is the expected one, that what the observation tells
is so, that the picture has the size that it is said to have, and what the page itself says, read out of the
agent's sight. Points are found out of its sight, too.
"""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import pytest_asyncio
from PIL import Image

from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig, GuardConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.browser.tools import COORDINATE_MAX, TOOLS
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

PRICES = "item,price\nmug,4\ncup,3\n"
_TEXT = "document.body?.innerText"
_MOST_WAITS = 40
"""Of half a second, for what a server does after the call has returned."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def served(
    command: Sequence[str | Path], url: str, folder: Path, environment: Mapping[str, str] = {}
) -> Iterator[None]:
    """Run a server in a folder until the block ends; then end it with all that it has started."""
    log = folder.parent / f"{folder.name}.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, cwd=folder, env=os.environ | environment, stdout=output, stderr=output, start_new_session=True
        ) as server,
    ):
        family = [psutil.Process(server.pid)]
        try:
            for _ in range(600):
                assert server.poll() is None, log.read_text()
                try:
                    httpx.get(url, trust_env=False).raise_for_status()
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            else:
                raise AssertionError(f"{url} does not answer: {log.read_text()}")
            yield
            family += family[0].children(recursive=True)
        finally:
            server.send_signal(signal.SIGTERM)
            _, alive = psutil.wait_procs(family, 10)
            for process in alive:
                process.kill()


class Walk:
    """Takes steps through an application, and checks after each what is true."""

    def __init__(self, session: BrowserSession, images: MemoryImages) -> None:
        self.session = session
        self.used: list[str] = []
        """The tool of each step so far."""
        self._images = images

    async def do(self, name: str, *, says: str, then: str = "", soon: str = "", **arguments: Any) -> None:
        """Take a step.

        Args:
            says: pattern of the whole feedback.
            then: JavaScript that is true of the page when the call has returned.
            soon: JavaScript that becomes true, for an agent that waits.
        """
        before = await self.session.page.evaluate(_TEXT)
        result = await self.session.act([ToolCall(name=name, arguments=arguments)])
        self.used.append(name)
        step = f"step {len(self.used)}, {name} {arguments}"
        (feedback,) = result.feedback
        assert re.fullmatch(says, feedback.text, re.DOTALL), f"{step}: {feedback.text!r} is not {says!r}"
        assert feedback.ok == ("failed" not in feedback.text), step
        if "nothing changed" in feedback.text:
            assert await self.session.page.evaluate(_TEXT) == before, f"{step}: {feedback.text!r}"
        if then:
            assert await self.session.page.evaluate(then), f"{step}: {then} after {feedback.text!r}"
        if soon:
            await self._until(soon, step)
        await self._look(step)
        if found := re.search(r"(?:page is now|opened tab \d+,|now on tab \d+,) (\S+?)(?:;|$)", feedback.text):
            address = found[1].removesuffix("…")
            assert self.session.page.url.startswith(address), f"{step}: {feedback.text!r} at {self.session.page.url}"

    async def _until(self, true: str, step: str) -> None:
        for _ in range(_MOST_WAITS):
            if await self.session.page.evaluate(true):
                return
            await self._wait()
        raise AssertionError(f"{step}: {true} never became true")

    async def _wait(self) -> None:
        """Wait as an agent does, which draws a page that is drawn on demand."""
        result = await self.session.act([ToolCall(name="wait", arguments={"seconds": 0.5})])
        assert result.feedback[0].text.startswith("waited 0.5 s"), result.feedback

    async def _look(self, step: str) -> None:
        seen = await self.session.observe()
        picture = Image.open(io.BytesIO(self._images.get(seen.screenshot)))
        sizes = {picture.size, (seen.screenshot.width, seen.screenshot.height), seen.viewport_px}
        assert sizes == {self.session.viewport_px}, f"{step}: {sizes}"
        inside = "[innerWidth, innerHeight, location.href, document.title, Math.round(scrollX), Math.round(scrollY)]"
        told = [*seen.viewport_px, seen.url, seen.title, *seen.scroll_px]
        assert await self.session.page.evaluate(inside) == told, step
        assert [tab.url for tab in seen.tabs] == [page.url for page in self.session.context.pages], step
        assert [tab.active for tab in seen.tabs].index(True) == self.session.context.pages.index(self.session.page)

    async def at(self, where: str, right: float = 0.5, down: float = 0.5) -> tuple[int, int]:
        """The point in 0..1000 that lies so far into the first element of a selector."""
        width, height = self.session.viewport_px
        for _ in range(_MOST_WAITS):
            found = self.session.page.locator(where).first
            box = await found.bounding_box() if await found.count() else None
            if box is not None:
                x, y = box["x"] + box["width"] * right, box["y"] + box["height"] * down
                if 0 <= x < width and 0 <= y < height:
                    return round(x * COORDINATE_MAX / width), round(y * COORDINATE_MAX / height)
            await self._wait()  # it may be on its way
        raise AssertionError(f"{where} is not in view")

    async def click(self, where: str, says: str, then: str = "", soon: str = "", how: str = "", **more: Any) -> None:
        """Click the first element of a selector; `says` follows the point, and `how` is `right`, `double` or empty."""
        x, y = await self.at(where)
        if how:
            more["click_type" if how == "double" else "button"] = how
        before = f"{how} click".strip()
        await self.do("click", says=rf"{before} at \({x}, {y}\) {says}", then=then, soon=soon, x=x, y=y, **more)

    async def hover(self, where: str, says: str, then: str = "") -> None:
        x, y = await self.at(where)
        await self.do("hover", says=rf"hover at \({x}, {y}\) {says}", then=then, x=x, y=y)

    async def drag(
        self, here: tuple[int, int], there: tuple[int, int], says: str, then: str = "", soon: str = ""
    ) -> None:
        """Drag between two points; `says` follows the second one."""
        (x1, y1), (x2, y2) = here, there
        says = rf"drag from \({x1}, {y1}\) on <.* to \({x2}, {y2}\): {says}"
        await self.do("drag", says=says, then=then, soon=soon, x1=x1, y1=y1, x2=x2, y2=y2)

    async def write(self, text: str, says: str, then: str = "", soon: str = "") -> None:
        """Write a text; `says` follows the text as it is quoted."""
        await self.do("write", says=f'write "[^"]*(?:"[^"]*)*" {says}', then=then, soon=soon, text=text)

    async def press(self, *keys: str, says: str, then: str = "", soon: str = "") -> None:
        """Press keys; `says` follows their names."""
        await self.do("press_keys", says=f"press_keys .*: {says}", then=then, soon=soon, keys=list(keys))

    async def end(self) -> None:
        """Answer, and check that the walk was a long one that left no tool out."""
        result = await self.session.act([ToolCall(name="done", arguments={"answer": "walked"})])
        assert result.answer == "walked"
        assert len(self.used) >= 30 and {*self.used, "done"} == set(TOOLS), self.used


@pytest_asyncio.fixture(loop_scope="module", params=["screenshot", "begin_frame"])
async def walk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callable[[str], Any]]:
    """Opens a session at an address and returns its walk, in both ways to see a page; `prices.csv` can be uploaded."""
    if request.param == "begin_frame" and "headless" not in find_chromium(BrowserConfig()):
        pytest.skip("only the headless shell draws on demand")
    prices = tmp_path / "prices.csv"
    prices.write_text(PRICES)
    guard = GuardConfig(private_hosts=["127.0.0.1"], connections_per_second=0)
    images = MemoryImages()
    config = BrowserConfig(capture=request.param, browsers=1, warm_sessions=0, uploads=[str(prices)], guard=guard)
    async with BrowserPool(config, images) as pool:
        assert (pool.browsers[0].frames is not None) == (request.param == "begin_frame")

        async def begin(url: str) -> Walk:
            return Walk(await pool.open(url), images)

        yield begin
