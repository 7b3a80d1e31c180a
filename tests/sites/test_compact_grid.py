"""The compact pages keep to their grid, as real Chromium lays them out."""

from typing import Any

import pytest

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.sites import COMPACT_KINDS, SMALL_KINDS
from webdojo.sites.kinds import load_site
from webdojo.sites.serving.server import SiteServer
from webdojo.store.images import MemoryImages

MEASURE = """() => {
  const texts = [], controls = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data;
    if (!text.trim()) continue;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    const rects = range.getClientRects(), r = rects[0];
    texts.push({text, lines: rects.length, left: r.left, width: r.width, middle: (r.top + r.bottom) / 2 + scrollY});
  }
  for (const el of document.querySelectorAll('a, button, input:not([type=hidden])')) {
    const r = el.getBoundingClientRect();
    const text = el.innerText || el.placeholder;
    controls.push({text, left: r.left, top: r.top + scrollY, width: r.width, height: r.height});
  }
  return {texts, controls, width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight};
}"""


@pytest.mark.parametrize("kind", [*COMPACT_KINDS, *SMALL_KINDS])
async def test_text_and_controls_lie_on_the_grid(kind: str) -> None:
    config = BrowserConfig(viewport_px=(320, 320))
    with SiteServer() as server:
        async with BrowserPool(config, MemoryImages(), server.hosts) as pool:
            for seed in range(6 if kind in COMPACT_KINDS else 2):
                site: Any = load_site(kind, seed, "grid")
                session = await pool.open(site.url(), server.headers(f"grid-{seed}", "grid"))
                if kind == "shop":
                    buyable = [p.slug for p in site.main.entities if p.values["stock"]]
                    for slug in buyable[:3]:
                        await session.page.goto(site.url(f"/p/{slug}"))
                        await session.page.click("form[action='/cart/add'] button")
                        await session.page.wait_for_url("**/added/**")
                for path in list(site.paths())[seed::29]:
                    await session.page.goto(site.url(path))
                    await session.page.evaluate("document.fonts.ready")
                    assert await session.page.evaluate("document.fonts.check('26px grid')"), "the font is loaded"
                    check(await session.page.evaluate(MEASURE), f"{kind} {seed} {path}")
                await session.close()


def check(page: dict[str, Any], where: str) -> None:
    assert page["width"] == 320, where
    assert page["height"] in range(320, 641, 32), (where, page["height"])
    for text in page["texts"]:
        assert text["lines"] == 1, (where, text)
        assert abs(text["left"] / 16 - round(text["left"] / 16)) < 0.02, (where, text)
        assert abs(text["width"] - 16 * len(text["text"])) < 0.2, (where, text)
        assert 0 <= text["left"] <= 320.2 - text["width"], (where, text)
        assert abs(text["middle"] % 32 - 16) <= 4, (where, text)
    for control in page["controls"]:
        assert control["width"] >= 64, (where, control)
        assert control["height"] in (32, 64), (where, control)
        assert (control["left"] % 16, control["top"] % 32) == (0, 0), (where, control)
