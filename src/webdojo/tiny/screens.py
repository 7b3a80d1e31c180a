"""Labelled screens of embedded training sites on the grid, which the tiny model learns from, and what is on them.

A `Screen` is what a 320x320 viewport shows: every word and every control, with their positions. Only training seeds are
rendered. Screens are kept as arrays on disk, so that training can be started again without a browser.
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import host_flags
from webdojo.sites.kinds import load_site
from webdojo.sites.pages import CatalogSite
from webdojo.sites.serving.server import SiteServer

SIDE = 320
"""Viewport width and height in CSS px."""
ROWS = SIDE // 32
"""Visual tokens along each side."""
COLUMNS = SIDE // 16
"""Character cells in a row."""
TOKENS = ROWS * ROWS
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
class Thing:
    """An element with a name, of which at least a part is in view."""

    name: str
    tag: str
    """The tag of a control; empty for text."""
    words: tuple[Word, ...]

    @property
    def name_cells(self) -> tuple[int, ...]:
        """The visual tokens of the name."""
        return cells(*(w for w in self.words if w.text[0].isalpha()))

    @property
    def point(self) -> tuple[int, int]:
        """The middle of the element, in 0..1000."""
        x = (min(w.left for w in self.words) + max(w.right for w in self.words)) / 2
        y = self.words[0].row * 32 + 16
        return round(1000 * x / SIDE), round(1000 * y / SIDE)


@dataclass(frozen=True)
class Value:
    """A value and the name that stands beside it."""

    name: str
    name_cells: tuple[int, ...]
    word: Word

    @property
    def text(self) -> str:
        return self.word.text.strip("$")

    @property
    def mark(self) -> str:
        """What stands before it: `$`, or nothing."""
        return "$" if self.word.text.startswith("$") else ""

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """For each character of the text, the visual tokens to read it from."""
        return characters(self.word)[-len(self.text) :]


@dataclass(frozen=True)
class Screen:
    """One labelled screenshot, and what stands on it."""

    words: tuple[Word, ...]
    controls: tuple[tuple[str, int], ...]
    """The (tag, element) of every control in view."""
    url: str = "http://shop-0.localhost/"
    scroll_px: tuple[int, int] = (0, 0)
    """How far the page is scrolled, and how far it can be scrolled."""
    place: str = ""
    """The name of the page: a list, a thing or the cart; empty for home and results."""

    @cached_property
    def names(self) -> list[str]:
        """The names of all elements in view."""
        return list(dict.fromkeys(thing.name for thing in self._named))

    @cached_property
    def things(self) -> list[Thing]:
        """Things whose name stands on the screen once."""
        counts = Counter(thing.name for thing in self._named)
        return [thing for thing in self._named if counts[thing.name] == 1]

    @cached_property
    def targets(self) -> list[Thing]:
        """Those of `things` that are controls."""
        return [thing for thing in self.things if thing.tag]

    @cached_property
    def values(self) -> list[Value]:
        """The values of all rows that hold one name and, beside it, one value."""
        rows: dict[int, list[Word]] = {}
        texts = {w.element for w in self.words} - {element for _, element in self.controls}
        for word in sorted((w for w in self.words if 0 <= w.row < ROWS), key=lambda w: w.left):
            rows.setdefault(word.row, []).append(word)
        out: list[Value] = []
        for row in rows.values():
            numbers = [w for w in row if w.text.strip("$").isdigit()]
            names = [w for w in row if w.text[0].isalpha()]
            if len(numbers) == 1 and names and len({w.element for w in names}) == 1:
                out.append(Value(_name(names), cells(*names), numbers[0]))
            elif not numbers and len(names) == 2 and len(texts.intersection(w.element for w in names)) == 2:
                out.append(Value(names[0].text, cells(names[0]), names[1]))
        return out

    @cached_property
    def _named(self) -> list[Thing]:
        groups: dict[int, list[Word]] = {}
        for word in self.words:
            groups.setdefault(word.element, []).append(word)
        tags = {element: tag for tag, element in self.controls}
        things = [Thing(_name(group), tags.get(element, ""), tuple(group)) for element, group in groups.items()]
        return [thing for thing in things if thing.name and cells(*thing.words)]


class Screens:
    """Screens in a folder: `images.npy` (uint8 [N, 320, 320, 3], memory-mapped) and `labels.jsonl`."""

    def __init__(self, folder: Path) -> None:
        self.images = np.load(folder / "images.npy", mmap_mode="r")
        self.screens = [
            Screen(
                words=tuple(Word(*word) for word in row["words"]),
                controls=tuple((tag, element) for tag, element, *_ in row["controls"]),
                url=row["url"],
                scroll_px=(round(row["scroll"][0]), round(row["scroll"][1])),
                place=row["place"],
            )
            for row in map(json.loads, (folder / "labels.jsonl").read_text().splitlines())
        ]


def render_screens(
    folder: Path, kinds: Sequence[str], seeds: list[int], n: int, seed: int, advance: Callable[[], None]
) -> None:
    """Render `n` screens of the given sites and write them to `folder`.

    Paths are drawn evenly over the families of pages (home, lists, items, search, cart), buttons are
    sometimes pressed, and half of the long pages are scrolled by half a viewport.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(f"screens-{seed}")
    images = np.lib.format.open_memmap(folder / "images.npy", mode="w+", dtype=np.uint8, shape=(n, SIDE, SIDE, 3))
    with (folder / "labels.jsonl").open("w") as lines, SiteServer() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(BrowserConfig()), args=["--no-sandbox", *host_flags(server.hosts)]
        )
        done = 0
        while done < n:
            site = load_site(rng.choice(kinds), rng.choice(seeds), "grid")
            visit = f"screens-{done}"
            context = browser.new_context(
                viewport={"width": SIDE, "height": SIDE}, extra_http_headers=server.headers(visit, "grid")
            )
            page = context.new_page()
            for path in _paths(site, rng)[: n - done]:
                page.goto(site.url(path))
                buy = page.locator("form[method=post] button").first
                if rng.random() < 0.25 and path.startswith(("/p/", "/item/")) and buy.count():
                    with page.expect_navigation():
                        buy.click(no_wait_after=True)
                if rng.random() < 0.5:
                    page.evaluate(f"scrollBy(0, {SIDE // 2})")
                page.evaluate("document.fonts.ready")
                shot = page.screenshot(type="jpeg", quality=90)
                labels = page.evaluate(LABELS_JS)
                images[done] = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"))
                lines.write(json.dumps(labels | {"place": _place(site, labels["url"])}) + "\n")
                done += 1
                advance()
            server.end(visit)
            context.close()
        browser.close()
    images.flush()


def _paths(site: CatalogSite, rng: random.Random) -> list[str]:
    """A dozen paths of a site, drawn evenly over the families of its pages."""
    families: dict[str, list[str]] = {}
    for path in (each for each in site.paths() if not each.endswith("/done")):
        families.setdefault(path.split("?")[0].split("/")[1] + ("?" if "?" in path else ""), []).append(path)
    return [rng.choice(families[rng.choice(sorted(families))]) for _ in range(12)]


def _place(site: CatalogSite, url: str) -> str:
    """The name of the page at a URL of a site."""
    path = urlsplit(url).path
    first, *rest = path.strip("/").split("/")
    named = first == "cart" or (len(rest) == 1 and first in ("c", "p", "t", "a", "list", "item"))
    return site.way_to(path)[1] if named else ""


def cells(*words: Word) -> tuple[int, ...]:
    """The visual tokens that words cover, where they are in view."""
    columns = {(w.row, column // 2) for w in words for column in range(w.column, w.column + len(w.text))}
    return tuple(sorted(row * ROWS + column for row, column in columns if 0 <= row < ROWS and 0 <= column < ROWS))


def characters(word: Word) -> tuple[tuple[int, ...], ...]:
    """The visual tokens to read each character of a word from: the whole word's, but for a digit its own."""
    whole = cells(word)
    columns = [(word.column + offset) // 2 for offset in range(len(word.text))]
    own = [(word.row * ROWS + column,) if 0 <= word.row < ROWS and column < ROWS else () for column in columns]
    return tuple(cell if character.isdigit() else whole for character, cell in zip(word.text, own, strict=True))


def _name(group: list[Word]) -> str:
    """The words of an element without marks and numbers: `> Royal Rug $95` is `Royal Rug`."""
    return " ".join(w.text for w in group if w.text[0].isalpha())
