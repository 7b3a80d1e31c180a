import contextlib
import re

import httpx
import pytest

from webdojo.errors import SiteError
from webdojo.sites.perturbations.schedule import PERTURBATIONS_HEADER, Perturbations
from webdojo.sites.serving.server import SESSION_HEADER, SiteServer
from webdojo.sites.shop import Shop
from webdojo.sites.wiki import Wiki

HOST = "shop-3.localhost"
SHOP = Shop(3, "compact")
ITEM = next(p.slug for p in SHOP.main.entities if p.values["stock"])
SOLD_OUT = next(p.slug for p in SHOP.main.entities if not p.values["stock"])
CATEGORY = str(SHOP.main.by_slug[ITEM].values["category"]).lower()


def get(server: SiteServer, session: str, path: str, host: str = HOST, layout: str = "compact") -> httpx.Response:
    headers = {**server.headers(session, layout), "Host": host}
    return httpx.get(f"http://127.0.0.1:{server.port}{path}", headers=headers)


def post(server: SiteServer, session: str, path: str, item: str) -> httpx.Response:
    headers = {**server.headers(session, "compact"), "Host": HOST}
    return httpx.post(f"http://127.0.0.1:{server.port}{path}", headers=headers, data={"item": item})


def test_a_port_is_taken_before_anything_is_served() -> None:
    first = SiteServer()
    with pytest.raises(SiteError, match=f"port {first.port} of 127.0.0.1 cannot be used"):
        SiteServer(first.port)
    with first:
        assert get(first, "a", "/").status_code == 200


def test_a_person_finds_the_sites_at_the_root_and_sees_the_layout_that_is_asked_for() -> None:
    with SiteServer(layout="compact") as server:
        url = f"http://127.0.0.1:{server.port}/"
        root = httpx.get(url)
        assert root.status_code == 200
        assert f'<a href="http://wiki-1000000.localhost:{server.port}/">wiki-1000000</a>' in root.text
        assert httpx.get(url, headers={"Host": f"localhost:{server.port}"}).text == root.text
        assert httpx.get(f"{url}favicon.ico").status_code == 404
        compact = httpx.get(url, headers={"Host": HOST}).text
        assert compact == get(server, "a", "/").text != get(server, "a", "/", layout="auto").text
    with pytest.raises(SiteError, match="unknown layout 'tiny'"):
        SiteServer(layout="tiny")


def test_sessions_never_see_one_another() -> None:
    with SiteServer() as server:
        assert post(server, "a", "/cart/add", ITEM).headers["location"] == f"/added/{ITEM}"
        post(server, "a", "/cart/add", ITEM)
        assert server.state("a")[HOST]["state"] == {f"cart/{ITEM}": 2}
        assert "$" in get(server, "a", "/cart").text
        assert "$" not in get(server, "b", "/cart").text
        assert server.state("b")[HOST]["state"] == {}
        get(server, "a", f"/p/{ITEM}")
        assert f"{ITEM}.Stock" in server.state("a")[HOST]["seen"]
        assert server.state("b")[HOST]["seen"] == []
        assert server.state("b")[HOST]["visited"] == ["/cart"]
        post(server, "a", "/cart/remove", ITEM)
        assert server.state("a")[HOST]["state"] == {}
        server.end("a")
        server.end("a")
        assert server.state("a") == {}
        assert server.state("b") != {}


def test_the_full_size_layout_has_more_than_the_compact_one() -> None:
    more = next(p.slug for p in Shop(3).main.entities if p.slug not in SHOP.main.by_slug)
    with SiteServer() as server:
        assert get(server, "a", f"/products/{more}", layout="auto").status_code == 200
        assert get(server, "a", f"/p/{more}", layout="compact").status_code == 404
        assert get(server, "a", f"/products/{ITEM}", layout="auto").status_code == 200
        assert get(server, "a", f"/p/{ITEM}", layout="compact").status_code == 200
        assert get(server, "a", f"/products/{ITEM}", layout="compact").status_code == 404


def test_a_full_size_shop_has_a_cart_whose_amounts_add_up() -> None:
    headers = {"Host": HOST}
    with SiteServer() as server, httpx.Client(headers=headers, base_url=f"http://127.0.0.1:{server.port}") as visitor:
        visitor.headers.update(server.headers("full", "auto"))
        for _ in range(2):
            sent = visitor.post(f"/products/{ITEM}/add", data={"amount": "3"})
            assert sent.headers["location"] == f"/products/{ITEM}/add/done"
        assert server.state("full")[HOST]["state"] == {f"cart/{ITEM}": 6}
        shown = visitor.get("/cart").text
        assert f"${6 * int(SHOP.main.by_slug[ITEM].values['price'])}" in shown
        assert f"{SHOP.look.words['cart']} 6" in visitor.get("/").text
        assert visitor.post(f"/products/{SOLD_OUT}/add", data={"amount": "1"}).status_code == 422
        assert visitor.post(f"/cart/remove/{ITEM}").headers["location"] == "/cart"
        assert server.state("full")[HOST]["state"] == {}


def test_seen_facts_are_those_that_the_page_shows() -> None:
    wiki = Wiki(3, "compact")
    article = wiki.main.entities[0]
    with SiteServer() as server:
        get(server, "list", f"/c/{CATEGORY}?color={str(SHOP.main.by_slug[ITEM].values['color']).lower()}&stock=1")
        assert {f"{ITEM}.Price", f"{ITEM}.Color"} <= set(server.state("list")[HOST]["seen"])
        assert f"{ITEM}.Stock" not in server.state("list")[HOST]["seen"]
        assert not any(fact.endswith("#count") for fact in server.state("list")[HOST]["seen"])
        get(server, "one", f"/p/{ITEM}")
        related = SHOP.related(SHOP.main.by_slug[ITEM])
        assert related
        assert {f"{each.slug}.Price" for each in related} <= set(server.state("one")[HOST]["seen"])
        html = {layout: get(server, layout, "/", layout=layout).text for layout in ("compact", "auto")}
        assert server.state("compact")[HOST]["seen"] == []
        prices = re.findall(r'href="/products/([^"]+)".*?<dt>Price</dt><dd>\$(\d+)', html["auto"], re.DOTALL)
        assert prices
        for slug, price in prices:
            assert Shop(3).main.by_slug[slug].values["price"] == int(price)
            assert f"{slug}.Price" in server.state("auto")[HOST]["seen"]
        topic, region = str(article.values["topic"]).lower(), str(article.values["region"]).lower()
        get(server, "w", f"/t/{topic}", host=wiki.host)
        assert f"{article.slug}.Region" not in server.state("w")[wiki.host]["seen"]
        get(server, "w", f"/t/{topic}?region={region}", host=wiki.host)
        assert f"{article.slug}.Region" in server.state("w")[wiki.host]["seen"]


def test_hosts_of_one_session_keep_their_own_state() -> None:
    with SiteServer() as server:
        post(server, "a", "/cart/add", ITEM)
        get(server, "a", "/", host="shop-4.localhost")
        assert server.state("a")["shop-4.localhost"]["state"] == {}


def test_a_person_without_headers_gets_a_session_by_cookie() -> None:
    with (
        SiteServer() as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers={"Host": HOST}) as person,
    ):
        assert person.get("/").status_code == 200
        person.post(f"/products/{ITEM}/add", data={"amount": "1"})
        assert "$" in person.get("/cart").text


def test_requests_that_make_no_sense_change_nothing() -> None:
    with SiteServer() as server:
        assert get(server, "a", "/", host="example.com").status_code == 404
        assert get(server, "a", "/nowhere").status_code == 404
        assert get(server, "a", "/c/nothing").status_code == 404
        assert get(server, "a", f"/c/{CATEGORY}?page=99&max=x").status_code == 200
        assert post(server, "a", "/cart/add", "no-such-thing").status_code == 404
        assert post(server, "a", "/cart/add", SOLD_OUT).status_code == 404
        assert server.state("a")[HOST]["state"] == {}


def test_pages_that_do_not_exist_are_read_as_the_nearest_that_do() -> None:
    with SiteServer() as server:
        first = get(server, "a", f"/c/{CATEGORY}").text
        for page in ("0", "x", "²", "-1"):
            assert get(server, "a", f"/c/{CATEGORY}?page={page}").text == first


def test_markup_in_a_search_is_text() -> None:
    with SiteServer() as server:
        for layout in ("compact", "auto"):
            html = get(server, "a", "/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22", layout=layout).text
            assert "<script>alert" not in html
            assert "&lt;script&gt;alert" in html


def test_a_taken_port_and_an_unknown_layout_are_errors() -> None:
    with SiteServer() as server:
        with pytest.raises(SiteError, match=str(server.port)):
            SiteServer(server.port)
        with pytest.raises(SiteError, match="layout"):
            server.headers("a", "tiny")
    with pytest.raises(SiteError, match=r"192\.0\.2\.1"):
        SiteServer(host="192.0.2.1")  # nobody's


def test_sites_for_other_machines_are_found_by_this_one_too() -> None:
    with SiteServer(host="0.0.0.0") as server:
        [address] = server.hosts.values()
        assert address == f"127.0.0.1:{server.port}"
        assert httpx.get(f"http://{address}/", headers={"Host": HOST}).status_code == 200


def test_a_server_may_have_perturbations_for_visitors_who_ask_for_none() -> None:
    with SiteServer(perturbations=Perturbations(3, "storm")) as server:
        here = f"http://127.0.0.1:{server.port}/"
        with httpx.Client(headers={"Host": HOST, SESSION_HEADER: "visitor"}) as visitor:
            assert visitor.get(here).headers["connection"] == "close"
            for _ in range(5):
                with contextlib.suppress(httpx.RemoteProtocolError):
                    visitor.get(here)
        assert server.state("visitor")[HOST]["perturbations"]
        clear = {**server.headers("clear"), "Host": HOST, PERTURBATIONS_HEADER: str(Perturbations())}
        httpx.get(here, headers=clear)
        assert "perturbations" not in server.state("clear")[HOST]
