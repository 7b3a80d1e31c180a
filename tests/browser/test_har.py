"""What a session keeps of its pages' requests, locally and on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from tests.browser.conftest import CONFIG
from tests.browser_service.served import Served
from tests.reward.webarena.site import serving
from webdojo.browser.interface import Pool, Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser_service.client import RemotePool
from webdojo.errors import ConfigError
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

FORM = """<!doctype html><title>form</title><link rel=stylesheet href=/style.css><body style="margin:0">
<form method=post action=/save><input type=hidden name="bio[text]" value="I am a robot ü">
<button style="display:block;width:300px;height:100px">Save</button></form>
<script>fetch('/data.json', {headers: {Authorization: 'Basic abc'}}); fetch('/dead').catch(() => {})</script>"""
RECORDED = CONFIG.model_copy(update={"record_har": True})


def make_app() -> FastAPI:
    app = FastAPI()

    @app.get("/")
    async def form() -> HTMLResponse:
        answer = HTMLResponse(FORM)
        answer.set_cookie("login", "a-secret", httponly=True)
        answer.set_cookie("message", "hello")
        return answer

    @app.get("/data.json")
    async def data() -> JSONResponse:
        return JSONResponse({"a": "ü"})

    @app.get("/style.css")
    async def style() -> Response:
        return Response("b{}", media_type="text/css")

    @app.post("/save")
    async def save(request: Request) -> RedirectResponse:
        assert "login=a-secret" in request.headers["cookie"]
        return RedirectResponse("/saved", 302)

    @app.get("/saved")
    async def saved() -> HTMLResponse:
        return HTMLResponse("<title>saved</title>saved")

    return app


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving(make_app()) as address:
        yield address


async def visit(pool: Pool[Session], site: str) -> list[dict[str, Any]]:
    session = await pool.open(f"{site}/")
    try:
        await session.act([ToolCall(name="click", arguments={"x": 100, "y": 50})])
        assert (await session.observe()).title == "saved"
        return await session.har()
    finally:
        await session.close()


def check(entries: list[dict[str, Any]], site: str) -> None:
    told = [(each["request"]["method"], each["request"]["url"], each["response"]["status"]) for each in entries]
    assert told == [
        ("GET", f"{site}/", 200),
        ("GET", f"{site}/data.json", 200),
        ("GET", f"{site}/dead", 404),
        ("POST", f"{site}/save", 302),
        ("GET", f"{site}/saved", 200),
    ]
    page, data, _, save, saved = entries
    assert data["response"]["content"] == {"mimeType": "application/json", "text": '{"a":"ü"}'}
    assert "content" not in page["response"]
    assert save["request"]["postData"] == {
        "mimeType": "application/x-www-form-urlencoded",
        "text": "bio%5Btext%5D=I+am+a+robot+%C3%BC",
    }
    assert save["response"]["redirectURL"] == "/saved"
    assert page["response"]["cookies"] == [{"name": "message", "value": "hello"}]
    sent = {each["name"].lower(): each["value"] for each in saved["request"]["headers"]}
    assert sent["cookie"] == "message=hello" and sent["referer"] == f"{site}/"
    sent = {each["name"].lower(): each["value"] for each in page["request"]["headers"]}
    assert sent["sec-fetch-dest"] == "document" and sent["accept"].startswith("text/html")
    assert "a-secret" not in str(entries) and "Basic abc" not in str(entries)


async def test_a_local_session_keeps_them(site: str) -> None:
    async with BrowserPool(RECORDED, MemoryImages()) as pool:
        check(await visit(pool, site), site)


async def test_a_session_on_a_server_keeps_them(site: str) -> None:
    served = Served(RECORDED)
    await asyncio.to_thread(served.__enter__)
    try:
        async with RemotePool([served.url], MemoryImages()) as pool:
            check(await visit(pool, site), site)
    finally:
        await asyncio.to_thread(served.__exit__)


async def test_without_the_option_it_says_what_to_set(site: str) -> None:
    async with BrowserPool(CONFIG, MemoryImages()) as pool:
        with pytest.raises(ConfigError, match=r"set browser.record_har=true"):
            await visit(pool, site)
    served = Served(CONFIG)
    await asyncio.to_thread(served.__enter__)
    try:
        async with RemotePool([served.url], MemoryImages()) as remote:
            with pytest.raises(ConfigError, match=r"set browser.record_har=true, at this server"):
                await visit(remote, site)
    finally:
        await asyncio.to_thread(served.__exit__)
