"""The full pages look cared for, as real Chromium lays them out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date
from itertools import product
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.sites.design.look import FAMILIES
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.news import partner_of
from webdojo.sites.pages import CatalogSite
from webdojo.sites.serving.server import SiteServer
from webdojo.store.images import MemoryImages

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXTS = """[%s].map(each => {
  const text = document.querySelector(each), range = document.createRange(), {color} = getComputedStyle(text);
  range.selectNodeContents(text);
  const {left, right, top, height} = range.getBoundingClientRect();
  return {left, center: (left + right) / 2, top, height, color};
})"""
"""Where the texts of elements are, and their colours."""

BASE_LINES = """[%s].map(each => {
  const mark = document.createElement('span');
  mark.style.display = 'inline-block';
  document.querySelector(each).prepend(mark);
  return mark.getBoundingClientRect().bottom;
})"""
"""Where the base lines of elements are."""

CALENDAR = """(() => {
  document.querySelector('[data-calendar]').click();
  const middle = el => (({left, right}) => (left + right) / 2)(el.getBoundingClientRect());
  const heads = [...document.querySelectorAll('.weekday')];
  return [...document.querySelectorAll('[data-day]')].map(day =>
    [day.dataset.day, heads.find(head => Math.abs(middle(head) - middle(day)) < 2)?.textContent ?? 'none']);
})()"""
"""The days of a calendar, and what stands over each."""

NEAREST = """(() => {
  const nearer = document.querySelector('[data-zoom=in]');
  while (!nearer.disabled) nearer.click();
  const markers = [...document.querySelectorAll('.marker')];
  const names = markers.map(each => each.firstElementChild);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const [pins, boxes] = [markers, names].map(all => all.map(each => each.getBoundingClientRect()));
  return names.filter((name, i) => getComputedStyle(name).visibility === 'hidden'
    || [...pins, ...boxes].some((box, j) => j % names.length !== i && meet(box, boxes[i]))).map(name => name.innerText);
})()"""
"""The names in the nearest view of a map that are not shown or lie on another name or marker."""

PALE = """(() => {
  const rgb = color => color.match(/[\\d.]+/g).map(Number);
  const part = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = color => [.2126, .7152, .0722].reduce((sum, share, i) => sum + share * part(rgb(color)[i] / 255), 0);
  const back = el => (rgb(getComputedStyle(el).backgroundColor)[3] ?? 1) === 1 ? getComputedStyle(el).backgroundColor
    : back(el.parentElement);
  const contrast = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  return [...document.querySelectorAll('body *')]
    .filter(el => [...el.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim()))
    .filter(el => !el.closest('svg, option, .skip, .hide, :disabled, .marker'))
    .filter(el => el.checkVisibility({visibilityProperty: true}))
    .filter(el => contrast(light(getComputedStyle(el).color), light(back(el))) < 4.5).map(el => el.innerText);
})()"""
"""The texts of a page that do not stand out from what is behind them."""

Measure = Callable[[CatalogSite, str, str], Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page() -> AsyncIterator[Page]:
    config = BrowserConfig(viewport_px=(1280, 1000), browsers=1)
    with SiteServer() as server:
        async with BrowserPool(config, MemoryImages(), server.hosts) as pool:
            session = await pool.open("http://shop-1.localhost/", server.headers("looks"))
            yield session.page
            await session.close()


@pytest.fixture(scope="module")
def measure(page: Page) -> Measure:
    async def measured(site: CatalogSite, path: str, script: str) -> Any:
        """What a script says of a path of a site."""
        await page.goto(site.url(path))
        return await page.evaluate(script)

    return measured


def sites(fits: Callable[[CatalogSite], bool]) -> Iterator[CatalogSite]:
    """The sites of all kinds that fit, the lowest seeds first."""
    return (site for seed, kind in product(range(100), KINDS) if fits(site := load_site(kind, seed)))


def of_family(family: str, fits: Callable[[CatalogSite], bool] = lambda site: True) -> CatalogSite:
    """The first site of a family that fits."""
    return next(sites(lambda site: site.look.full.family == family and fits(site)))


@pytest.mark.parametrize("family", FAMILIES)
async def test_the_footer_of_a_short_page_ends_with_the_window(measure: Measure, family: str) -> None:
    script = "[document.querySelector('.bottom').getBoundingClientRect().bottom, document.body.scrollHeight]"
    assert await measure(of_family(family), "/search?q=zz", script) == [1000, 1000]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("nav", ["bar", "pills", "underline"])
async def test_a_menu_stands_in_one_line_with_home(measure: Measure, family: str, nav: str) -> None:
    site = of_family(family, lambda site: site.skin.menu and site.look.full.nav == nav)
    home, menu = await measure(site, "/search?q=zz", TEXTS % "'.sections a[href=\"/\"]', '.menu > button'")
    along = "left" if family == "sidebar" else "top"
    assert (menu[along], menu["height"], menu["color"]) == (home[along], home["height"], home["color"]), site.host


async def test_the_tagline_of_a_centred_title_is_centred(measure: Measure) -> None:
    site = of_family("boxed", lambda site: site.skin.hero == "band")
    title, tagline = await measure(site, "/", TEXTS % "'.hero h1', '.hero p'")
    assert tagline["center"] == pytest.approx(title["center"], abs=1), site.host


async def test_a_banner_reaches_both_edges_of_the_window(measure: Measure) -> None:
    site = of_family("banner", lambda site: site.skin.ground == "rule" and site.skin.hero != "bare")
    script = "(({left, right}) => [left, right])(document.querySelector('.hero').getBoundingClientRect())"
    assert await measure(site, "/", script) == [0, 1280], site.host


@pytest.mark.parametrize("tiles", ["boxes", "chips"])
async def test_the_ways_to_the_sections_have_room_around_their_names(measure: Measure, tiles: str) -> None:
    fits = {"tiles": tiles, "home": "sections"}
    site = next(sites(lambda site: site.look.full.card == "bare" and fits.items() <= vars(site.skin).items()))
    script = "document.querySelector('.ways .card').getBoundingClientRect().left"
    [name] = await measure(site, "/", TEXTS % "'.ways .card .name'")
    assert name["left"] - await measure(site, "/", script) > 8, site.host


@pytest.mark.parametrize("cards", ["grid", "rows"])
@pytest.mark.parametrize("family", ["minimal", "dense"])
async def test_a_card_in_one_row_has_its_title_on_the_line_of_its_facts(
    measure: Measure, family: str, cards: str
) -> None:
    site = of_family(family, lambda site: site.skin.cards == cards and not site.skin.pictures)
    title, fact = await measure(site, f"/{site.main.slug}", BASE_LINES % "'.card .name', '.card dd'")
    assert title == pytest.approx(fact, abs=1), site.host


async def test_each_day_of_a_calendar_stands_under_the_name_of_its_weekday(measure: Measure) -> None:
    def paths(site: CatalogSite) -> list[str]:
        own = [action for action in site.actions if not action.collection]
        return [action.path(None) for action in own if "calendar" in {field.widget for field in action.fields}]

    site = next(sites(lambda site: bool(paths(site))))
    pairs = await measure(site, paths(site)[0], CALENDAR)
    assert len(pairs) >= 28 and all(date.fromisoformat(day).strftime("%a").startswith(name) for day, name in pairs)


@pytest.mark.parametrize("seed", range(3))
async def test_in_its_nearest_view_a_map_names_each_marker(measure: Measure, seed: int) -> None:
    assert await measure(load_site("places", seed), "/map", NEAREST) == []


@pytest.mark.parametrize(("kind", "framing"), [("news", partner_of), ("places", bool)])
async def test_a_frame_is_as_high_as_the_page_in_it(
    page: Page, measure: Measure, kind: str, framing: Callable[[CatalogSite], Any]
) -> None:
    site = next(sites(lambda site: site.kind == kind and framing(site)))
    await measure(site, f"/{site.main.slug}/{site.main.entities[0].slug}", "0")
    for _ in range(30):
        await asyncio.sleep(0.1)
        outside = await page.evaluate("document.querySelector('iframe').clientHeight")
        inside = await page.frames[-1].evaluate("document.documentElement.offsetHeight")
        if outside == inside:
            break
    assert outside == inside, site.host


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("menu", [True, False])
async def test_all_text_stands_out_from_what_is_behind_it(measure: Measure, family: str, menu: bool) -> None:
    site = of_family(family, lambda site: site.skin.menu == menu)
    for path in ("/", f"/{site.main.slug}", f"/{site.main.slug}/{site.main.entities[0].slug}"):
        assert await measure(site, path, PALE) == [], site.url(path)
