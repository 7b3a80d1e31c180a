"""Labelled screens of embedded training sites, which the tiny model learns from.

A `Screen` is what a 320x320 viewport shows: every word and every control, with their positions.
Only training seeds are rendered. Screens are kept as arrays on disk, so that training can be
started again without a browser.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.async_api import Page, async_playwright

from webdojo.browser.config import BrowserConfig
from webdojo.browser.find import find_chromium
from webdojo.browser.pool import host_flags
from webdojo.sites.kinds import load_site
from webdojo.sites.serving.server import SiteServer

SIDE = 320
"""Viewport width and height in CSS px."""
LABELS_JS = """() => {
  const words = [], controls = [];
  const on = b => b.bottom > 1 && b.top < innerHeight - 1 && b.right > 1 && b.left < innerWidth - 1;
  const owner = n => n.parentElement.closest('a,button,label,h1,h2,p,dt,dd,td,th,li,span,.cell,div');
  const ids = new Map(), idOf = e => { if (!ids.has(e)) ids.set(e, ids.size); return ids.get(e) };
  const add = (text, left, top, right, bottom, e) => {
    const b = { left, top, right, bottom };
    if (on(b)) words.push([text, left, top, right, bottom, idOf(e)]);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    for (const m of n.data.matchAll(/\\S+/g)) {
      const r = document.createRange();
      r.setStart(n, m.index); r.setEnd(n, m.index + m[0].length);
      const b = r.getBoundingClientRect();
      add(m[0], b.left, b.top, b.right, b.bottom, owner(n));
    }
  }
  for (const e of document.querySelectorAll('input:not([type=hidden])')) {
    const b = e.getBoundingClientRect(), s = getComputedStyle(e);
    const left = b.left + parseFloat(s.paddingLeft) + parseFloat(s.borderLeftWidth), text = e.value || e.placeholder;
    for (const m of text.matchAll(/\\S+/g)) {
      const x = left + 16 * m.index;
      if (x + 16 * m[0].length <= b.right + 1) add(m[0], x, b.top, x + 16 * m[0].length, b.bottom, e);
    }
  }
  for (const e of document.querySelectorAll('a,button,input:not([type=hidden])')) {
    const b = e.getBoundingClientRect();
    if (on(b)) controls.push([e.tagName.toLowerCase(), idOf(e), b.left, b.top, b.right, b.bottom]);
  }
  const hidden = document.documentElement.scrollHeight - innerHeight;
  return { words, controls, url: location.href, scroll: [scrollY, Math.max(hidden, 0)] };
}"""


@dataclass(frozen=True)
class Word:
    """A word on the screen: its box in CSS px, and the element that holds it."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    element: int

    @property
    def row(self) -> int:
        """The 32-px row that the middle of the word is in."""
        return int((self.top + self.bottom) / 2 // 32)

    @property
    def column(self) -> int:
        """The 16-px column that the word starts at."""
        return round(self.left / 16)


@dataclass(frozen=True)
class Screen:
    """One labelled screenshot."""

    words: tuple[Word, ...]
    controls: tuple[tuple[str, int], ...]
    """The (tag, element) of every control in view."""
    url: str = "http://shop-0.localhost/"
    scroll_px: tuple[int, int] = (0, 0)
    """How far the page is scrolled, and how far it can be scrolled."""
    place: str = ""
    """The name of the page: a list, a thing or the cart; empty for home and results."""


class Screens:
    """Screens in a folder: `images.npy` (uint8 [N, 320, 320, 3], memory-mapped) and `labels.jsonl`."""

    def __init__(self, folder: Path) -> None:
        self.images = np.load(folder / "images.npy", mmap_mode="r")
        rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
        self.screens = [_screen(row) for row in rows]

    def __len__(self) -> int:
        return len(self.screens)


def _screen(row: dict[str, Any]) -> Screen:
    return Screen(
        words=tuple(Word(*word) for word in row["words"]),
        controls=tuple((tag, element) for tag, element, *_ in row["controls"]),
        url=row["url"],
        scroll_px=(round(row["scroll"][0]), round(row["scroll"][1])),
        place=row["place"],
    )


def render_screens(
    folder: Path, kinds: list[str], seeds: list[int], n: int, seed: int, advance: Callable[[], None]
) -> None:
    """Render `n` screens of the given sites and write them to `folder`.

    Paths are drawn evenly over the families of pages (home, lists, items, search, cart), carts are
    sometimes filled, and half of the long pages are scrolled by half a viewport.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(f"screens-{seed}")
    images = np.lib.format.open_memmap(folder / "images.npy", mode="w+", dtype=np.uint8, shape=(n, SIDE, SIDE, 3))
    with (folder / "labels.jsonl").open("w") as labels:
        asyncio.run(_render(images, labels.write, kinds, seeds, n, rng, advance))
    images.flush()


async def _render(
    images: np.ndarray,
    write: Callable[[str], int],
    kinds: list[str],
    seeds: list[int],
    n: int,
    rng: random.Random,
    advance: Callable[[], None],
) -> None:
    with SiteServer() as server:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(BrowserConfig()), args=["--no-sandbox", *host_flags(server.hosts)]
            )
            done = 0
            while done < n:
                kind, seed = rng.choice(kinds), rng.choice(seeds)
                context = await browser.new_context(
                    viewport={"width": SIDE, "height": SIDE},
                    extra_http_headers=server.headers(f"screens-{done}", "compact"),
                )
                page = await context.new_page()
                for path in _paths(kind, seed, rng)[: n - done]:
                    await page.goto(load_site(kind, seed).url(path))
                    buy = page.locator("form[method=post] button").first
                    if rng.random() < 0.25 and path.startswith("/p/") and await buy.count():
                        async with page.expect_navigation():
                            await buy.click(no_wait_after=True)
                    labels, pixels = await _capture(page, rng)
                    labels["place"] = _place(kind, seed, labels["url"])
                    images[done] = pixels
                    write(json.dumps(labels) + "\n")
                    done += 1
                    advance()
                server.end(f"screens-{done}")
                await context.close()
            await browser.close()


def _paths(kind: str, seed: int, rng: random.Random) -> list[str]:
    """A dozen paths of a site, drawn evenly over the families of its pages."""
    families: dict[str, list[str]] = {}
    for path in load_site(kind, seed, "compact").paths():
        families.setdefault(path.split("?")[0].split("/")[1] + ("?" if "?" in path else ""), []).append(path)
    return [rng.choice(families[rng.choice(sorted(families))]) for _ in range(12)]


def _place(kind: str, seed: int, url: str) -> str:
    """The name of the page at a URL of a site."""
    path = urlsplit(url).path
    site = load_site(kind, seed, "compact")
    return site.way_to(path)[1] if path.split("/")[1] in ("c", "p", "t", "a", "cart") else ""


async def _capture(page: Page, rng: random.Random) -> tuple[dict[str, Any], np.ndarray]:
    if rng.random() < 0.5:
        await page.evaluate(f"scrollBy(0, {SIDE // 2})")
    await page.evaluate("document.fonts.ready")
    shot = await page.screenshot(type="jpeg", quality=90)
    return await page.evaluate(LABELS_JS), np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"))
