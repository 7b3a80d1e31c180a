"""Every tool on real pages in a real Chromium, and what the agent is told about it."""

import asyncio
import io
import time
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest
import pytest_asyncio
from PIL import Image

from tests.browser.conftest import LOCAL
from webdojo.browser import session as browser_session
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.errors import BrowserError, Failure
from webdojo.store.images import MemoryImages
from webdojo.types import Observation, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def row(number: int, **arguments: Any) -> ToolCall:
    """A click on the n-th 50 px row of a 500 x 500 viewport."""
    return call("click", x=30, y=100 * number + 20, **arguments)


async def say(session: BrowserSession, *calls: ToolCall) -> str:
    """The feedback of the last of the calls."""
    return (await session.act(calls)).feedback[-1].text


@pytest_asyncio.fixture(loop_scope="module")
async def at(session: BrowserSession, site: str) -> AsyncIterator[Any]:
    """Takes the session to another page."""

    async def go(path: str) -> BrowserSession:
        await session.act([call("goto_url", url=site + path)])
        return session

    yield go


async def test_a_document_is_sent_each_of_our_scripts_once(at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await at("/")
    cdp, sent = session.active.cdp, []
    send = cdp.send

    async def noted(name: str, given: dict[str, Any] | None = None) -> Any:
        if name == "Runtime.callFunctionOn":
            sent.append(len((given or {})["functionDeclaration"]))
        return await send(name, given)

    await session.act([call("hover", x=900, y=900)])
    await session.observe()
    monkeypatch.setattr(cdp, "send", noted)
    await session.act([call("hover", x=800, y=800)])
    await session.observe()
    assert len(sent) == 3  # the state before, after, and what the observation tells
    assert max(sent) < 200


async def test_an_observation_shows_the_page(session: BrowserSession, images: MemoryImages, site: str) -> None:
    seen = await session.observe()
    assert (seen.url, seen.title, seen.viewport_px) == (f"{site}/", "rows", (500, 500))
    assert (seen.dead, seen.blocked) == ("", "")
    assert [(tab.index, tab.url, tab.active) for tab in seen.tabs] == [(0, f"{site}/", True)]
    picture = Image.open(io.BytesIO(images.get(seen.screenshot)))
    assert (picture.format, picture.size) == ("JPEG", (500, 500))
    assert picture.convert("L").histogram()[0] > 10  # there is text on it


async def test_png_is_a_choice(site: str) -> None:
    images = MemoryImages()
    config = BrowserConfig(viewport_px=(320, 256), screenshot_format="png", guard=LOCAL)
    async with BrowserPool(config, images) as pool:
        session = await pool.open(f"{site}/")
        shot = (await session.observe()).screenshot
        picture = Image.open(io.BytesIO(images.get(shot)))
        assert (shot.mime, picture.format, picture.size) == ("image/png", "PNG", (320, 256))


async def test_click_follows_a_link_and_back_ends_at_the_start(session: BrowserSession, site: str) -> None:
    assert await say(session, row(0)) == f'click at (30, 20) on <a> "Mugs": page is now {site}/two'
    assert (await session.observe()).url == f"{site}/two"
    assert await say(session, call("go_back")) == f"go_back: page is now {site}/"
    assert await say(session, call("go_back")) == "go_back failed: this tab has no earlier page"


async def test_back_out_of_a_tab_that_a_link_opened(session: BrowserSession, site: str) -> None:
    assert "opened tab 1" in await say(session, row(1))
    await session.act([call("goto_url", url=f"{site}/form")])
    assert await say(session, call("go_back")) == f"go_back: page is now {site}/two"
    closed = f"go_back: this tab had no earlier page and was closed; now on tab 0, {site}/"
    assert await say(session, call("go_back")) == closed
    assert len((await session.observe()).tabs) == 1


async def test_history_keys_work_as_in_a_browser_with_a_window(session: BrowserSession, site: str) -> None:
    await say(session, row(0))
    assert (await say(session, call("press_keys", keys=["alt+Left"]))).endswith(f"page is now {site}/")
    assert (await say(session, call("press_keys", keys=["Alt", "ArrowRight"]))).endswith(f"page is now {site}/two")
    assert (await say(session, call("press_keys", keys=["alt+right"]))).endswith("failed: this tab has no later page")


async def test_the_screenshot_after_a_click_shows_the_new_page(session: BrowserSession) -> None:
    before = await session.observe()
    await session.act([row(5)])  # adds a word
    after = await session.observe()
    assert after.screenshot.sha != before.screenshot.sha
    assert (await session.observe()).screenshot.sha == after.screenshot.sha  # nothing moves by itself


async def test_click_tells_no_ops_changes_and_states_apart(session: BrowserSession) -> None:
    assert await say(session, row(2)) == 'click at (30, 220) on <div> "plain text": nothing changed'
    assert (await say(session, row(5))).endswith("page changed")
    assert (await say(session, call("click", x=10, y=420))).endswith('"Gift": now checked')
    assert (await say(session, row(6))).endswith('nothing changed; alert "Sold out" was accepted')
    assert (await say(session, row(8))).endswith('download of "price.zip" refused')


async def test_right_and_double_clicks(session: BrowserSession) -> None:
    assert (await say(session, row(2, button="right"))).startswith("right click at")
    assert (await say(session, row(2, click_type="double"))).startswith("double click at")
    assert await session.page.evaluate("getSelection().toString().trim()") == "plain"


async def test_a_drop_down_can_be_seen_and_clicked(session: BrowserSession) -> None:
    closed = await session.observe()
    assert (await say(session, row(7))).endswith('<select> "Size": now open')
    assert (await session.observe()).screenshot.sha != closed.screenshot.sha
    box = await session.page.evaluate(
        "(({x, y}) => [x, y])(document.querySelectorAll('option')[1].getBoundingClientRect())"
    )
    said = await say(session, call("click", x=round(box[0] * 2) + 20, y=round(box[1] * 2) + 20))
    assert said.endswith('on <option> "Large": <select> "Size" is now "Large"')


async def test_an_open_drop_down_takes_the_name_of_an_option(session: BrowserSession) -> None:
    await session.act([row(7)])
    await session.page.evaluate("document.querySelector('option').focus()")  # some lists hand it on when they open
    assert await say(session, call("write", text="Large")) == 'write "Large" into <select> "Size"'
    assert await session.page.input_value("select") == "Large"


async def test_keys_check_and_uncheck_a_box(session: BrowserSession) -> None:
    await session.act([call("click", x=10, y=420)])
    for now in ("unchecked", "checked"):
        assert (
            await say(session, call("press_keys", keys=["Space"])) == f'press_keys Space: <input> "Gift" is now {now}'
        )
        assert await session.page.is_checked("[type=checkbox]") == (now == "checked")


async def test_a_link_to_a_new_tab_makes_it_active(session: BrowserSession, site: str) -> None:
    assert await say(session, row(1)) == f'click at (30, 120) on <a> "Blank": opened tab 1, {site}/two'
    seen = await session.observe()
    assert [(tab.title, tab.active) for tab in seen.tabs] == [("rows", False), ("rows", True)]
    assert seen.url == f"{site}/two"
    assert await say(session, call("switch_tab", index=0)) == f"switch_tab: now on tab 0, {site}/"
    assert (await session.observe()).url == f"{site}/"
    assert await say(session, call("switch_tab", index=2)) == "switch_tab failed: there is no tab 2; tabs are 0 to 1"


async def test_a_new_tab_that_does_not_load_has_the_address_that_failed(at: Any, site: str) -> None:
    session = await at("/doors")
    assert f"opened tab 1, {site}/dead" in await say(session, row(0))
    seen = await session.observe()
    assert (seen.url, seen.dead, seen.blocked) == (f"{site}/dead", "no connection", "")


async def test_tabs_open_and_close(session: BrowserSession, site: str) -> None:
    assert await say(session, call("new_tab")) == "new_tab: tab 1 is open"
    seen = await session.observe()
    assert (seen.url, seen.dead) == ("about:blank", "an empty tab")
    assert await say(session, call("close_tab")) == f"close_tab: closed; now on tab 0, {site}/"
    assert await say(session, call("close_tab")) == "close_tab failed: this is the only tab"


async def test_slow_and_brief_windows(at: Any, site: str) -> None:
    session = await at("/popup")
    assert (await say(session, row(0))).endswith(f"opened tab 1, {site}/slow")
    await session.act([call("close_tab")])
    assert (await say(session, row(1))).endswith("nothing changed")
    assert len((await session.observe()).tabs) == 1


async def test_a_page_that_closes_itself_leaves_a_blank_tab(at: Any) -> None:
    session = await at("/popup")
    await session.act([row(0), call("switch_tab", index=0), call("close_tab")])
    assert len(session.tabs) == 1
    await session.page.evaluate("setTimeout(() => window.close(), 10)")
    await session.act([call("wait", seconds=0.2)])
    assert (await session.observe()).url == "about:blank"


@pytest.mark.parametrize("look", ["act", "observe"])
async def test_a_tab_that_closes_while_it_is_read(
    session: BrowserSession, look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, world = session.page, session.active.world
    read = world.call

    async def read_and_close(*arguments: Any) -> Any:
        raw = await read(*arguments)
        await page.close()
        return raw

    monkeypatch.setattr(world, "call", read_and_close)
    if look == "act":
        assert await say(session, call("wait", seconds=0)) == "waited 0 s"
    assert (await session.observe()).url == "about:blank"


async def test_write_replaces_what_the_field_held(at: Any, site: str) -> None:
    session = await at("/form")
    await session.act([row(0)])
    assert await say(session, call("write", text="new mug")) == 'write "new mug" into <input> "Query"'
    assert await session.page.input_value("[name=q]") == "new mug"
    await session.act([call("write", text="")])
    assert await session.page.input_value("[name=q]") == ""
    said = await say(session, call("write", text="red cup"), call("press_keys", keys=["Enter"]))
    assert said == f"press_keys Enter: page is now {site}/two?q=red+cup"


async def test_write_says_what_is_wrong(at: Any) -> None:
    session = await at("/form")
    assert await say(session, call("write", text="a")) == "write failed: no field is focused; click one first"
    await session.act([row(1)])
    assert (await say(session, call("write", text="abc"))).endswith('"Upper": but the field holds "ABC"')
    await session.act([row(4)])
    assert (await say(session, call("write", text="a"))).startswith("write failed: the focused <button> takes no text")


async def test_write_fills_dates_and_text_areas(at: Any) -> None:
    session = await at("/form")
    await session.act([row(2), call("write", text="2024-03-05")])
    assert await session.page.input_value("[type=date]") == "2024-03-05"
    assert (await say(session, call("write", text="soon"))).startswith("write")
    await session.act([row(3), call("write", text="two\nlines")])
    assert await session.page.input_value("textarea") == "two\nlines"


async def test_write_wakes_key_handlers(at: Any) -> None:
    session = await at("/form")
    await session.act([row(5), call("write", text="hey")])
    assert await session.page.inner_text("#out") == "y"


async def test_press_keys_presses_combinations(at: Any) -> None:
    session = await at("/form")
    await session.act([row(0), call("press_keys", keys=["ctrl", "a"]), call("press_keys", keys=["Delete", "x"])])
    assert await session.page.input_value("[name=q]") == "x"
    assert await say(session, call("press_keys", keys=["Tab"])) == 'press_keys Tab: <input> "Upper" is focused'
    said = await say(session, call("press_keys", keys=["hello"]))
    assert said == "invalid call: press_keys: keys has an unknown key 'hello'; to type text use write"


async def test_scroll_reports_place_and_boundary(at: Any) -> None:
    session = await at("/long")
    assert await say(session, call("scroll", direction="down", amount=0.5)) == "scroll down 0.5: page is now at 12%"
    assert (await session.observe()).scroll_px == (0, 250)
    assert (await say(session, call("scroll", direction="down", amount=10))).endswith("page is now at its end")
    assert (await session.observe()).page_px == (500, 2500)
    assert (await say(session, call("scroll", direction="down", amount=1))).endswith("already at the bottom")


async def test_scroll_moves_the_part_under_the_point(at: Any) -> None:
    session = await at("/long")
    said = await say(session, call("scroll", direction="down", amount=0.8, x=500, y=200))
    assert said == "scroll down 0.8: this part of the page is now at 50%"
    assert (await session.observe()).scroll_px == (0, 0)


async def test_hover_and_drag_move_the_pointer(at: Any) -> None:
    session = await at("/drag")
    assert (await say(session, call("drag", x1=50, y1=50, x2=600, y2=400))).endswith("page changed")
    assert await session.page.get_attribute("#d", "title") == "300"
    assert await say(session, call("hover", x=50, y=50)) == 'hover at (50, 50) on <div> "300"'


async def test_the_corners_of_the_screen_are_inside_it(session: BrowserSession) -> None:
    await session.page.evaluate(
        "addEventListener('click', e => { e.preventDefault(); document.title = `${e.clientX},${e.clientY}` })"
    )
    await session.act([call("click", x=1000, y=1000)])
    assert (await session.observe()).title == "499,499"
    await session.act([call("click", x=0, y=0)])
    assert (await session.observe()).title == "0,0"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///etc/passwd", 'goto_url failed: only http and https addresses can be opened, not "file:"'),
        ("javascript:alert(1)", 'goto_url failed: only http and https addresses can be opened, not "javascript:"'),
        ("chrome://version", 'goto_url failed: only http and https addresses can be opened, not "chrome:"'),
        ("http://", 'goto_url failed: "http://" names no host'),
        ("http://[", 'goto_url failed: "http://[" is no address: Invalid IPv6 URL'),
        ("{site}/dead", "goto_url failed: net::ERR_EMPTY_RESPONSE at {site}/dead"),
        ("{site}/file", 'goto_url: page is now {site}/; download of "price.zip" refused'),
        ("{host}/missing", "goto_url: page is now {site}/missing; HTTP 404"),
        ("{site}/two", "goto_url: page is now {site}/two"),
    ],
)
async def test_goto_url(session: BrowserSession, site: str, url: str, said: str) -> None:
    host = site.removeprefix("http://")
    assert await say(session, call("goto_url", url=url.format(site=site, host=host))) == said.format(site=site)
    await session.observe()  # whatever happened, there is something to see


async def test_a_page_that_leaves_in_vain_between_two_calls_is_told_once(session: BrowserSession, site: str) -> None:
    await say(session, call("wait", seconds=0))
    await session.page.evaluate(f"setTimeout(() => location.assign('{site}/dead'), 50)")
    while not session.active.failed_url:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert "did not load" in await say(session, call("wait", seconds=0))
    assert "did not load" not in await say(session, call("wait", seconds=0))


async def test_bad_calls_are_told_and_good_ones_still_run(session: BrowserSession, site: str) -> None:
    result = await session.act([call("clik"), call("click", x=1), call("click", x=2000, y=1), row(0)])
    assert [feedback.ok for feedback in result.feedback] == [False, False, False, True]
    assert result.feedback[0].text == 'invalid call: unknown tool "clik"; did you mean click?'
    assert result.answer is None
    assert session.page.url == f"{site}/two"


async def test_done_ends_the_turn_wherever_it_stands(session: BrowserSession, site: str) -> None:
    result = await session.act([row(2), call("done", answer="$4"), row(0)])
    assert (len(result.feedback), result.answer) == (2, "$4")
    assert session.page.url == f"{site}/"


async def test_data_on_its_way_is_waited_for(at: Any) -> None:
    session = await at("/late")
    assert (await say(session, row(0))).endswith("page changed")
    assert await session.page.inner_text("#out") == "arrived"


async def test_a_page_that_its_script_draws_late_is_waited_for_once(at: Any) -> None:
    session = await at("/drawn")
    assert await session.page.inner_text("body") == "here"
    began = time.monotonic()
    await at("/undrawn")
    assert time.monotonic() - began < 5
    began = time.monotonic()
    await session.act([row(0)])
    assert time.monotonic() - began < 2


async def test_animations_do_not_hold_a_page_up(at: Any, config: BrowserConfig) -> None:
    session = await at("/restless")
    began = time.monotonic()
    await session.act([row(0)])
    assert time.monotonic() - began < config.ready_cap_s / 2


async def test_a_hanging_page_is_timed_out_and_its_script_stopped(site: str) -> None:
    config = BrowserConfig(viewport_px=(500, 500), action_timeout_s=1, guard=LOCAL)
    async with BrowserPool(config, MemoryImages()) as pool:
        session = await pool.open(f"{site}/hang")
        assert await say(session, row(0)) == "click failed: timed out after 1 s"
        assert (await session.observe()).url == f"{site}/hang"


BUSY = """
document.onclick = () => window.clicks = (window.clicks || 0) + 1;
setTimeout(() => {{ const end = Date.now() + {}; while (Date.now() < end); }});
"""
"""Counts clicks, and keeps the page from answering for so many milliseconds."""


@pytest.mark.parametrize(("retries", "clicks"), [(2, 1), (0, 0)])
async def test_a_step_that_failed_before_it_touched_the_page_is_tried_again(
    site: str, retries: int, clicks: int
) -> None:
    config = BrowserConfig(viewport_px=(500, 500), action_timeout_s=2, step_retries=retries, guard=LOCAL)
    async with BrowserPool(config, MemoryImages()) as pool:
        session = await pool.open(f"{site}/")
        await session.page.evaluate(BUSY.format(3000))
        said = await say(session, ToolCall(name="click", arguments={"x": 900, "y": 900}))
        assert ("timed out" in said) != bool(clicks)
        assert await session.page.evaluate("window.clicks || 0") == clicks
        await session.close()


@pytest.mark.parametrize("retries", [2, 0])
async def test_an_observation_that_came_too_late_is_tried_again(
    site: str, retries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_session, "_SCREENSHOT_TIMEOUT_S", 2.0)
    config = BrowserConfig(viewport_px=(500, 500), step_retries=retries, guard=LOCAL)
    async with BrowserPool(config, MemoryImages()) as pool:
        session, other = await pool.open(f"{site}/"), await pool.open(f"{site}/two")
        browser = session.page.context.browser
        assert browser is not None
        processes = (await (await browser.new_browser_cdp_session()).send("SystemInfo.getProcessInfo"))["processInfo"]
        renderers = [psutil.Process(each["id"]) for each in processes if each["type"] == "renderer"]

        def resume() -> None:
            for each in renderers:
                each.resume()

        for each in renderers:
            each.suspend()
        if retries:
            asyncio.get_running_loop().call_later(5, resume)
        (seen,) = await asyncio.gather(session.observe(), return_exceptions=True)
        if retries:
            assert isinstance(seen, Observation), seen
        else:
            resume()
            assert str(seen).startswith(f"no screenshot of {site}/ within 2 s"), seen
            assert isinstance(seen, BrowserError) and seen.failure is Failure.SCREENSHOT_TIMEOUT
        assert (await other.observe()).url == f"{site}/two"  # the others go on


async def test_done_without_an_answer_is_done(pool: BrowserPool, site: str) -> None:
    session = await pool.open(f"{site}/")
    result = await session.act([ToolCall(name="done", arguments={})])
    assert (result.answer, result.feedback[0].ok) == ("", True)
    await session.close()


async def test_a_crashed_tab_is_an_error(pool: BrowserPool, site: str) -> None:
    session = await pool.open(f"{site}/")
    crashing = asyncio.ensure_future(session.active.cdp.send("Page.crash"))
    with pytest.raises(BrowserError, match="the tab crashed at"):
        await session.act([row(0)])
    with pytest.raises(BrowserError, match="the tab crashed at"):
        await session.observe()
    crashing.cancel()  # nobody is left to answer it
    await session.close()


async def test_closing_twice_is_allowed(pool: BrowserPool, site: str) -> None:
    session = await pool.open(f"{site}/")
    await session.close()
    await session.close()
