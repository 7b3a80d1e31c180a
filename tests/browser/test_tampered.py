"""Pages that change what scripts stand on, or name forms and fields after it: our own scripts must not notice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.browser.conftest import Handler, served
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.types import ToolCall, View

pytestmark = pytest.mark.asyncio(loop_scope="module")

TAMPERED = {
    "a variable that hides the scroll offset": "let scrollY; var scrollX = 'left'",
    "arrays with a text of their own": "Array.prototype.toJSON = Object.prototype.toJSON = () => 'mine'",
    "a clock that stands": "performance.now = Date.now = () => 0",
    "another clock": "const performance = 85",
    "no promises": "let Promise = 1",
    "no observers": "const MutationObserver = 0",
    "timers that never end": "setTimeout = requestAnimationFrame = queueMicrotask = () => 0",
    "timers that are cleared": "const own = setInterval("
    "() => { for (let i = own + 1; i < own + 3000; i++) clearTimeout(i) }, 1)",
    "a title that throws": "Object.defineProperty(document, 'title', {get() { throw 1 }})",
    "elements that throw": "Element.prototype.getBoundingClientRect = Element.prototype.closest = () => { throw 1 }",
    "a form with the names of the document": "".join(
        f"document.body.insertAdjacentHTML('beforeend', '<form name={name}></form>');"
        for name in ("title", "images", "body", "scripts", "fonts", "activeElement", "elementFromPoint", "readyState")
    ),
    "fields with the names of their form": "document.body.insertAdjacentHTML('afterbegin', '<form tabindex=0 "
    'style="position:absolute;inset:0" onclick=1>\''
    + "".join(
        f" + '<input type=hidden name={name}>'"
        for name in ("tagName", "parentElement", "closest", "matches", "childNodes", "shadowRoot", "getAttribute")
    )
    + " + '</form>')",
}
"""Scripts at the end of the page, by what they do."""
PAGE = (
    "<!doctype html><title>Tampered</title><body style='margin:0'><button style='position:relative;z-index:1;"
    "width:200px;height:100px' onclick='out.textContent = \"pressed\"'>Press</button><p id=out>quiet</p>"
    "<div style='height:3000px'></div><script>{}</script>"
)


class Tampering(Handler):
    def do_GET(self) -> None:
        number = self.path.removeprefix("/")
        self.answer(200, PAGE.format(list(TAMPERED.values())[int(number)]) if number.isdigit() else "?")


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with served(Tampering) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module", params=range(len(TAMPERED)), ids=list(TAMPERED))
async def tampered(pool: BrowserPool, origin: str, request: pytest.FixtureRequest) -> AsyncIterator[BrowserSession]:
    session = await pool.open(f"{origin}/{request.param}")
    yield session
    await session.close()


async def test_a_page_that_was_tampered_with_is_read_as_it_is(tampered: BrowserSession) -> None:
    seen = await tampered.observe(View(kind="accessibility_tree"))
    assert (seen.title, seen.scroll_px) == ("Tampered", (0, 0))
    assert seen.page_px[1] > 3000
    assert "button 'Press'" in seen.text and "quiet" in seen.text
    click, scroll = (
        ToolCall(name="click", arguments={"x": 200, "y": 100}),
        ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5}),
    )
    clicked, scrolled = (await tampered.act([click, scroll])).feedback
    assert clicked.ok and '<button> "Press": page changed' in clicked.text
    assert scrolled.text.startswith("scroll down 0.5: page is now at ")
    seen = await tampered.observe(View(kind="accessibility_tree", whole_page=True))
    assert seen.scroll_px == (0, 250) and "pressed" in seen.text
