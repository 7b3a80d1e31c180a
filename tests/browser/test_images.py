"""Large images are in the first picture after they came, in both ways to see a page."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest
import pytest_asyncio
from PIL import Image

from tests.browser.conftest import served
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.store.images import MemoryImages
from webdojo.types import ImageRef, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

COLOURS = [(40 * k, 250 - 40 * k, 90) for k in range(6)]
IMAGES = MemoryImages()


def jpeg(colour: tuple[int, int, int]) -> bytes:
    """As large as a camera's, so that Chromium would rather draw without it than wait."""
    out = io.BytesIO()
    Image.new("RGB", (3000, 2000), colour).save(out, "jpeg")
    return out.getvalue()


FILES = {f"/{k}.jpg": jpeg(colour) for k, colour in enumerate(COLOURS)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, round = self.path.partition("?")
        page = "".join(f"<img src=/{k}.jpg?{round}>" for k in range(6)) + "<div style='height:2000px'></div>"
        page += "".join(f"<img loading=lazy src=/{k}.jpg?{round}b>" for k in reversed(range(6)))
        style = "<!doctype html><style>body{margin:0} img{display:block;width:500px;height:80px}</style>"
        data = FILES.get(path) or (style + page).encode()
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg" if path in FILES else "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with served(Handler) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["screenshot", "begin_frame"])
async def pool(config: BrowserConfig, request: pytest.FixtureRequest) -> AsyncIterator[BrowserPool]:
    if request.param == "begin_frame" and "headless" not in find_chromium(BrowserConfig()):
        pytest.skip("only the headless shell draws on demand")
    async with BrowserPool(config.model_copy(update={"capture": request.param, "browsers": 1}), IMAGES) as pool:
        yield pool


def off_by(shot: ImageRef, colours: list[tuple[int, int, int]], bottom: bool) -> int:
    """The largest difference in colour of the six images, at the top or at the bottom of the screen."""
    picture = np.asarray(Image.open(io.BytesIO(IMAGES.get(shot))).convert("RGB"))
    start = 500 - 6 * 80 if bottom else 0
    shown = picture[start + 40 : start + 480 : 80, 250].astype(int)
    return int(np.abs(shown - np.array(colours)).max())


async def test_no_image_is_missing(pool: BrowserPool, origin: str) -> None:
    for round in range(2):
        session = await pool.open(f"{origin}/?{round}")
        assert off_by((await session.observe()).screenshot, COLOURS, bottom=False) < 6
        down = ToolCall(name="press_keys", arguments={"keys": ["End"]})
        await session.act([down])
        assert off_by((await session.observe()).screenshot, COLOURS[::-1], bottom=True) < 6
        await session.close()
