"""What would open in a window of its own: drawn inside the page or kept shut, in both ways to see a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
import pytest_asyncio

from tests.browser.conftest import rows, served
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIZE = "<style>input, select { width: 200px; height: 30px; margin: 0 }</style>"
INDICATOR_X = 380
"""Of a field that is 200 px wide in a viewport of 500."""
OPTIONS = "<option>Small<option>Large<option>Huge"
FIELDS = {
    "date": ("2026-05-17", 3),
    "time": ("13:45", 3),
    "month": ("2026-05", 2),
    "week": ("2026-W20", 2),
    "datetime-local": ("2026-05-17T13:45", 6),
    "color": ("#ff8800", 0),
}
"""What each takes, and how many presses of Tab lead from its first part to the button of its picker."""
LISTS = {
    "plain": f"<select>{OPTIONS}</select>",
    "of one row": f"<select size=1>{OPTIONS}</select>",
    "of the page's look": f"<style>#s {{ appearance: none !important }}</style><select id=s>{OPTIONS}</select>",
    "of a look of its own": f"<select style='appearance: auto !important'>{OPTIONS}</select>",
    "without our sheet": f"<select>{OPTIONS}</select><script>document.adoptedStyleSheets = []</script>",
    "in a shadow root": f"<div id=h></div><script>h.attachShadow({{mode: 'open'}}).innerHTML = `{SIZE}"
    f"<select>{OPTIONS}</select>`</script>",
    "in a closed shadow root": f"<div id=h></div><script>h.attachShadow({{mode: 'closed'}}).innerHTML = `{SIZE}"
    f"<select>{OPTIONS}</select>`</script>",
}
PAGES = {f"/list/{name}".replace(" ", "-"): SIZE + rows(page) for name, page in LISTS.items()}
for kind in FIELDS:
    PAGES[f"/field/{kind}"] = SIZE + rows(
        f"<form action=/sent><input name=f type={kind} aria-label=Field><button>Send</button></form>",
        "<button onclick='document.querySelector(\"input\").showPicker()'>Show</button>",
        "<label for=l>Label</label>",
        f"<input id=l type={kind}>",
    )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        data = PAGES.get(self.path, "<title>sent</title>sent").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with served(Handler) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["screenshot", "begin_frame"])
async def pool(config: BrowserConfig, request: pytest.FixtureRequest) -> AsyncIterator[BrowserPool]:
    if request.param == "begin_frame" and "headless" not in find_chromium(BrowserConfig()):
        pytest.skip("only the headless shell draws on demand")
    async with BrowserPool(config.model_copy(update={"capture": request.param, "browsers": 1}), MemoryImages()) as pool:
        assert (pool.browsers[0].frames is not None) == (request.param == "begin_frame")
        yield pool


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def row(number: int, x: int = 30) -> ToolCall:
    return call("click", x=x, y=100 * number + 30)


def keys(*pressed: str) -> ToolCall:
    return call("press_keys", keys=list(pressed))


async def say(session: BrowserSession, *calls: ToolCall) -> str:
    """Feedback of the last call; the page is seen after each."""
    for each in calls:
        said = (await session.act([each])).feedback[-1].text
        await session.observe()
    return said


@pytest.mark.parametrize("kind", FIELDS)
async def test_no_picker_opens_and_the_field_takes_values(pool: BrowserPool, origin: str, kind: str) -> None:
    value, tabs = FIELDS[kind]
    browser = pool.browsers[0]
    session = await pool.open(f"{origin}/field/{kind}")
    hint = f"it takes values like {value}"
    assert (await say(session, row(0, x=INDICATOR_X))).endswith(hint)
    still = (await session.observe()).screenshot.sha
    await say(session, keys("F4"), keys("Alt+ArrowDown"), keys("Space"), row(0, x=INDICATOR_X), row(2))
    assert (await say(session, row(1))).endswith(f'<input> "Field" is focused; {hint}')
    # Keys still reach the parts of the field, and values go in as a whole.
    assert (await say(session, call("write", text="soon"))).endswith(hint)
    assert await say(session, call("write", text=value)) == f'write "{value}" into <input> "Field"'
    assert await session.page.evaluate("document.querySelector('input').value") == value
    assert (await session.observe()).screenshot.sha != still
    if tabs:
        assert '"Field" now holds' in await say(session, row(0, x=10), keys("ArrowUp"))
        # On the button of the picker Enter sends the form, as in the field.
        assert "/sent" in await say(session, *[keys("Tab")] * tabs, keys("Enter"))
    await session.close()
    assert pool.browsers == [browser] and browser.alive, "a pop-up ended the browser"


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_opens_in_the_page_and_its_options_take_clicks(pool: BrowserPool, origin: str, name: str) -> None:
    browser = pool.browsers[0]
    session = await pool.open(f"{origin}/list/{name}".replace(" ", "-"))
    closed = (await session.observe()).screenshot.sha
    await session.act([row(0)])
    assert (await session.observe()).screenshot.sha != closed
    # The options stand below the list, one after the other; the last one is picked with keys, the second by a click.
    chosen = await session.page.evaluate_handle(
        "() => { const found = {}; addEventListener('input', (event) => {"
        " const list = event.composedPath().find((node) => node.tagName === 'SELECT');"
        " found.value = list && list.value; found.any = true }, true); return found }"
    )
    await session.act([call("click", x=60, y=190)])
    picked = await chosen.evaluate("(found) => [found.any, found.value]")
    assert picked[0], "the click reached no option"
    assert picked[1] in ("Small", "Large", "Huge", None)
    await session.observe()
    await session.close()
    assert pool.browsers == [browser] and browser.alive, "a pop-up ended the browser"


@pytest.mark.parametrize("name", LISTS)
async def test_arrows_choose_from_a_closed_list_and_the_feedback_says_what(
    pool: BrowserPool, origin: str, name: str
) -> None:
    session = await pool.open(f"{origin}/list/{name}".replace(" ", "-"))
    told = await session.page.evaluate_handle(
        "() => { const told = []; for (const type of ['input', 'change']) addEventListener(type, () => told.push(type),"
        " true); return told }"
    )
    untold = "sent to <div>, which does not tell what changed" if name == "in a closed shadow root" else ""
    await say(session, keys("Tab"))
    for key, value in (("ArrowDown", "Large"), ("ArrowRight", "Huge"), ("ArrowUp", "Large"), ("ArrowLeft", "Small")):
        before = (await session.observe()).screenshot.sha
        said = await say(session, keys(key))
        assert said == f"press_keys {key}: " + (untold or f'<select> now holds "{value}"')
        assert (await session.observe()).screenshot.sha != before
    assert (
        await say(session, keys("ArrowUp")) == f"press_keys ArrowUp: {untold or 'nothing changed'}"
    )  # it is the first one
    assert await told.json_value() == ["input", "change"] * 4
    await session.close()
