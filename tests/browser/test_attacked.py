"""Pages that attack the browser environment, one test each, on real Chromium."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio
from PIL import Image

from tests.browser.conftest import CONFIG, Handler, served
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.browser.tab import MOST_TABS
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall, View

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAIN = "<!doctype html><style>body{margin:0}iframe{border:0;display:block}</style>"
TALL = "<div style='height:3000px'></div>"
PAGES = {
    "/frame": f'{PLAIN}<iframe srcdoc="{TALL}" width=500 height=400></iframe>',
    "/sandbox": f'{PLAIN}<iframe sandbox srcdoc="{TALL}" title=Map width=500 height=400></iframe>',
    "/shadow": f"{PLAIN}<div id=host></div><script>host.attachShadow({{mode: 'open'}}).innerHTML = "
    f"`<div style='height:400px;overflow:auto'>{TALL}</div>`</script>",
    "/flood": f"{PLAIN}<button style='width:500px;height:500px' "
    "onclick='for (let i = 0; i < 60; i++) window.open(\"/empty\")'>",
    "/breeds": f"{PLAIN}<script>setInterval(() => window.open('/empty'), 300)</script>",
    "/breeder": f"{PLAIN}<button style='width:500px;height:500px' onclick='window.open(\"/breeds\")'>Open</button>",
    "/opener": f"{PLAIN}<button style='width:500px;height:500px' onclick='window.open(\"/hang\")'>Open</button>",
    "/apart": f"{PLAIN}<a style='display:block;height:500px' href=/hang target=_blank rel=noopener>Open</a>",
    "/hang": f"{PLAIN}<title>hang</title><script>onload = () => setTimeout(() => {{ for (;;); }}, 400)</script>",
    "/moving": f"{PLAIN}<style>@keyframes go {{ to {{ left: 300px }} }} div {{ position: absolute; width: 100px; "
    "height: 100px; left: 0 } .on { animation: go 400ms linear forwards; background: red }</style><div id=box></div>"
    "<button style='position:absolute;top:200px;width:500px;height:100px' onclick='box.className = \"on\"'>Go</button>",
    "/keys": f"{PLAIN}<input style='width:500px;height:100px' autofocus>",
    "/empty": PLAIN,
    "/small": f"{PLAIN}<button style='width:500px;height:500px' "
    'onclick=\'window.open("/corner", "", "width=300,height=200")\'>Open</button>',
    "/corner": f"{PLAIN}<button style='position:fixed;right:0;bottom:0;width:100px;height:100px' "
    "onclick='document.title = \"corner\"'>Corner</button>",
    "/full": f"{PLAIN}<button style='width:500px;height:100px' "
    "onclick='big.requestFullscreen()'>Full</button>"
    "<div id=big style='background:red'><button style='position:absolute;right:0;bottom:0;width:100px;height:100px' "
    "onclick='document.title = \"corner\"'>Corner</button></div>",
    "/shrunk": f"{PLAIN}<button style='width:500px;height:500px' "
    "onclick='document.documentElement.requestFullscreen(); resizeTo(300, 200)'>Shrink</button>",
    "/lock": f"{PLAIN}<button style='width:500px;height:100px' onclick='this.requestPointerLock()'>Lock</button>"
    "<button style='width:500px;height:100px' onclick='document.title = \"second\"'>Second</button>",
    "/fields": PLAIN + "<input style='display:block;width:500px;height:100px'>" * 2,
    "/late": f"{PLAIN}<button style='width:500px;height:100px' "
    "onclick='setTimeout(() => { document.title = \"timer\" }, 150)'>Timer</button>"
    "<button style='width:500px;height:100px' onclick='let left = 12; (function go() { if (left--) "
    'requestAnimationFrame(go); else document.title = "frames" })()\'>Frames</button>'
    "<input type=checkbox aria-label=Agree style='display:block;width:500px;height:100px' "
    "onchange='setTimeout(() => { this.checked = false }, 100)'>",
    "/code": PLAIN
    + "<input maxlength=1 style='width:80px;height:100px' oninput='this.nextElementSibling?.focus()'>" * 4,
    "/asking": f"{PLAIN}<button style='width:500px;height:500px' "
    'onclick=\'while (confirm("Stay?")); document.title = "left"\'>Leave</button>',
    "/waiting": f"{PLAIN}<button style='width:500px;height:500px' onclick='const asked = new XMLHttpRequest(); "
    'asked.open("GET", "/never", false); asked.send()\'>Check</button>',
    "/links": f"{PLAIN}<a href=/never style='display:block;height:100px'>Never</a>"
    "<a href=/garbled style='display:block;height:100px'>Garbled</a>"
    "<button style='width:500px;height:100px' onclick='document.title = \"pressed\"'>Press</button>",
    "/unstyled": f"<link rel=stylesheet href=/never>{PLAIN}<h1>Here</h1>",
    "/again": f"{PLAIN}<script>setTimeout(() => location.reload(), 30)</script>again",
    "/refresh": f"<meta http-equiv=refresh content=0>{PLAIN}refresh",
    "/onward": f"{PLAIN}<script>location.replace('/onward')</script><h1>Here</h1>",
    "/own-copy": f"{PLAIN}<input value=old style='width:500px;height:100px'>"
    "<script>addEventListener('copy', (event) => { event.preventDefault(); "
    "event.clipboardData.setData('text/plain', 'own') })</script>",
    "/copy": f"{PLAIN}<input id=field style='width:500px;height:100px'>"
    "<button style='width:500px;height:100px' onclick='navigator.clipboard.writeText(field.value)'>Write</button>"
    "<button style='width:500px;height:100px' onclick='field.select(); document.execCommand(\"copy\")'>Copy</button>"
    "<input id=other style='width:500px;height:100px'>",
}


class Attacker(Handler):
    def do_GET(self) -> None:
        if self.path == "/never":
            time.sleep(20)
        path, _, query = self.path.partition("?")
        if path == "/garbled":
            self.answer(200, "<h1>plain</h1>", {"Content-Encoding": "br"})
            return
        if path == "/around":
            self.answer(200, f"{PLAIN}<iframe src={query} width=500 height=500></iframe>")
        else:
            self.answer(200, PAGES.get(path, "?"))


At = Callable[[str], Awaitable[BrowserSession]]


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


async def say(session: BrowserSession, *calls: ToolCall) -> str:
    """Feedback of the last call."""
    return (await session.act(list(calls))).feedback[-1].text


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with served(Attacker) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="module")
async def at(pool: BrowserPool, origin: str) -> AsyncIterator[At]:
    """Opens a session at a page; closed when the test ends."""
    opened: list[BrowserSession] = []

    async def open_at(path: str) -> BrowserSession:
        opened.append(await pool.open(origin + path))
        return opened[-1]

    yield open_at
    for session in opened:
        await session.close()


@pytest.mark.parametrize("path", ["/frame", "/shadow"])
async def test_a_scroll_inside_a_frame_or_a_shadow_tree_is_told(at: At, path: str) -> None:
    session = await at(path)
    said = await say(session, call("scroll", x=500, y=300, direction="down", amount=0.5))
    assert "this part of the page is now at" in said


async def test_nothing_is_claimed_of_a_frame_that_cannot_be_read(at: At) -> None:
    session = await at("/sandbox")
    said = await say(session, call("scroll", x=500, y=300, direction="down", amount=0.5))
    assert said.endswith('sent to <iframe> "Map", which does not tell whether it moved')


async def test_a_flood_of_windows_ends_at_a_limit(at: At) -> None:
    session = await at("/flood")
    session.config = session.config.model_copy(update={"step_retries": 9})  # so many windows are slow to draw
    said = await say(session, call("click", x=500, y=500))
    assert f"a further tab was closed: {MOST_TABS} are open" in said
    seen = await session.observe()
    assert len(seen.tabs) <= MOST_TABS
    assert "close one first" in await say(session, call("new_tab")) or len(seen.tabs) < MOST_TABS


async def test_windows_of_a_page_that_was_left_stay_behind(at: At) -> None:
    session = await at("/breeder")
    await say(session, call("click", x=500, y=500))
    await say(session, call("switch_tab", index=0))
    for _ in range(20):
        await asyncio.sleep(0.5)
        if len(session.tabs) >= 4:
            break
    seen = await session.observe()
    assert len(seen.tabs) >= 4
    assert [tab.index for tab in seen.tabs if tab.active] == [0]
    assert "opened tab" in await say(session, call("click", x=500, y=500)), "its own come to the front"


async def test_a_tab_that_hangs_holds_up_no_other(at: At) -> None:
    session = await at("/apart")
    assert "opened tab 1" in await say(session, call("click", x=500, y=500))
    await asyncio.sleep(1)  # a call would wait, and stop what hangs
    begun = time.monotonic()
    assert "now on tab 0" in await say(session, call("switch_tab", index=0))
    seen = await session.observe()
    assert [tab.url.rpartition("/")[2] for tab in seen.tabs] == ["apart", "hang"]
    assert time.monotonic() - begun < 8
    await session.act([call("switch_tab", index=1)])
    assert "now on tab 0" in await say(session, call("close_tab"))


async def test_scripts_that_never_end_are_stopped_in_the_end(at: At) -> None:
    session = await at("/opener")  # which shares a process with what it opens
    assert "opened tab 1" in await say(session, call("click", x=500, y=500))
    await session.act([call("wait", seconds=1)])
    assert "now on tab 0" in await say(session, call("switch_tab", index=0))
    assert [tab.active for tab in (await session.observe()).tabs] == [True, False]
    assert "opened tab" in await say(session, call("click", x=500, y=500))


async def test_a_short_animation_is_seen_at_its_end(at: At) -> None:
    session = await at("/moving")
    await session.act([call("click", x=500, y=500)])
    assert await session.page.evaluate("getComputedStyle(box).left") == "300px"


async def test_keys_that_no_keyboard_has_are_inserted_and_f5_reloads(at: At) -> None:
    session = await at("/keys")
    await session.act([call("click", x=500, y=100)])
    assert "failed" not in await say(session, call("press_keys", keys=["é"]))
    assert await session.page.input_value("input") == "é"
    for keys in (["F5"], ["ctrl", "r"]):
        assert "page reloaded" in await say(session, call("press_keys", keys=keys))
    assert await session.page.input_value("input") == ""


async def test_a_popup_is_as_large_as_every_picture(at: At, images: MemoryImages) -> None:
    session = await at("/small")
    assert "opened tab 1" in await say(session, call("click", x=500, y=500))
    assert Image.open(io.BytesIO(images.get((await session.observe()).screenshot))).size == (500, 500)
    assert await session.page.evaluate("[innerWidth, innerHeight]") == [500, 500]
    await session.act([call("click", x=950, y=950)])
    assert (await session.observe()).title == "corner"


async def test_full_screen_is_seen_whole_and_escape_leaves_it(at: At, images: MemoryImages) -> None:
    session = await at("/full")
    await session.act([call("click", x=500, y=100), call("click", x=950, y=950)])
    assert await session.page.evaluate("document.fullscreenElement?.id") == "big"
    seen = await session.observe()
    assert seen.title == "corner"
    assert Image.open(io.BytesIO(images.get(seen.screenshot))).size == (500, 500)
    assert await session.page.evaluate("[innerWidth, innerHeight]") == [500, 500]
    await session.act([call("press_keys", keys=["Escape"])])
    assert await session.page.evaluate("document.fullscreenElement") is None


async def test_a_window_that_shrinks_is_seen_whole(at: At, images: MemoryImages) -> None:
    session = await at("/shrunk")
    await session.act([call("click", x=500, y=500)])
    assert Image.open(io.BytesIO(images.get((await session.observe()).screenshot))).size == (500, 500)


async def test_escape_releases_the_pointer(at: At) -> None:
    session = await at("/lock")
    await session.act([call("click", x=500, y=100), call("wait", seconds=1), call("press_keys", keys=["Escape"])])
    await session.act([call("click", x=500, y=300)])
    assert (await session.observe()).title == "second"


async def test_what_waits_for_a_style_sheet_is_shown_without_it(at: At) -> None:
    began = time.monotonic()
    session = await at("/unstyled")
    feedback = await say(session, call("wait", seconds=0))
    assert "the page is still loading" in feedback
    seen = await session.observe(View(kind="accessibility_tree"))
    assert "Here" in seen.text and time.monotonic() - began < 15


@pytest.mark.parametrize("path", ["/again", "/refresh", "/onward"])
async def test_a_page_that_reloads_for_ever_is_seen_read_and_acted_upon(at: At, path: str) -> None:
    session = await at(path)
    for _ in range(2):
        assert (await session.observe()).url.endswith(path)
        assert (await session.act([call("click", x=500, y=500)])).feedback[0].ok
    assert (await session.observe(View(kind="accessibility_tree"))).url.endswith(path)
    assert (await session.snapshot()).url.endswith(path)
    assert [each.value for each in await session.read(["() => location.pathname"])] == [path]


PASTES = ["ctrl+v", "cmd+v", "shift+ctrl+v", "ctrl+shift+v", "ctrl+cmd+v", "shift+Insert", "shift+shift+Insert"]


async def test_a_session_pastes_what_it_copied_and_no_other_does(at: At) -> None:
    session, other = await at("/copy"), await at("/copy")
    for button, mine in ((300, "mine"), (500, "mine too")):  # writes to the clipboard, copies the selection
        await other.act([call("click", x=500, y=100), call("write", text="its own"), call("click", x=500, y=button)])
        await session.act([call("click", x=500, y=100), call("write", text=mine), call("click", x=500, y=button)])
        for chord in PASTES:
            field = call("click", x=500, y=700)
            for each, text in ((session, mine), (other, "its own")):
                await each.act([field, call("write", text=""), call("press_keys", keys=[chord])])
                assert await each.page.evaluate("other.value") == text, (button, chord)


async def test_keys_copy_and_cut_for_their_session_alone(at: At) -> None:
    session, other = await at("/copy"), await at("/copy")
    field, second = call("click", x=500, y=100), call("click", x=500, y=700)
    for chord, left in (("ctrl+c", "kept"), ("ctrl+Insert", "kept"), ("ctrl+x", ""), ("shift+Delete", "")):
        keys = [call("press_keys", keys=each) for each in (["ctrl+a"], [chord])]
        await session.act([field, call("write", text="kept"), *keys, second, call("write", text="")])
        await session.act([call("press_keys", keys=["ctrl+v"])])
        assert await session.page.evaluate("[field.value, other.value]") == [left, "kept"], chord
    assert "nothing was copied before" in await say(other, field, call("press_keys", keys=["ctrl+v"]))
    assert await other.page.evaluate("field.value") == ""


async def test_a_page_that_asks_until_the_answer_is_no_gets_it(at: At) -> None:
    session = await at("/asking")
    feedback = await say(session, call("click", x=500, y=500))
    assert 'confirm "Stay?" came again and again, and was dismissed in the end' in feedback
    assert (await session.observe()).title == "left"


async def test_a_page_that_no_longer_responds_is_shown_as_it_was(at: At) -> None:
    session = await at("/waiting")
    before = await session.observe()
    assert "timed out after 10 s: the page does not respond" in await say(session, call("click", x=500, y=500))
    assert (await session.observe()).screenshot == before.screenshot
    assert (
        await say(session, call("scroll", direction="down", amount=0.5)) == "scroll failed: the page does not respond"
    )


async def test_what_a_frame_of_another_site_takes_is_not_claimed(at: At, site: str) -> None:
    session = await at(f"/around?{site.replace('127.0.0.1', '127.0.0.2')}/")
    clicked = await say(session, call("click", x=500, y=900))
    assert "field is focused" not in clicked and "<iframe>" in clicked
    assert "which does not tell what it took" in await say(session, call("write", text="hello"))


async def test_another_field_without_a_name_is_another_field(at: At) -> None:
    session = await at("/fields")
    await session.act([call("click", x=500, y=100), call("write", text="first")])
    assert await say(session, call("click", x=500, y=300)) == "click at (500, 300) on <input>: field is focused"


async def test_a_pool_that_ends_during_a_request_is_silent(origin: str, caplog: pytest.LogCaptureFixture) -> None:
    async with BrowserPool(CONFIG, MemoryImages()) as pool:
        session = await pool.open(f"{origin}/unstyled")
        await session.close()
    assert "CancelledError" not in caplog.text


async def test_what_a_page_copies_in_place_of_the_selection_is_what_is_pasted(at: At) -> None:
    session = await at("/own-copy")
    await session.act([call("click", x=80, y=100), call("press_keys", keys=["ctrl+a"])])
    await session.act([call("press_keys", keys=["ctrl+c"]), call("press_keys", keys=["ctrl+v"])])
    assert await session.page.evaluate("document.querySelector('input').value") == "own"


async def test_what_short_timers_and_frames_do_is_seen(at: At) -> None:
    for y, done in ((100, "timer"), (300, "frames")):
        seen: list[str] = []
        while done not in seen and len(seen) < 3:  # a busy machine may draw too few frames while they are waited for
            session = await at("/late")
            await session.act([call("click", x=500, y=y)])
            seen.append((await session.observe()).title)
        assert done in seen
    told: list[str] = []
    while len(told) < 3 and not (told and "now checked" not in told[-1]):  # the same
        told.append(await say(await at("/late"), call("click", x=500, y=500)))
    assert "now checked" not in told[-1]


async def test_a_code_goes_into_fields_of_one_character(at: At) -> None:
    session = await at("/code")
    await session.act([call("click", x=80, y=100), call("write", text="1234")])
    assert await session.page.evaluate("[...document.querySelectorAll('input')].map(f => f.value)") == list("1234")


async def test_a_link_that_is_never_answered_leaves_the_page_at_work(at: At) -> None:
    session = await at("/links")
    said = await say(session, call("click", x=500, y=100))
    assert said == "click failed: timed out after 10 s: the next page did not load, and was stopped"
    await session.act([call("click", x=500, y=500)])
    assert (await session.observe()).title == "pressed"


async def test_a_page_that_is_never_drawn_is_white(at: At, images: MemoryImages) -> None:
    session = await at("/links")
    assert "the page is still loading" in await say(session, call("click", x=500, y=300))
    picture = Image.open(io.BytesIO(images.get((await session.observe()).screenshot)))
    assert picture.size == (500, 500) and picture.convert("L").getextrema() == (255, 255)
