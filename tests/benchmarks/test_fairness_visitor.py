"""The visitor of the fairness benchmark: it says where it comes from as Chromium does, and goes no way a page lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.benchmarks.conftest import Script
from webdojo.sites.serving.server import LocalServer

HOME = """<a href="/list?page=2">More</a> <a href="#main">Skip</a> <p hidden>unseen</p> <p>seen</p>
<iframe data-host="other.localhost" data-path="/embed"></iframe> <div data-late="/late"></div>
<form action="/find"><select name="kind"><option value="">Any</option><option>Cafe</option></select>
<input type="checkbox" name="now" value="yes"></form>
<form action="/done" method="post"><input name="text"></form>"""


class Recorder(LocalServer):
    """Serves one page at every address and keeps what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str | None, str]] = []
        """Method, address, `Referer` and `Sec-Fetch-Dest` of each request."""
        super().__init__(Starlette(routes=[Route("/{path:path}", self._serve, methods=["GET", "POST"])]))

    async def _serve(self, request: Request) -> Response:
        path = str(request.url).replace("http://", "")
        headers = request.headers
        self.asked.append((request.method, path, headers.get("referer"), headers["sec-fetch-dest"]))
        if request.method == "POST":
            return RedirectResponse("/thanks", status_code=303)
        return HTMLResponse(HOME if request.url.path in ("/", "/list") else "<main><a href='/deep'>deep</a></main>")

    def headers(self, session: str, layout: str) -> dict[str, str]:
        return {}

    def state(self, session: str) -> dict[str, Any]:
        return {}

    def end(self, session: str) -> None:
        pass


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder() as running:
        yield running


def test_pages_frames_and_scripts_say_where_they_come_from(script: Script, recorder: Recorder) -> None:
    with script("fairness_visitor").Visitor(recorder, "s", "auto", "http://one.localhost/") as visitor:
        visitor.open_path("/list?page=2")
        visitor.back()
    page = "http://one.localhost/list?page=2"
    assert recorder.asked == [
        ("GET", "one.localhost/", None, "document"),
        ("GET", "other.localhost/embed", "http://one.localhost/", "iframe"),
        ("GET", "one.localhost/late", "http://one.localhost/", "empty"),
        ("GET", "one.localhost/list?page=2", "http://one.localhost/", "document"),
        ("GET", "other.localhost/embed", "http://one.localhost/", "iframe"),
        ("GET", "one.localhost/late", page, "empty"),
        ("GET", "one.localhost/", None, "document"),
        ("GET", "other.localhost/embed", "http://one.localhost/", "iframe"),
        ("GET", "one.localhost/late", "http://one.localhost/", "empty"),
    ]


def test_a_link_in_a_frame_comes_from_the_frame(script: Script, recorder: Recorder) -> None:
    with script("fairness_visitor").Visitor(recorder, "s", "auto", "http://one.localhost/") as visitor:
        visitor.open_path("http://other.localhost/deep")
        assert visitor.url == "http://other.localhost/deep"
    assert recorder.asked[-1] == ("GET", "other.localhost/deep", "http://other.localhost/embed", "document")


def test_forms_send_what_they_hold_and_nothing_else(script: Script, recorder: Recorder) -> None:
    module = script("fairness_visitor")
    with module.Visitor(recorder, "s", "auto", "http://one.localhost/") as visitor:
        get, post = visitor.page.forms
        with pytest.raises(module.CannotGoError):
            visitor.send(get, {"price": "3"})
        with pytest.raises(module.CannotGoError):
            visitor.send(get, {"kind": "Museum"})
        visitor.send(post, {"text": "hello"})
        assert visitor.url == "http://one.localhost/thanks"
        visitor.type_address("/")
        visitor.send(visitor.page.forms[0], {"kind": "Cafe"})
        assert visitor.url == "http://one.localhost/find?kind=Cafe"
    assert ("GET", "one.localhost/find?kind=Cafe", "http://one.localhost/", "document") in recorder.asked


def test_what_is_hidden_is_not_on_screen_and_missing_links_cannot_be_clicked(
    script: Script, recorder: Recorder
) -> None:
    module = script("fairness_visitor")
    with module.Visitor(recorder, "s", "auto", "http://one.localhost/") as visitor:
        assert "unseen" not in visitor.page.text and "seen" in visitor.page.text
        with pytest.raises(module.CannotGoError):
            visitor.open_path("/secret")
        with pytest.raises(module.CannotGoError):
            visitor.open_text("Skip")
