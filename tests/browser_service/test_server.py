"""The browser service over plain HTTP, with real Chromium: what any client, in any language, can rely on."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from tests.browser.conftest import CONFIG, LOCAL, served
from tests.browser_service.served import Served, served_process
from webdojo.browser.config import BrowserConfig, ServeConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser_service.service import SLOTS
from webdojo.store.images import MemoryImages
from webdojo.types import Observation

TOKEN = "a-secret"
WAIT = {"name": "wait", "arguments": {"seconds": 0.5}}


def config(**limits: Any) -> BrowserConfig:
    return CONFIG.model_copy(update={"viewport_px": (300, 300), "serve": ServeConfig(**limits)})


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SLOTS, "open", 1)
        with Served(config(max_sessions=8), TOKEN) as server:
            yield server


@pytest_asyncio.fixture
async def http(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with client(server.url, TOKEN) as http:
        yield http


def client(url: str, token: str = "") -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=30, trust_env=False)


async def opened(http: httpx.AsyncClient, url: str, **more: Any) -> str:
    answer = await http.post("/sessions", json={"start_url": url, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def sessions(http: httpx.AsyncClient) -> int:
    return int((await http.get("/health")).json()["sessions"])


async def until_empty(http: httpx.AsyncClient, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while await sessions(http):
        assert time.monotonic() < deadline, "a session is still open"
        await asyncio.sleep(0.05)


def failure(answer: httpx.Response) -> tuple[int, str]:
    """Status and kind; the body has exactly the one shape of errors."""
    body = answer.json()
    assert body.keys() == {"error"}
    assert {"kind", "message"} <= body["error"].keys() <= {"kind", "message", "failure", "diagnostics"}
    assert body["error"]["message"]
    return answer.status_code, body["error"]["kind"]


async def metrics(http: httpx.AsyncClient) -> dict[str, float]:
    """Samples by name and labels: `webdojo_sessions_ended_total{closed}`."""
    text = (await http.get("/metrics")).text
    return {
        f"{sample.name}{{{','.join(sample.labels.values())}}}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_a_session_from_open_to_close(http: httpx.AsyncClient, site: str) -> None:
    answer = await http.post("/sessions", json={"start_url": f"{site}/headers", "headers": {"X-Test": "seven"}})
    assert answer.json()["viewport_px"] == [300, 300]
    session = f"/sessions/{answer.json()['id']}"
    seen = await http.get(f"{session}/observation")
    line, _, image = seen.content.partition(b"\n")
    observation = Observation.model_validate_json(line)
    assert seen.headers["content-type"] == "application/vnd.webdojo.observation"
    assert observation.url == f"{site}/headers"
    assert image.startswith(b"\xff\xd8") and hashlib.sha256(image).hexdigest() == observation.screenshot.sha
    reply = (await http.get(f"{session}/snapshot")).json()
    assert [node["name"] for node in reply["nodes"]] == ["seven"]
    go = {"name": "goto_url", "arguments": {"url": f"{site}/two"}}
    done = {"name": "done", "arguments": {"answer": "42"}}
    acted = (await http.post(f"{session}/act", json={"calls": [go, done, WAIT]})).json()
    assert acted["answer"] == "42"
    assert [feedback["ok"] for feedback in acted["feedback"]] == [True, True]
    assert acted["feedback"][0]["text"].endswith(f"page is now {site}/two")
    assert (await http.delete(session)).status_code == 204
    assert failure(await http.get(f"{session}/observation")) == (404, "unknown_session")
    assert failure(await http.delete(session)) == (404, "unknown_session")


async def test_a_screenshot_that_the_client_has_is_left_out(http: httpx.AsyncClient, site: str) -> None:
    session = f"/sessions/{await opened(http, f'{site}/two')}"
    line, _, _ = (await http.get(f"{session}/observation")).content.partition(b"\n")
    sha = Observation.model_validate_json(line).screenshot.sha
    again = (await http.get(f"{session}/observation", params={"have": sha})).content
    assert again == line + b"\n"
    await http.post(f"{session}/act", json={"calls": [{"name": "goto_url", "arguments": {"url": f"{site}/missing"}}]})
    moved = (await http.get(f"{session}/observation", params={"have": sha})).content
    assert len(moved.partition(b"\n")[2]) > 500
    await http.delete(session)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"start_url": "{site}/broken"}, (424, "start_error")),
        ({"start_url": "http://10.0.0.1/"}, (424, "start_error")),
        ({"start_url": "file:///etc/passwd"}, (422, "bad_request")),
        ({"start_url": "http://["}, (422, "bad_request")),
        ({"start_url": "http://a:port/"}, (422, "bad_request")),
        ({"start_url": "{site}/", "headers": {"X": "a\r\nHost: b"}}, (422, "bad_request")),
        ({"start_url": "{site}/", "deadline_s": 0}, (422, "bad_request")),
        ({"start_url": "{site}/", "colour": "red"}, (422, "bad_request")),
        ({}, (422, "bad_request")),
    ],
)
async def test_a_session_that_cannot_be_opened(
    http: httpx.AsyncClient, site: str, body: dict[str, Any], expected: tuple[int, str]
) -> None:
    if "start_url" in body:
        body = body | {"start_url": body["start_url"].format(site=site)}
    assert failure(await http.post("/sessions", json=body)) == expected
    assert await sessions(http) == 0


async def test_half_a_character_on_a_page_does_not_break_answers(http: httpx.AsyncClient) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(
                b"<button style='width:100px;height:100px'></button><script>"
                b"document.title = 'a\\ud800b'; document.querySelector('button').ariaLabel = 'c\\ud800d'</script>"
            )

        def log_message(self, format: str, *args: object) -> None:
            pass

    with served(Page) as origin:
        session = f"/sessions/{await opened(http, origin)}"
        line, _, _ = (await http.get(f"{session}/observation")).content.partition(b"\n")
        assert Observation.model_validate_json(line).title in ("a?b", "a\ufffdb")
        click = {"name": "click", "arguments": {"x": 200, "y": 200}}
        assert (await http.post(f"{session}/act", json={"calls": [click]})).status_code == 200
        assert (await http.get(f"{session}/snapshot")).status_code == 200
        await http.delete(session)


async def test_other_errors_have_the_same_shape(http: httpx.AsyncClient, site: str) -> None:
    assert failure(await http.get("/nowhere")) == (404, "not_found")
    assert failure(await http.put("/sessions")) == (405, "bad_request")
    assert failure(await http.post("/sessions", content=b"{")) == (422, "bad_request")
    session = f"/sessions/{await opened(http, f'{site}/')}"
    assert failure(await http.post(f"{session}/act", json={"calls": [{"tool": "click"}]})) == (422, "bad_request")
    half = b'{"calls": [{"name": "write", "arguments": {"text": "\\ud800"}}]}'
    json_type = {"Content-Type": "application/json"}
    answer = await http.post(f"{session}/act", content=half, headers=json_type)
    assert failure(answer) == (422, "bad_request")
    assert failure(await http.post("/sessions", content=b'{"\\ud800": 1}', headers=json_type)) == (422, "bad_request")
    await http.delete(session)


async def test_the_token_is_asked_for_everywhere_but_where_nothing_is_told(server: Served, site: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
        async with client(server.url) as stranger:
            stranger.headers.update(headers)
            for method, path in [("POST", "/sessions"), ("DELETE", "/sessions/x"), ("GET", "/metrics"), ("GET", "/no")]:
                answer = await stranger.request(method, path, json={"start_url": f"{site}/"})
                assert failure(answer) == (401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"
            assert (await stranger.get("/health")).status_code == 200
            assert "webdojo browser service" in (await stranger.get("/docs")).text


async def test_calls_on_one_session_run_one_after_the_other(http: httpx.AsyncClient, site: str) -> None:
    session = f"/sessions/{await opened(http, f'{site}/two')}"
    began = time.monotonic()
    answers = await asyncio.gather(*(http.post(f"{session}/act", json={"calls": [WAIT]}) for _ in range(3)))
    assert time.monotonic() - began >= 1.5
    assert all(answer.json()["feedback"][0]["ok"] for answer in answers)
    # An end that is asked for during a call comes after it.
    acting = asyncio.create_task(http.post(f"{session}/act", json={"calls": [WAIT]}))
    await asyncio.sleep(0.2)
    assert (await http.delete(session)).status_code == 204
    assert acting.done() and (await acting).status_code == 200


async def test_slow_starts_do_not_hold_up_observations(http: httpx.AsyncClient, site: str) -> None:
    session = f"/sessions/{await opened(http, f'{site}/two')}"
    # One slot for starts: these take at least half a second each, one after the other.
    opening = [asyncio.create_task(opened(http, f"{site}/slow")) for _ in range(6)]
    await asyncio.sleep(0.1)
    for _ in range(4):
        assert (await http.get(f"{session}/observation")).status_code == 200
    assert sum(task.done() for task in opening) <= 3
    ids = await asyncio.gather(*opening)
    waits = await metrics(http)
    assert waits["webdojo_queue_seconds_sum{open}"] > 3
    assert waits["webdojo_queue_seconds_sum{observe}"] < 0.1
    await asyncio.gather(*(http.delete(f"/sessions/{id}") for id in ids), http.delete(session))


async def test_a_client_that_leaves_during_a_start_leaves_no_session(http: httpx.AsyncClient, site: str) -> None:
    with pytest.raises(httpx.ReadTimeout):
        await http.post("/sessions", json={"start_url": f"{site}/slow"}, timeout=0.25)
    await until_empty(http, within_s=3)


async def test_a_client_that_leaves_during_a_call_does_not_block_the_session(
    http: httpx.AsyncClient, site: str
) -> None:
    session = f"/sessions/{await opened(http, f'{site}/two')}"
    long = {"name": "wait", "arguments": {"seconds": 8}}
    with pytest.raises(httpx.ReadTimeout):
        await http.post(f"{session}/act", json={"calls": [long]}, timeout=0.25)
    answer = await http.get(f"{session}/observation", timeout=4)
    assert answer.status_code == 200
    await http.delete(session)


async def test_places_idle_sessions_and_deadlines(site: str) -> None:
    limits = config(max_sessions=2, idle_timeout_s=3)
    with Served(limits) as server:
        async with client(server.url) as http:
            first, _ = await opened(http, f"{site}/two"), await opened(http, f"{site}/two", deadline_s=2)
            full = await http.post("/sessions", json={"start_url": f"{site}/two"})
            assert failure(full) == (429, "full")
            assert int(full.headers["retry-after"]) >= 1
            # The deadline ends one of them; the other stays as long as somebody calls it.
            stop = time.monotonic() + 3.5
            while time.monotonic() < stop:
                assert (await http.get(f"/sessions/{first}/observation")).status_code == 200
                await asyncio.sleep(0.2)
            assert await sessions(http) == 1
            third = await opened(http, f"{site}/two")
            await http.delete(f"/sessions/{third}")
            await until_empty(http, within_s=8)
            gone = await http.get(f"/sessions/{first}/observation")
            assert failure(gone) == (404, "unknown_session")
            assert "--idle-timeout-s" in gone.json()["error"]["message"]
            reply = await metrics(http)
            assert reply["webdojo_sessions_opened_total{}"] == 3
            for reason in ("closed", "deadline", "idle"):
                assert reply[f"webdojo_sessions_ended_total{{{reason}}}"] == 1
            assert reply["webdojo_requests_refused_total{full}"] == 1
            assert reply["webdojo_sessions{}"] == 0
            assert reply["webdojo_browsers{}"] == 1
            assert reply["webdojo_operation_seconds_count{open}"] == 3
            assert reply["webdojo_operation_seconds_sum{observe}"] > 0


async def test_web_pages_have_no_access_without_a_token() -> None:
    asked: list[str] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = (
                "<title>evil</title><script>"
                f"const send = (mode, type) => fetch('{api.url}/sessions', {{method: 'POST', mode, body: "
                "JSON.stringify({start_url: 'http://example.org/'}), headers: {'Content-Type': type}})"
                ".then(r => r.type + r.status, () => 'blocked');"
                "Promise.all([send('no-cors', 'text/plain'), send('cors', 'application/json'),"
                f"fetch('{api.url}/metrics', {{mode: 'no-cors', referrerPolicy: 'no-referrer'}}).then(r => r.type)])"
                ".then(all => { document.title = all.join(' ') })</script>"
            ).encode()
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with Served(config()) as api, served(Page) as evil:
        async with client(api.url) as http:
            for headers in (
                {"Origin": "http://evil.example"},
                {"Referer": "http://127.0.0.1:1/"},
                {"Sec-Fetch-Site": "none"},
                {"Host": "evil.example"},
                {"Host": "evil.example:8400"},
                {"Host": "shop-0.localhost"},
                {"Host": ""},
            ):
                answer = await http.post("/sessions", json={"start_url": evil}, headers=headers)
                assert failure(answer) == (403, "forbidden"), headers
            for host in ("localhost", "127.0.0.1:1", "[::1]:8400"):
                assert (await http.get("/metrics", headers={"Host": host})).status_code == 200
            # A browser whose guard lets it reach this machine, and a page that tries.
            async with BrowserPool(BrowserConfig(viewport_px=(300, 300), guard=LOCAL), MemoryImages()) as pool:
                session = await pool.open(evil)
                deadline = time.monotonic() + 5
                while (title := (await session.observe()).title) == "evil":
                    assert time.monotonic() < deadline
                assert title == "opaque0 blocked opaque"
                await session.close()
            reply = await metrics(http)
            assert reply["webdojo_requests_refused_total{forbidden}"] >= 7 + 3
            assert reply["webdojo_sessions_opened_total{}"] == 0
    assert asked


async def test_sigterm_lets_open_sessions_finish(site: str) -> None:
    options = ["browser.viewport_px=[300,300]", "browser.guard.private_hosts=[127.0.0.1]", "--max-sessions", "3"]
    with served_process(*options, token=TOKEN) as (process, url):
        async with client(url, TOKEN) as http:
            assert (await http.get("/health")).json() == {"draining": False, "sessions": 0, "max_sessions": 3}
            session = f"/sessions/{await opened(http, f'{site}/two')}"
            process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + 5
            while (health := await http.get("/health")).status_code == 200:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
            assert health.status_code == 503 and health.json()["draining"]
            refused = await http.post("/sessions", json={"start_url": f"{site}/two"})
            assert failure(refused) == (503, "draining")
            assert "retry-after" in refused.headers
            assert (await http.get(f"{session}/observation")).status_code == 200
            assert process.poll() is None
            assert (await http.delete(session)).status_code == 204
        assert await asyncio.to_thread(process.wait, 20) == 0


async def test_a_drain_ends_with_its_time_out(site: str) -> None:
    with Served(config(drain_timeout_s=0.5)) as server:
        async with client(server.url) as http:
            await opened(http, f"{site}/two")
            server.service.drain()
            deadline = time.monotonic() + 15
            while True:
                try:
                    await http.get("/health")
                except httpx.TransportError:
                    break
                assert time.monotonic() < deadline
                await asyncio.sleep(0.1)
