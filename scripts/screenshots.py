"""Take the screenshots of the documentation again: the viewer on a made-up run, and a site as a small agent sees it.

    python -m scripts.screenshots [NAME …]

Each PNG carries the words of the page that it shows. `tests/test_pictures.py` opens the pages again: a screenshot is
stale when its page says something else now. Pixels would also differ by fonts and by Chromium's version.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import tempfile
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.async_api import async_playwright

from tests.view.demo_run import create, fill
from tests.view.viewer_server import served
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.loops.request import task_at
from webdojo.recipe import load_recipe
from webdojo.store.images import MemoryImages
from webdojo.types import View

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SITE = "http://shop-1000041.localhost/"
WORDS = "Words"
"""The text chunk of a PNG that holds what its page says."""


class Shot(NamedTuple):
    """A page of the viewer, and how one looks at it."""

    path: str
    width_px: int = 1280
    height_px: int = 800
    scheme: str = "light"


SHOTS = {
    "viewer-runs": Shot("/", height_px=300),
    "viewer-dashboard": Shot("/runs/quickstart"),
    "viewer-list": Shot("/runs/quickstart/trajectories?phase=eval_rl&outcome=success"),
    "viewer-trajectory": Shot("/runs/quickstart/trajectory?id=rl-7", scheme="dark"),
    "viewer-compare": Shot("/compare?run=quickstart&id=rl-7&id=rl-6&id=rl-3"),
    "viewer-phone": Shot("/runs/quickstart/trajectory?id=rl-7", width_px=390, scheme="dark"),
}
NAMES = (*SHOTS, "compact")


class Screenshot(NamedTuple):
    png: bytes
    words: str


async def viewer_pages(names: Collection[str]) -> AsyncIterator[tuple[str, Screenshot]]:
    """Pages of the viewer on a made-up run, beside one that was stopped half-way."""
    with tempfile.TemporaryDirectory() as folder:
        with create(Path(folder) / "quickstart") as store:
            fill(store, size=(640, 512))
        with create(Path(folder) / "quickstart-2") as store:
            fill(store, iterations=13)
        (Path(folder) / "quickstart-2" / "result.json").unlink()
        async with async_playwright() as playwright:
            executable = find_chromium(BrowserConfig())
            browser = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
            with served([Path(folder)]) as address:
                for name in names:
                    shot = SHOTS[name]
                    size = {"width": shot.width_px, "height": shot.height_px}
                    page = await browser.new_page(viewport=size, color_scheme=shot.scheme)  # type: ignore[arg-type]
                    # The dashboard follows its run by a connection that stays.
                    await page.goto(address + shot.path, wait_until="load" if "dashboard" in name else "networkidle")
                    await page.wait_for_timeout(700)
                    yield name, Screenshot(await page.screenshot(), await page.inner_text("body"))
                    await page.close()
            await browser.close()


async def compact() -> Screenshot:
    """A site in the compact layout, as the quickstart's agent sees it."""
    recipe = load_recipe("quickstart", ["browser.screenshot_format=png"])
    images, env = MemoryImages(), recipe.env
    async with env, BrowserPool(recipe.browser, images, dict(env.hosts)) as pool:
        visit = await env.visit(task_at(env, "Show me Rings.", SITE))
        session = await pool.open(SITE, visit.headers)
        seen = await session.observe(View(kind="simplified_html"))
        await session.close()
    return Screenshot(images.get(seen.screenshot), seen.text)


async def screenshots(names: Collection[str] = NAMES) -> AsyncIterator[tuple[str, Screenshot]]:
    """Each of these with its name, taken now."""
    async for taken in viewer_pages([name for name in SHOTS if name in names]):
        yield taken
    if "compact" in names:
        yield "compact", await compact()


def file_of(name: str) -> Path:
    return IMAGES / f"{name}.png"


def words_of(file: Path) -> str:
    """What the page of a screenshot said when it was taken."""
    with Image.open(file) as image:
        return str(image.info.get(WORDS, ""))


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all without one")
    async for name, taken in screenshots(parser.parse_args().names or NAMES):
        with_words = PngInfo()
        with_words.add_itxt(WORDS, taken.words, zip=True)
        Image.open(io.BytesIO(taken.png)).save(file_of(name), pnginfo=with_words, optimize=True)
        print(f"{name}.png: {file_of(name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    asyncio.run(main())
