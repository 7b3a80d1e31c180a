"""What a browser may reach: names, addresses, and every way in which Chromium opens a connection."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.browser.conftest import Handler, served
from webdojo.browser.config import BrowserConfig, GuardConfig
from webdojo.browser.network.guard import Guard, Refused
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.errors import ConfigError, StartError
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        *((private, False) for private in ("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "100.64.0.1")),
        *((local, False) for local in ("169.254.169.254", "0.0.0.0", "255.255.255.255", "224.0.0.1")),
        *((six, False) for six in ("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1")),
        # IPv6 addresses that stand for IPv4 ones.
        *((mapped, False) for mapped in ("::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:a9fe:a9fe")),
        *((mapped, False) for mapped in ("::7f00:1", "64:ff9b:1::7f00:1")),
        ("64:ff9b::808:808", True),
        # What clouds and protocols use, whatever this Python calls global.
        *((special, False) for special in ("168.63.129.16", "192.0.0.192", "192.0.0.9", "192.88.99.1", "198.18.0.1")),
        *((special, False) for special in ("fec0::1", "2001:db8::1", "3fff::1", "100::1", "2001:20::1")),
    ],
)
def test_only_public_addresses(address: str, public: bool) -> None:
    guard = Guard(GuardConfig())
    if public:
        guard.check_address("example.com", ipaddress.ip_address(address))
    else:
        with pytest.raises(Refused, match="not a public address"):
            guard.check_address("example.com", ipaddress.ip_address(address))


def test_private_hosts_are_exceptions_by_address_network_and_name() -> None:
    guard = Guard(GuardConfig(private_hosts=["10.0.0.5", "192.168.0.0/16", "lab.example"]))
    for host, address in (("a", "10.0.0.5"), ("b", "192.168.3.4"), ("shop.lab.example", "127.0.0.1")):
        guard.check_address(host, ipaddress.ip_address(address))
    for host, address in (("a", "10.0.0.6"), ("otherlab.example", "127.0.0.1")):
        with pytest.raises(Refused):
            guard.check_address(host, ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("allowed", "blocked", "host", "reason"),
    [
        ([], [], "anything.example", None),
        ([], ["bad.example"], "bad.example", "blocked"),
        ([], ["bad.example"], "WWW.Bad.example.", "blocked"),
        ([], ["bad.example"], "notbad.example", None),
        (["*.good.example"], [], "good.example", None),
        (["good.example"], [], "a.b.good.example", None),
        (["good.example"], [], "other.example", "not among"),
        (["good.example"], ["ads.good.example"], "ads.good.example", "blocked"),
    ],
)
def test_domain_lists(allowed: list[str], blocked: list[str], host: str, reason: str | None) -> None:
    guard = Guard(GuardConfig(allowed_domains=allowed, blocked_domains=blocked))
    if reason is None:
        guard.check_host(host)
    else:
        with pytest.raises(Refused, match=reason):
            guard.check_host(host)


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "10.0.0", "shop.example/8"])
def test_a_wrong_exception_is_named(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"private_hosts has '.*write 10\.0\.0\.5"):
        Guard(GuardConfig(private_hosts=[entry]))


@pytest.mark.parametrize(
    "host",
    [
        *("2130706433", "127.1", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "①27.0.0.1", "%3127.0.0.1", "0"),
        *("[::1]", "::1", "[::ffff:7f00:1]", "LOCALHOST.", "a.localhost"),
    ],
)
def test_a_host_is_judged_however_it_is_spelled(host: str) -> None:
    guard = Guard(GuardConfig())
    with pytest.raises(Refused, match="not a public address"):
        guard.check(host)
    spelled = f"[{host}]" if host == "::1" else host
    assert guard.refusal(f"http://{spelled}:8080/x") is not None


def test_a_domain_is_one_however_it_is_spelled() -> None:
    guard = Guard(GuardConfig(blocked_domains=["*.Bücher.example"], allowed_domains=["bücher.example", "example.com"]))
    with pytest.raises(Refused, match="blocked"):
        guard.check("xn--bcher-kva.example.")
    guard.check("ＥＸＡＭＰＬＥ.com")


async def test_a_name_is_judged_by_what_it_resolves_to() -> None:
    guard = Guard(GuardConfig())
    with pytest.raises(Refused):
        await guard.resolve("localhost", 80)
    assert "not a public address" in str(guard.refusal("http://LOCALHOST/x"))
    assert guard.refusal("http://example.com/") is None
    assert await guard.resolve("93.184.216.34", 80) == ["93.184.216.34"]


@pytest.mark.parametrize(
    ("host", "setting"),
    [
        ("localhost", "browser.guard.private_hosts=[localhost] allows it"),
        ("10.0.0.7", "browser.guard.private_hosts=[10.0.0.7] allows it"),
        ("ads.example", "browser.guard.blocked_domains"),
    ],
)
def test_a_refusal_names_the_key_that_decides_but_not_to_the_agent(host: str, setting: str) -> None:
    guard = Guard(GuardConfig(blocked_domains=["ads.example"]))
    with pytest.raises(Refused) as refused:
        guard.check(host)
    assert refused.value.setting == setting
    remembered = guard.refusal(f"http://{host}/")
    assert remembered is not None and remembered.setting == setting
    assert "browser.guard" not in str(remembered)


# --- on real Chromium ---------------------------------------------------------------------------

browser = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def secret() -> Iterator[tuple[int, list[bytes]]]:
    """A service of this machine that no page may reach: its port, and what was said to it."""
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.2", 0))

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(1000))
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 6\r\n\r\nsecret"
                )

    threading.Thread(target=listen, daemon=True).start()
    yield listener.getsockname()[1], heard
    listener.close()


class Redirector(Handler):
    target = ""

    def do_GET(self) -> None:
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", self.target)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self.answer(200, str(len(self.rfile.read(int(self.headers["Content-Length"])))))


@pytest.fixture(scope="module")
def redirecting(secret: tuple[int, list[bytes]]) -> Iterator[str]:
    Redirector.target = f"http://127.0.0.2:{secret[0]}/"
    with served(Redirector) as origin:
        yield origin


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded() -> AsyncIterator[BrowserPool]:
    """May reach 127.0.0.1, where the pages are, and not 127.0.0.2."""
    guard = GuardConfig(private_hosts=["127.0.0.1"], blocked_domains=["blocked.example"])
    config = BrowserConfig(viewport_px=(500, 500), navigation_retries=0, ready_cap_s=2, guard=guard)
    async with BrowserPool(config, MemoryImages()) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="module")
async def page(guarded: BrowserPool, redirecting: str) -> AsyncIterator[BrowserSession]:
    session = await guarded.open(f"{redirecting}/")
    yield session
    await session.close()


async def goto(session: BrowserSession, url: str) -> str:
    result = await session.act([ToolCall(name="goto_url", arguments={"url": url})])
    return result.feedback[0].text


@browser
async def test_no_way_leads_to_a_private_service(
    page: BrowserSession, redirecting: str, secret: tuple[int, list[bytes]]
) -> None:
    port, heard = secret
    assert "refused: 127.0.0.2 is not a public address" in await goto(page, f"http://127.0.0.2:{port}/")
    assert "refused" in await goto(page, f"https://127.0.0.2:{port}/")
    assert "refused" in await goto(page, f"{redirecting}/away")
    await goto(page, redirecting)
    for script in (
        f"fetch('http://127.0.0.2:{port}/').then(r => r.text())",
        f"new Promise(done => {{ const s = new WebSocket('ws://127.0.0.2:{port}/'); "
        "s.onclose = s.onerror = () => done('') })",
        f"new Promise(done => {{ const i = new Image(); i.onload = i.onerror = () => done(''); "
        f"i.src = 'http://127.0.0.2:{port}/x.png' }})",
    ):
        said = await page.page.evaluate(f"{script}.catch(e => '')")
        assert "secret" not in said
    assert heard == []


@browser
async def test_a_refused_start_is_named(guarded: BrowserPool, secret: tuple[int, list[bytes]]) -> None:
    for url, setting in (
        (f"http://127.0.0.2:{secret[0]}/", "browser.guard.private_hosts=[127.0.0.2] allows it"),
        (f"http://127.2:{secret[0]}/", "browser.guard.private_hosts=[127.0.0.2] allows it"),
        (f"https://127.0.0.2:{secret[0]}/", "browser.guard.private_hosts=[127.0.0.2] allows it"),
        ("http://blocked.example/", "browser.guard.blocked_domains"),
    ):
        with pytest.raises(StartError, match=rf"is not opened: .*\({re.escape(setting)}\)"):
            await guarded.open(url)


@browser
async def test_the_web_works_through_the_proxy(page: BrowserSession, redirecting: str) -> None:
    assert (await goto(page, f"{redirecting}/two")).endswith("/two")
    assert "HTTP 404" in await goto(page, f"{redirecting}/missing")
    posted = "fetch('/post', {method: 'POST', body: 'x'.repeat(300000)}).then(r => r.text())"
    assert await page.page.evaluate(posted) == "300000"


@browser
@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.2", "refused: 127.0.0.2 is not a public address (this machine)"),
        ("no-such-host.invalid", "the host has no address"),
    ],
)
async def test_what_is_not_let_through_is_told_the_same_way_with_and_without_tls(
    page: BrowserSession, redirecting: str, host: str, why: str
) -> None:
    links = "document.body.innerHTML = `<a style='display:block;height:500px' href='{}'></a><iframe src='{}'></iframe>`"
    for scheme in ("http", "https"):
        url = f"{scheme}://{host}/"
        assert await goto(page, url) == f"goto_url failed: {why}"
        seen = await page.observe()
        assert (seen.url, seen.blocked, await page.page.inner_text("body")) == (url, "", "")
        await goto(page, redirecting)
        await page.page.evaluate(links.format(url, url))
        click = ToolCall(name="click", arguments={"x": 500, "y": 500})
        assert (await page.act([click])).feedback[0].text.endswith(f"page is now {url}; {why}")
        assert await page.page.inner_text("body") == ""
        await goto(page, redirecting)
        await page.page.evaluate(links.format(redirecting, url))
        await page.act([ToolCall(name="wait", arguments={"seconds": 0})])
        assert await page.page.frames[1].inner_text("body") == ""


@browser
async def test_a_redirect_to_what_is_refused_is_told_by_where_it_leads(
    page: BrowserSession, guarded: BrowserPool, redirecting: str
) -> None:
    assert await goto(page, f"{redirecting}/away") == (
        "goto_url failed: refused: 127.0.0.2 is not a public address (this machine)"
    )
    with pytest.raises(StartError, match=r"/away is not opened: 127\.0\.0\.2 is not a public address"):
        await guarded.open(f"{redirecting}/away")
