"""The map of a town: what it serves, and what a browser can do with it."""

import random
from urllib.parse import urlsplit

import pytest

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.sites.places import Places
from webdojo.sites.places.town import HEIGHT, SCALES, WIDTH, make_town
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.site import Overlay, Page, Request
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

SITE = Places(7)
URL = SITE.url("/map")


def page(path: str, overlay: Overlay) -> Page:
    reply = SITE.respond(Request("GET", path, {}), overlay)
    assert isinstance(reply, Page)
    return reply


def test_a_town_is_a_pure_function_of_the_seed() -> None:
    one, other = (make_town(random.Random("town"), 3) for _ in range(2))
    assert one == other
    assert one.drawing == other.drawing
    assert one != make_town(random.Random("another town"), 3)


@pytest.mark.parametrize("seed", range(6))
def test_each_place_has_a_corner_of_its_own_and_room_for_its_marker(seed: int) -> None:
    site = Places(seed)
    spots = [site.spots[place.slug] for place in site.main.entities]
    assert len({spot.corner for spot in spots}) == len(spots) >= 200
    for i, spot in enumerate(spots):
        assert -40 < spot.x < WIDTH + 40
        assert -40 < spot.y < HEIGHT + 40
        nearest = min(max(abs(spot.x - o.x), abs(spot.y - o.y)) for j, o in enumerate(spots) if j != i)
        assert nearest * SCALES[-1] > 20, "markers must not lie on one another in the nearest view"
    for place in site.main.entities:
        assert place.values["district"] == site.spots[place.slug].district
        assert place.values["corner"] == site.spots[place.slug].corner


def test_a_card_says_what_the_page_of_the_place_says() -> None:
    place = SITE.main.entities[0]
    card = page(f"/map/card/{place.slug}", Overlay())
    assert f"{place.slug}.Rating" in card.shows
    assert set(card.shows) < set(page(f"/places/{place.slug}", Overlay()).shows)
    assert page("/map/card/nowhere", Overlay()).status == 404


def test_a_place_that_is_closed_cannot_be_visited() -> None:
    closed = next(place for place in SITE.main.entities if place.values["now"] == "permanently closed")
    overlay = Overlay()
    reply = SITE.respond(
        Request("POST", f"/places/{closed.slug}/visit", {"day": "2027-04-02", "time": "9:00"}), overlay
    )
    assert isinstance(reply, Page)
    assert not overlay.state


async def test_a_person_drags_zooms_and_clicks() -> None:
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(viewport_px=(1280, 1000)), MemoryImages(), server.hosts) as pool:
            session = await pool.open(URL, server.headers("map"))

            async def look(script: str) -> list[float]:
                return await session.page.evaluate(script)

            async def shown() -> int:
                script = "[...document.querySelectorAll('.marker')].filter(m => m.style.visibility !== 'hidden').length"
                return await session.page.evaluate(script)

            left, top, width, height = await look(
                "(() => { const b = document.querySelector('.sheet').getBoundingClientRect();"
                " return [b.x / 1.28, b.y, b.width / 1.28, b.height] })()"
            )
            x, y = round(left + width / 2), round(top + height / 2)
            marker = "document.querySelector('.marker').getBoundingClientRect()"
            before = await look(f"[{marker}.x, {marker}.y]")
            await session.act([ToolCall(name="drag", arguments={"x1": x, "y1": y, "x2": x - 50, "y2": y - 40})])
            after = await look(f"[{marker}.x, {marker}.y]")
            assert after[0] - before[0] == pytest.approx(-50 * 1.28, abs=2)
            assert after[1] - before[1] == pytest.approx(-40, abs=2)
            assert not server.state("map")[SITE.host]["visited"][1:], "a drag opens nothing"

            far = await shown()
            await session.act([ToolCall(name="scroll", arguments={"direction": "up", "amount": 0.2, "x": x, "y": y})])
            near = await shown()
            assert far < near
            for _ in SCALES:
                await session.page.click("[data-zoom=in]", force=True)
            assert await shown() == len(SITE.main.entities)

            slug = await session.page.evaluate(
                "(() => { const b = document.querySelector('.sheet').getBoundingClientRect(); const inside = (v, a, z)"
                " => a + 30 < v && v < z - 30; return [...document.querySelectorAll('.marker')].find(m => { const r ="
                " m.getBoundingClientRect(); return inside(r.x, b.left, b.right) && inside(r.y, b.top, b.bottom)"
                " }).dataset.marker })()"
            )
            spot = await look(
                f"(() => {{ const r = document.querySelector('[data-marker=\"{slug}\"]').getBoundingClientRect();"
                " return [r.x + 10, r.y + 10] })()"
            )
            await session.act([ToolCall(name="click", arguments={"x": round(spot[0] / 1.28), "y": round(spot[1])})])
            assert await session.page.inner_text(".map-card h2")
            assert f"/map/card/{slug}" in server.state("map")[SITE.host]["visited"]
            await session.page.click(".map-card a")
            assert urlsplit(session.page.url).path == f"/places/{slug}"
            await session.close()
