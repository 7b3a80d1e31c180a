"""Perturbations over embedded sites, without a browser: seeded, recorded, apart from what evaluators read."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from webdojo.errors import SiteError
from webdojo.sites import host_of
from webdojo.sites.kinds import load_site
from webdojo.sites.pages import CatalogSite
from webdojo.sites.perturbations import texts
from webdojo.sites.perturbations.popups import Panel, compact_rows, make_panel
from webdojo.sites.perturbations.schedule import (
    LEVELS,
    NO_PERTURBATIONS,
    PERMANENT,
    PERTURBATIONS_HEADER,
    Event,
    Perturbations,
    PerturbationState,
    parse_perturbations,
    permanent_failure,
)
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.shop import Shop

SHOP = Shop(3, "compact")
HOST = SHOP.host
LAYOUTS = ("compact", "auto")
LISTS = {"compact": "/c/{}", "auto": "/products?category={}"}
PATHS = {
    layout: ["/", *(path.format(name.lower()) for name in SHOP.groups), "/cart", "/search?q=mug"]
    for layout, path in LISTS.items()
}


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer() as server:
        yield server


def get(
    server: SiteServer, session: str, path: str, perturbations: Perturbations = NO_PERTURBATIONS, layout: str = "auto"
) -> httpx.Response:
    headers = {**server.headers(session, layout, perturbations), "Host": HOST}
    return httpx.get(f"http://127.0.0.1:{server.port}{path}", headers=headers)


def only(event: Event, page: int = 1, level: int = 3, host: str = HOST) -> Perturbations:
    """Perturbations in which an event begins on a page, and whatever could hide it does not."""
    loud = {Event.COOKIE_WALL, Event.NEWSLETTER, Event.CHAT_BUBBLE, Event.ADVERT, Event.HTTP_ERROR, Event.DROPPED}
    loud |= {Event.SESSION_EXPIRED, Event.BOT_CHECK, Event.STALLED, Event.PLEASE_WAIT, *PERMANENT}
    for seed in range(100_000):
        perturbations = Perturbations(level, f"only-{seed}", event in PERMANENT)
        first = PerturbationState(perturbations, host).first
        if first.get(event) == page and not (first.keys() - {event}) & loud:
            return perturbations
    raise AssertionError(f"no seed begins with {event} on page {page}")


def events(server: SiteServer, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.state(session)[HOST].get("perturbations", [])
    return found


def test_the_same_seed_has_the_same_perturbations_and_higher_levels_add_to_it() -> None:
    for seed in map(str, range(50)):
        by_level = [PerturbationState(Perturbations(level, seed), HOST).first for level in LEVELS]
        assert by_level == [PerturbationState(Perturbations(level, seed), HOST).first for level in LEVELS]
        assert by_level[0] == {}
        for lower, higher in itertools.pairwise(by_level):
            assert lower.items() <= higher.items()
    drawn = [str(PerturbationState(Perturbations(3, str(seed)), HOST).first) for seed in range(50)]
    assert len(set(drawn)) > 45
    met = Counter(
        event for seed in range(300) for event in PerturbationState(Perturbations(3, str(seed), True), HOST).first
    )
    assert set(met) == set(Event)
    assert sum(
        bool(PERMANENT & set(PerturbationState(Perturbations(0, str(s), True), HOST).first)) for s in range(1000)
    ) in range(100, 250)


def test_perturbations_are_written_to_a_header_and_read_again(server: SiteServer) -> None:
    for perturbations in (Perturbations(3, "5/train/2/Ä;b c/1", True), Perturbations(1, "")):
        assert parse_perturbations(str(perturbations)) == perturbations
        assert str(perturbations).isascii()
    assert PERTURBATIONS_HEADER not in server.headers("a", "auto", Perturbations(0, "seed"))
    for text in ("3", "x;0;a", "7;0;a", "3;2;a"):
        with pytest.raises(SiteError):
            parse_perturbations(text)
        headers = {**server.headers("bad"), "Host": HOST, PERTURBATIONS_HEADER: text}
        assert httpx.get(f"http://127.0.0.1:{server.port}/", headers=headers).status_code == 400


@pytest.mark.parametrize("event", [None, Event.COOKIE_WALL, Event.ADVERT, Event.BOT_CHECK])
def test_full_pages_and_what_is_laid_over_them_have_no_garish_colours(server: SiteServer, event: Event | None) -> None:
    drawn = load_site("shop", 3).look
    garish = {*vars(drawn.palette).values()} - {*vars(drawn.on("auto").palette).values()}
    html = get(server, f"colours-{event}", "/", only(event) if event else NO_PERTURBATIONS).text
    assert garish and [color for color in garish if str(color) in html] == []


def test_every_text_fits_the_compact_grid() -> None:
    for drawn_from in (
        texts.COOKIES, texts.NEWSLETTERS, texts.CHATS, texts.ADVERTS, texts.DRIFTS, texts.EXPIRIES, texts.CHECKS,
    ):  # fmt: skip
        assert len(drawn_from) >= 6
    look = SHOP.look
    for event in (Event.COOKIE_WALL, Event.NEWSLETTER, Event.CHAT_BUBBLE):
        panels: list[Panel] = []
        for seed in range(400):
            panels.append(make_panel(look, PerturbationState(Perturbations(3, str(seed)), HOST).rng(event), event))
            rows = compact_rows(panels[-1])
            assert len(rows) <= 7
            assert any(cell.name == "answer" for row in rows for cell in row.cells), "it can be closed"
        assert len({p.title for p in panels}) >= 6
        assert len({p.place for p in panels}) >= 2
        assert len({p.back for p in panels}) >= 3


def test_without_perturbations_not_a_byte_changes(server: SiteServer) -> None:
    for layout in LAYOUTS:
        for path in PATHS[layout]:
            plain = httpx.get(
                f"http://127.0.0.1:{server.port}{path}",
                headers={"X-Webdojo-Session": "p", "X-Webdojo-Layout": layout, "Host": HOST},
            )
            clear = get(server, "q", path, Perturbations(0, "any"), layout)
            assert clear.content == plain.content
            assert clear.headers.items() - {("date", clear.headers["date"])} == (
                plain.headers.items() - {("date", plain.headers["date"])}
            )
    assert "perturbations" not in server.state("q")[HOST]
    assert get(server, "q", "/-/answer").status_code == 404


def test_a_session_sees_its_own_perturbations_again_and_no_other(server: SiteServer) -> None:
    def visit(session: str, perturbations: Perturbations) -> list[dict[str, Any]]:
        for _ in range(2):
            for path in PATHS["auto"]:
                try:
                    get(server, session, path, perturbations)
                except httpx.RemoteProtocolError:
                    continue
        return events(server, session)

    perturbed = only(Event.COOKIE_WALL)
    assert visit("one", perturbed) == visit("two", perturbed) != []
    assert visit("other", only(Event.NEWSLETTER, 2)) != events(server, "one")
    assert visit("calm", NO_PERTURBATIONS) == []
    httpx.post(
        f"http://127.0.0.1:{server.port}/-/answer",
        headers={**server.headers("one", "auto", perturbed), "Host": HOST},
        data={"event": "cookie_wall", "answer": "OK", "next": "//example.com/"},
    )
    assert [noted["event"] for noted in events(server, "one") if "answer" in noted] == ["cookie_wall"]
    assert not any("answer" in noted for noted in events(server, "two"))
    assert 'role="dialog"' not in get(server, "one", "/", perturbed).text
    assert 'role="dialog"' in get(server, "two", "/", perturbed).text
    server.end("one")
    assert server.state("one") == {}


def test_the_way_back_stays_on_the_site(server: SiteServer) -> None:
    for wrong in ("//example.com", "http://example.com/", "/\\example.com", "", "/-/offer"):
        reply = httpx.post(
            f"http://127.0.0.1:{server.port}/-/answer",
            headers={**server.headers("back", "auto", Perturbations(1, "a")), "Host": HOST},
            data={"next": wrong},
        )
        assert reply.headers["location"] == "/"


def test_an_outage_lasts(server: SiteServer) -> None:
    perturbations = only(Event.OUTAGE, 2, level=0)
    assert get(server, "down", "/", perturbations).status_code == 200
    assert [get(server, "down", path, perturbations).status_code for path in ("/cart", "/", "/cart")] == [503] * 3
    assert permanent_failure(server.state("down")) == f"the site was down ({HOST}, page 2)"
    assert events(server, "down") == [{"page": 2, "event": "outage"}]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_differ_and_move_but_say_the_same(layout: str, server: SiteServer) -> None:
    def links(html: str) -> list[str]:
        return sorted(set(re.findall(r'href="(/[^"]*)"', html)) - {"/"})

    path = LISTS[layout].format(next(iter(SHOP.groups)).lower())
    plain = get(server, f"plain-{layout}", path, layout=layout).text
    drawn = [(seed, PerturbationState(Perturbations(2, str(seed)), HOST).first) for seed in range(400)]
    changed = [
        get(server, f"ab-{seed}-{layout}", path, Perturbations(2, str(seed)), layout).text
        for seed, first in drawn
        if [event for event, page in first.items() if page == 1] == [Event.AB_LAYOUT]
    ]
    assert len(changed) > 5
    assert all(html != plain and links(html) == links(plain) for html in changed)
    name, perturbations = f"moved-{layout}", only(Event.MOVED_BUTTONS, 2)
    first, second = (get(server, name, path, perturbations, layout).text for _ in range(2))
    assert first != second
    assert {"page": 2, "event": "moved_buttons"} in events(server, name)


def test_drift_changes_from_visit_to_visit(server: SiteServer) -> None:
    perturbations = only(Event.DRIFT)
    pages = [get(server, "drift", "/cart", perturbations, "compact").text for _ in range(12)]
    assert len(set(pages)) > 3


def test_hosts_have_perturbations_of_their_own() -> None:
    perturbations = Perturbations(3, "a")
    drawn = {str(PerturbationState(perturbations, host_of("shop", seed)).first) for seed in range(20)}
    assert len(drawn) > 15


def test_fares_that_no_goal_reads_change_between_visits_in_heavy_perturbations_alone() -> None:
    agency = load_site("travel", 3)
    assert isinstance(agency, CatalogSite)
    path = f"/flights/{agency.main.entities[0].slug}"
    with SiteServer() as server:

        def fares(perturbations: Perturbations, session: str) -> list[str]:
            headers = {**server.headers(session, "auto", perturbations), "Host": agency.host}
            pages = [httpx.get(f"http://127.0.0.1:{server.port}{path}", headers=headers).text for _ in range(6)]
            return [page.partition("Last minute")[2].partition("</table>")[0] for page in pages]

        assert len(set(fares(NO_PERTURBATIONS, "fair"))) == 1
        assert len(set(fares(only(Event.DRIFT, host=agency.host), "drift"))) > 2


def test_a_page_that_asks_to_wait_goes_on_by_itself() -> None:
    with SiteServer() as server:
        perturbations = only(Event.PLEASE_WAIT, 2)
        assert "refresh" not in get(server, "queue", "/", perturbations).headers
        asked = get(server, "queue", "/search?q=red%20mug", perturbations)
        seconds, _, address = asked.headers["refresh"].partition("; url=")
        assert asked.status_code == 200 and "<a " not in asked.text and "<button" not in asked.text
        assert 3 <= float(seconds) <= 5
        found = get(server, "queue", address, perturbations)
        assert "refresh" not in found.headers and str(found.url).endswith("/search?q=red%20mug")
        assert [noted["event"] for noted in events(server, "queue")].count("please_wait") == 1
