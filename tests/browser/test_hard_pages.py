"""The pages that break other environments, one test each, on real Chromium."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio

from tests.browser.conftest import served
from tests.browser.hard_site import HardHandler
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.errors import StartError
from webdojo.types import ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

At = Callable[[str], Awaitable[BrowserSession]]


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def row(number: int, x: int = 30, **arguments: object) -> ToolCall:
    return call("click", x=x, y=100 * number + 30, **arguments)


async def say(session: BrowserSession, *calls: ToolCall) -> str:
    """Feedback of the last call."""
    return (await session.act(list(calls))).feedback[-1].text


async def text(session: BrowserSession, selector: str = "#out") -> str:
    return await session.page.inner_text(selector)


@pytest.fixture(scope="module")
def hard() -> Iterator[str]:
    with served(HardHandler) as origin, served(HardHandler) as HardHandler.other:
        yield origin


@pytest_asyncio.fixture(loop_scope="module")
async def at(pool: BrowserPool, hard: str) -> AsyncIterator[At]:
    """Opens a session at a page; closed when the test ends."""
    opened: list[BrowserSession] = []

    async def open_at(path: str) -> BrowserSession:
        opened.append(await pool.open(hard + path))
        return opened[-1]

    yield open_at
    for session in opened:
        await session.close()


async def test_time_colour_range_month_and_number(at: At) -> None:
    session = await at("/inputs")
    for number, value in ((0, "13:45"), (1, "#ff0000"), (4, "2026-05"), (5, "12")):
        said = await say(session, row(number), call("write", text=value))
        assert said.startswith(f'write "{value}"') and "but" not in said, said
    assert (await say(session, row(2, x=600))).endswith('its value is now "76"')
    values = await session.page.evaluate("[...document.querySelectorAll('input')].map(i => i.value)")
    assert values == ["13:45", "#ff0000", "76", "", "2026-05", "12"]


async def test_a_file_input_says_what_cannot_be_done(at: At) -> None:
    session = await at("/inputs")
    said = await say(session, row(3))
    assert said.endswith("asks for a file: uploads are not possible")
    assert (await say(session, row(2, x=600))).endswith('its value is now "76"')  # no dialog hangs the page


async def test_confirm_and_prompt_are_answered_and_told(at: At) -> None:
    session = await at("/dialogs")
    assert (await say(session, row(0))).endswith('confirm "Delete it?" was accepted')
    assert await text(session) == "true"
    assert (await say(session, row(1))).endswith('prompt "Your name?" was accepted with "Ada"')
    assert await text(session) == "Ada"


async def test_a_page_that_asks_before_it_is_left_is_left(at: At) -> None:
    session = await at("/dialogs")
    await session.act([row(2)])
    assert "/two" in await say(session, row(3))


async def test_print_permission_and_full_screen_hang_nothing(at: At) -> None:
    session = await at("/dialogs")
    assert (await say(session, row(4))).startswith("click at")
    await session.act([row(5), call("wait", seconds=0.3)])
    assert await text(session) == "denied"
    await session.act([row(6)])
    seen = await session.observe()
    assert seen.viewport_px == (500, 500)
    assert (await say(session, row(0))).endswith("was accepted")


async def test_a_page_does_not_keep_the_pointer(at: At) -> None:
    session = await at("/game")
    await session.act([row(0), call("wait", seconds=0.3)])
    assert await text(session) == "locked free"


async def test_an_address_is_opened_though_the_page_goes_elsewhere_meanwhile(at: At, hard: str) -> None:
    session = await at("/restless")
    await session.act([row(0)])
    assert await say(session, call("goto_url", url=f"{hard}/late")) == f"goto_url: page is now {hard}/late"


async def test_frames_of_this_and_another_origin_take_clicks_and_text(at: At) -> None:
    session = await at("/frames")
    frames = session.page.frames[1:]
    for number, frame in enumerate(frames):
        said = await say(session, call("click", x=60, y=200 * number + 30), call("write", text=f"mug {number}"))
        assert said.startswith(f'write "mug {number}"'), said
        assert await frame.evaluate("document.querySelector('input').value") == f"mug {number}"
    said = await say(session, call("press_keys", keys=["Enter"]))
    assert await frames[1].evaluate("location.pathname") == "/two", said


async def test_a_form_in_a_frame_is_waited_for(at: At) -> None:
    session = await at("/booking")
    session.config = session.config.model_copy(update={"ready_cap_s": 60.0})  # a busy machine is slow to answer
    await session.act([row(0)])
    assert await session.page.frames[1].evaluate("document.body.textContent") == "booked"


async def test_inputs_in_a_frame_that_take_a_value_as_a_whole(at: At) -> None:
    session = await at("/framed")
    for number, value in ((0, "13:45"), (1, "#ff0000"), (4, "2026-05")):
        said = await say(session, row(number), call("write", text=value))
        assert said.startswith(f'write "{value}"') and "but" not in said, said
    frame = session.page.frames[1]
    values = await frame.evaluate("[...document.querySelectorAll('input')].map(i => i.value)")
    assert values == ["13:45", "#ff0000", "50", "", "2026-05", "1"]


async def test_open_shadow_roots(at: At) -> None:
    session = await at("/shadow")
    assert (await say(session, row(0))).startswith('click at (30, 30) on <button> "Deep"')
    assert await text(session) == "deep click"
    assert 'into <input> "Deep field"' in await say(session, row(1), call("write", text="below"))
    assert await session.page.evaluate("host.shadowRoot.querySelector('input').value") == "below"


async def test_contenteditable(at: At) -> None:
    session = await at("/editable")
    assert "but" not in await say(session, row(0), call("write", text="Dear Grace"))
    assert await text(session, "[contenteditable]") == "Dear Grace"


async def test_canvas(at: At) -> None:
    session = await at("/canvas")
    before = await session.observe()
    await session.act([call("click", x=400, y=200)])
    assert await text(session) == "200,100"
    assert (await session.observe()).screenshot.sha != before.screenshot.sha


async def test_html5_drag_and_drop(at: At) -> None:
    session = await at("/board")
    await session.act([call("drag", x1=100, y1=100, x2=700, y2=500)])
    assert await text(session, "#done") == "card dropped"


async def test_what_is_copied_stays_in_its_session(at: At) -> None:
    session, other = await at("/paste"), await at("/paste")
    copy, paste = call("press_keys", keys=["ctrl+a", "ctrl+c"]), call("press_keys", keys=["ctrl+v"])
    await session.act([row(0), copy])
    assert "nothing was copied before" in await say(other, row(1), paste)
    assert await other.page.input_value("[aria-label=To]") == ""
    assert "blue mug" in await say(session, row(1), paste)
    assert await session.page.input_value("[aria-label=To]") == "blue mug"
    await session.act([row(2), paste])
    assert await session.page.input_value("textarea") == "took blue mug"
    await session.act([row(0), call("press_keys", keys=["ctrl+a", "ctrl+x"])])
    await session.act([row(1), call("press_keys", keys=["End", "ctrl+v"])])
    assert await session.page.input_value("[aria-label=From]") == ""
    assert await session.page.input_value("[aria-label=To]") == "blue mugblue mug"


async def test_hover_menu_stays_open_for_the_click(at: At) -> None:
    session = await at("/menus")
    await session.act([call("hover", x=900, y=900)])
    before = await session.observe()
    await session.act([call("hover", x=60, y=50)])
    assert (await session.observe()).screenshot.sha != before.screenshot.sha
    assert "/two" in await say(session, call("click", x=30, y=118))


async def test_context_menu_of_the_page(at: At) -> None:
    session = await at("/menus")
    await session.act([call("click", x=300, y=450, button="right"), call("click", x=310, y=470)])
    assert await text(session) == "renamed"


async def test_sticky_header(at: At) -> None:
    session = await at("/sticky")
    assert "page is now at" in await say(session, call("scroll", direction="down", amount=1))
    assert "/two" in await say(session, row(0))


async def test_the_innermost_part_that_can_scroll_moves(at: At) -> None:
    session = await at("/nested")
    assert "this part of the page" in await say(session, call("scroll", direction="down", amount=0.2, x=300, y=300))
    assert await session.page.evaluate("[b.scrollTop, a.scrollTop, scrollY]") == [100, 0, 0]
    await session.act([call("scroll", direction="down", amount=0.2, x=300, y=700)])
    assert await session.page.evaluate("[b.scrollTop, a.scrollTop, scrollY]") == [100, 100, 0]
    await session.act([call("scroll", direction="down", amount=0.2, x=300, y=950)])
    assert await session.page.evaluate("[b.scrollTop, a.scrollTop, scrollY]") == [100, 100, 100]


async def test_a_field_that_nobody_sees_takes_text_for_an_editor_and_is_not_quoted(at: At) -> None:
    session = await at("/helpers")
    for number, pressed in ((0, "page changed"), (1, "sent to <textarea>, which does not tell what changed")):
        said = await say(session, row(number), call("write", text="hello"))
        assert said == 'write "hello" into <textarea>, which does not tell what it took'
        assert await say(session, call("press_keys", keys=["x"])) == f"press_keys x: {pressed}"
    assert await text(session) == "hellox"


async def test_what_has_the_focus_and_is_drawn_anew_holds_nothing(at: At) -> None:
    session = await at("/redrawn")
    assert await say(session, row(0), call("press_keys", keys=["Enter"])) == "press_keys Enter: page changed"
    assert await text(session, "[aria-label=Card]") == "Enter"


async def test_endless_lists_grow_before_they_are_seen(at: At) -> None:
    session = await at("/endless")
    await session.act([call("scroll", direction="down", amount=2)])
    assert "Item 19" in await text(session, "body")


async def test_suggestions_come_and_are_chosen(at: At) -> None:
    session = await at("/suggest")
    await session.act([row(0), call("write", text="Os")])
    assert await text(session, "#list") == "Oslo\nOsaka"
    assert 'on <li role=option> "Osaka"' in await say(session, row(2))
    assert await session.page.evaluate("q.value") == "Osaka"


async def test_a_toast_is_on_the_next_screenshot(at: At) -> None:
    session = await at("/toast")
    before = await session.observe()
    assert (await say(session, row(0))).endswith("page changed")
    assert (await session.observe()).screenshot.sha != before.screenshot.sha


async def test_basic_auth_is_an_error_page_and_no_dialog(at: At, hard: str) -> None:
    session = await at("/two")
    said = await say(session, call("goto_url", url=f"{hard}/auth"))
    assert "401" in said
    assert "/two" in await say(session, call("go_back"))


async def test_a_pdf_is_refused_as_a_download(at: At, hard: str) -> None:
    session = await at("/two")
    said = await say(session, call("goto_url", url=f"{hard}/pdf"))
    assert "pdf" in said and "refused" in said
    assert "/two" in (await session.observe()).url


async def test_errors_of_tls_redirects_and_servers_are_told(at: At, hard: str) -> None:
    session = await at("/two")
    assert "ERR_TOO_MANY_REDIRECTS" in await say(session, call("goto_url", url=f"{hard}/loop"))
    assert "ERR_SSL_PROTOCOL_ERROR" in await say(session, call("goto_url", url=hard.replace("http:", "https:")))
    assert "HTTP 404" in await say(session, call("goto_url", url=f"{hard}/missing"))
    assert "HTTP 503" in await say(session, call("goto_url", url=f"{hard}/broken"))
    assert "/two" in await say(session, call("goto_url", url=f"{hard}/two"))


async def test_a_redirect_loop_is_no_start(pool: BrowserPool, hard: str) -> None:
    with pytest.raises(StartError, match="ERR_TOO_MANY_REDIRECTS"):
        await pool.open(f"{hard}/loop")


async def test_a_page_that_never_finishes_loading_can_be_used(at: At, hard: str) -> None:
    session = await at("/two")
    started = time.monotonic()
    await session.act([call("goto_url", url=f"{hard}/never")])
    assert (await session.observe()).url.endswith("/never")
    assert "/two" in await say(session, row(0, x=20))
    assert time.monotonic() - started < 8


async def test_a_page_that_comes_to_life_when_it_is_loaded(at: At) -> None:
    session = await at("/onload")
    assert await text(session, "#b") == "Go"


async def test_a_page_that_goes_on_while_it_is_idle(at: At) -> None:
    assert await text(await at("/idle")) == "alive"


async def test_scripts_that_a_page_of_this_site_loads_later_are_waited_for(at: At) -> None:
    session = await at("/modules")
    assert [await text(session, name) for name in ("#own", "#others")] == ["alive", "plain"]


async def test_fifty_thousand_nodes(at: At) -> None:
    session = await at("/huge")
    started = time.monotonic()
    await session.act([call("scroll", direction="down", amount=1), call("scroll", direction="up", amount=1)])
    await session.observe()
    assert "/two" in await say(session, row(0))
    assert time.monotonic() - started < 10


async def test_thirty_thousand_pixels(at: At) -> None:
    session = await at("/tall")
    assert "its end" in await say(session, *[call("scroll", direction="down", amount=10)] * 6)
    seen = await session.observe()
    assert seen.scroll_px[1] + 500 == seen.page_px[1] > 30_000
    assert "/two" in await say(session, call("click", x=30, y=980))


async def test_service_workers_serve_their_own_session_only(at: At) -> None:
    session = await at("/worker")
    await session.page.wait_for_function("out.textContent != 'none'")
    assert await text(session) == "made by the worker"
    other = await at("/two")
    assert await other.page.evaluate("fetch('/made').then(r => r.text())") != "made by the worker"


async def test_meta_refresh_is_followed(at: At, hard: str) -> None:
    session = await at("/two")
    await session.act([call("goto_url", url=f"{hard}/refresh"), call("wait", seconds=0.2)])
    assert (await session.observe()).url == f"{hard}/two"


async def test_a_policy_that_forbids_scripts(at: At) -> None:
    session = await at("/csp")
    assert 'on <a> "Strict"' in await say(session, row(0))
    assert (await session.observe()).url.endswith("/two")
