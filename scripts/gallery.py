"""Take small pictures of sites of every kind and write `docs/gallery.html`, to judge how different they look.

    .venv/bin/python scripts/gallery.py [--sites 60]

The seeds are the same at every run, and spread over training and held-out sites.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import random
from collections.abc import Iterator
from html import escape
from pathlib import Path

from PIL import Image

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.pages import CatalogSite
from webdojo.sites.serving.server import SiteServer
from webdojo.store.images import MemoryImages

DOCS = Path(__file__).parent.parent / "docs"
WIDTH_PX, QUALITY = 320, 60
VIEWPORT_PX = (1280, 1000)
AT_ONCE = 3
SPECIAL = {"places": "/map"}
"""By kind, a page that only its sites have."""

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sites of webdojo</title>
<style>
body { margin: 0 auto; max-width: 1060px; padding: 24px; font: 16px/1.5 system-ui, sans-serif; }
section { display: flex; flex-wrap: wrap; gap: 14px; }
h2 { margin: 36px 0 10px; }
figure { margin: 0; } figcaption { font-size: 13px; color: #555; }
img { display: block; width: 320px; height: 250px; border: 1px solid #ccc; }
</style>
</head>
<body>
<h1>Sites of webdojo</h1>
<p>{count} sites of {kinds} kinds. Content, names, colours, layout and wording follow from kind and seed; the kinds are
code, the seeds are without end. Written by <code>scripts/gallery.py</code>.</p>
"""


def choose(count: int) -> Iterator[CatalogSite]:
    """So many sites, evenly over the kinds."""
    rng = random.Random("gallery")
    for i in range(count):
        kind = list(KINDS)[i * len(KINDS) // count]
        yield load_site(kind, rng.randrange(2000) + rng.choice((0, HELDOUT_SEED)))


def pages(site: CatalogSite) -> dict[str, str]:
    """Paths to take pictures of, by a word that tells them apart."""
    paths = list(site.paths())
    things = [path for path in paths if "?" not in path and path.count("/") == 2 and site.way_to(path)[0] != "/"]
    thing = random.Random(site.host).choice(things[: len(things) // 2])
    special = {"special": SPECIAL[site.kind]} if site.kind in SPECIAL else {}
    return {"home": "/", "list": site.way_to(thing)[0], "thing": thing, **special}


async def shoot(pool: BrowserPool, server: SiteServer, site: CatalogSite) -> list[tuple[str, str]]:
    """Take the pictures of a site; the file name and the address of each."""
    taken = []
    for word, path in pages(site).items():
        session = await pool.open(site.url(path), server.headers(f"{site.host}-{word}"))
        picture = Image.open(io.BytesIO(await session.page.screenshot()))
        await session.close()
        small = picture.convert("RGB").resize((WIDTH_PX, WIDTH_PX * VIEWPORT_PX[1] // VIEWPORT_PX[0]), Image.LANCZOS)
        name = f"{site.kind}-{site.seed}-{word}.jpg"
        small.save(DOCS / "gallery" / name, quality=QUALITY, optimize=True)
        taken.append((name, site.url(path)))
    return taken


async def main(count: int) -> None:
    (DOCS / "gallery").mkdir(exist_ok=True)
    for old in (DOCS / "gallery").glob("*.jpg"):
        old.unlink()
    sites = list(choose(count))
    gate = asyncio.Semaphore(AT_ONCE)
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(viewport_px=VIEWPORT_PX), MemoryImages(), server.hosts) as pool:

            async def run(site: CatalogSite) -> list[tuple[str, str]]:
                async with gate:
                    return await shoot(pool, server, site)

            taken = await asyncio.gather(*map(run, sites))
    parts = [HEAD.replace("{count}", str(count)).replace("{kinds}", str(len(KINDS)))]
    for kind in KINDS:
        parts.append(f"<h2>{kind}</h2>\n<section>\n")
        for site, shots in zip(sites, taken, strict=True):
            for name, url in shots if site.kind == kind else []:
                image = f'<img src="gallery/{name}" alt="{escape(url)}" loading="lazy">'
                parts.append(
                    f"<figure>{image}<figcaption>{escape(url.removeprefix('http://'))}</figcaption></figure>\n"
                )
        parts.append("</section>\n")
    (DOCS / "gallery.html").write_text("".join([*parts, "</body>\n</html>\n"]))
    size = sum(file.stat().st_size for file in (DOCS / "gallery").iterdir())
    print(f"{sum(map(len, taken))} pictures, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=60, help="how many sites")
    asyncio.run(main(parser.parse_args().sites))
