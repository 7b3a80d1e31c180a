"""Take a picture of a site in the compact layout, as the quickstart's agent sees it: `docs/images/compact.png`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from webdojo.browser.pool import BrowserPool
from webdojo.loops.request import task_at
from webdojo.recipe import load_recipe
from webdojo.store.images import MemoryImages

URL = "http://shop-1000041.localhost/"
FILE = Path(__file__).parent.parent / "docs" / "images" / "compact.png"


async def main() -> None:
    recipe = load_recipe("quickstart", ["browser.screenshot_format=png"])
    images, env = MemoryImages(), recipe.env
    async with env, BrowserPool(recipe.browser, images, dict(env.hosts)) as pool:
        visit = await env.visit(task_at(env, "Show me Rings.", URL))
        session = await pool.open(URL, visit.headers)
        FILE.write_bytes(images.get((await session.observe()).screenshot))
        await session.close()
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    asyncio.run(main())
