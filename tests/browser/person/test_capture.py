"""A person in a real browser: what is done becomes calls, and pages get it once, from the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import pytest_asyncio

from tests.browser.conftest import Handler, rows, served
from tests.browser.person.driving import ScriptedPerson
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.person.capture import Capture, WindowClosed
from webdojo.browser.person.composer import Pauses
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.errors import BrowserError
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

WATCHED = (
    "pointerdown pointerup mousedown mouseup click dblclick auxclick contextmenu wheel keydown keypress keyup "
    "beforeinput input change paste copy compositionstart compositionend mouseover"
)
STYLE = "<!doctype html><style>button, input, select, a, label { height: 46px; display: inline-block }</style>"
LOG = f"""{STYLE}<script>
const place = parent === window ? 'log' : 'inside', log = JSON.parse(sessionStorage[place] || '[]');
for (const type of '{WATCHED}'.split(' ')) addEventListener(type, (event) => {{
  log.push([type, event.target.id, event.key ?? event.data ?? event.deltaY ?? event.detail ?? '']);
  sessionStorage[place] = JSON.stringify(log);
}}, true);
</script>"""
"""Notes all input that a page gets, over all pages of the tab."""
LOGGED = "() => JSON.parse(sessionStorage.log || '[]')"
UNSURE = ("wheel", "mouseover")
DESK = (
    LOG
    + rows(
        "<input id=text value='old mug'>",
        "<button id=button onclick='out.textContent += \"!\"'>Press</button><span id=out></span>",
        "<select id=list><option>A<option>B<option>C</select>",
        "<div id=drag style='width:50px;height:50px'></div>",
        "<a id=link href=/two>two</a>",
        "<input id=box type=checkbox><label id=label for=box>Box</label>",
        "<div id=scroller style='height:50px;overflow:auto'><div style='height:900px'>inner</div></div>",
        "<input id=code maxlength=2>",
        "<div id=editor contenteditable>note</div>",
        "<iframe id=frame src=/frame style='width:200px;height:50px;border:0;margin-left:100px'></iframe>",
    )
    + "<div style='height:2000px'></div>"
)
OUTSIDE = (
    rows("<p>Outside</p>") + "<iframe src=OTHER style='width:200px;height:100px;border:0;margin-left:50px'></iframe>"
)
FRAME = f"{LOG}<body style='margin:0'><button id=inside style='width:100px;height:40px'>Inside</button>"
DOCUMENTS = {
    "/desk": DESK,
    "/outside": OUTSIDE,
    "/frame": FRAME,
    "/two": f"{LOG}<title>two</title><a href=/desk>desk</a>",
}


class Desk(Handler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        Desk.asked.append(self.path)
        origin = f"http://{self.headers['Host']}/frame".replace("127.0.0.1", "localhost")
        self.answer(200, DOCUMENTS.get(self.path.rstrip("?"), "<title>other</title>").replace("OTHER", origin))


@pytest.fixture(scope="module")
def desk() -> Iterator[str]:
    with served(Desk) as origin:
        yield origin


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def windows(config: BrowserConfig) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(config, MemoryImages(), for_person=True) as pool:
        yield pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain(config: BrowserConfig) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(config, MemoryImages()) as pool:
        yield pool


PATIENT = Pauses(click=0.3, wheel=0.5, keys=0.5, text=5)
"""Longer ones, because a busy machine passes input on late."""


class Seat:
    """A person at a window, and the session that does what they do."""

    def __init__(self, session: BrowserSession, capture: Capture, person: ScriptedPerson, notes: list[str]) -> None:
        self.session, self.capture, self.person, self.notes = session, capture, person, notes
        self.calls: list[ToolCall] = []

    async def does(self, *deeds: Coroutine[Any, Any, None], calls: int = 1) -> list[ToolCall]:
        """Do these while the session takes and carries out so many calls, and return these."""

        async def do() -> None:
            for deed in deeds:
                await deed

        doing, done = asyncio.ensure_future(do()), list[ToolCall]()
        for _ in range(calls):
            call = await asyncio.wait_for(self.capture.call(), 30)
            result = await self.session.act([call])
            assert result.feedback[0].ok, result.feedback
            done.append(call)
        await doing
        self.calls += done
        return done

    async def log(self) -> list[Any]:
        """What pages have got."""
        (read,) = await self.session.read([LOGGED])
        return list(read.value)


@pytest_asyncio.fixture(loop_scope="module")
async def sit(windows: BrowserPool, desk: str) -> AsyncIterator[Callable[..., Coroutine[Any, Any, Seat]]]:
    seats: list[Seat] = []

    async def sit(path: str = "/desk", pauses: Pauses = PATIENT) -> Seat:
        session = await windows.open(f"{desk}{path}")
        notes: list[str] = []
        capture = await Capture.of(session, pauses, notes.append)
        seats.append(Seat(session, capture, await ScriptedPerson.at(session.page), notes))
        return seats[-1]

    yield sit
    for seat in seats:
        await seat.session.close()


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


async def test_each_input_becomes_its_call(sit) -> None:
    seat = await sit()
    p = seat.person
    assert await seat.does(p.click(250, 75)) == [call("click", x=500, y=150)]
    assert await seat.does(p.click(20, 75, "right")) == [call("click", x=40, y=150, button="right")]
    assert await seat.does(p.wheel(250, 75, dy=100), p.wheel(250, 75, dy=150)) == [
        call("scroll", direction="down", amount=0.5)
    ]
    assert await seat.does(p.wheel(450, 300, dy=-250)) == [call("scroll", direction="up", amount=0.5)]
    assert await seat.does(p.wheel(250, 325, dy=100)) == [call("scroll", direction="down", amount=0.2, x=500, y=650)]
    drag = (p.press(10, 160), p.move(40, 170), p.release(100, 180))
    assert await seat.does(*drag) == [call("drag", x1=20, y1=320, x2=200, y2=360)]
    assert await seat.does(p.move(150, 70), p.key("Control")) == [call("hover", x=300, y=140)]
    keys = (p.key("ArrowDown"), p.key("ArrowDown"), p.key("Enter"))
    assert await seat.does(*keys, calls=2) == [
        call("press_keys", keys=["ArrowDown", "ArrowDown"]),
        call("press_keys", keys=["Enter"]),
    ]


async def test_text_goes_where_the_caret_is(sit) -> None:
    seat = await sit()
    p = seat.person
    await seat.does(p.click(100, 25), p.key("End"), calls=2)
    said = await seat.does(p.type(" redd"), p.key("Backspace"), p.key("Tab"), calls=2)
    assert said == [call("write", text="old mug red"), call("press_keys", keys=["Tab"])]
    await seat.does(p.click(100, 25), p.key("a", ["Control"]), calls=2)
    assert await seat.does(p.type("new"), p.key("Tab"), calls=2) == [
        call("write", text="new"),
        call("press_keys", keys=["Tab"]),
    ]
    await seat.does(p.click(100, 408), p.key("End"), calls=2)
    assert await seat.does(p.type("s a"), p.key("Escape"), calls=2) == [
        call("press_keys", keys=["s", "Space", "a"]),
        call("press_keys", keys=["Escape"]),
    ]
    (read,) = await seat.session.read(["() => document.getElementById('editor').textContent"])
    assert read.value.replace("\xa0", " ") == "notes a"


async def test_pages_get_each_input_once_and_from_the_session_alone(sit, plain: BrowserPool, desk: str) -> None:
    seat = await sit()
    p = seat.person
    deeds = [
        (p.click(30, 75), 1),
        (p.click(100, 25), 1),
        ([p.type("jug"), p.key("Tab")], 2),
        (p.click(30, 275), 1),
        (p.click(5, 275), 1),
        (p.click(100, 75, "right"), 1),
        (p.wheel(250, 75, dy=200), 1),
        (p.wheel(450, 480, dy=-200), 1),  # the middle of the screen shows the frame then
        (p.click(10, 125), 1),
        ([p.key("ArrowDown"), p.key("Enter")], 2),
        (p.click(20, 375), 1),
        ([p.type("abc"), p.key("Tab")], 2),
        (p.click(20, 225), 1),
    ]
    for deed, calls in deeds:
        await seat.does(*(deed if isinstance(deed, list) else [deed]), calls=calls)
    assert seat.session.page.url.endswith("/two")
    alone = await plain.open(f"{desk}/desk")
    try:
        for each in seat.calls:
            await alone.act([each])
        (read,) = await alone.read([LOGGED])
    finally:
        await alone.close()
    got = await seat.log()
    # Where nobody can prevent its turns, Chromium may join those of a wheel.
    assert [each for each in got if each[0] not in UNSURE] == [each for each in read.value if each[0] not in UNSURE]
    assert [each[2] for each in got if each[0] == "wheel"] == [200, -200]
    assert [each[:2] for each in got].count(["click", "button"]) == 1


async def test_input_during_a_call_waits_and_an_impatient_press_is_no_second_one(sit) -> None:
    seat = await sit()
    p = seat.person
    await seat.does(p.click(20, 375))
    # All of it comes while the first calls are carried out.
    deeds = [p.click(100, 25), p.type("one"), p.key("Tab"), p.key(" "), p.click(30, 75), p.click(30, 75)]
    said = await seat.does(*deeds, calls=6)
    assert [each.name for each in said] == ["click", "write", "press_keys", "press_keys", "click", "click"]
    assert said[1].arguments["text"].count("one") == 1
    (read,) = await seat.session.read(["() => document.getElementById('out').textContent"])
    assert read.value == "!!!"
    for number in range(1, 6):  # faster than the session presses it
        await p.press(30, 75, count=number)
        await p.release(30, 75, count=number)
    presses = 0
    while presses < 5:
        (said,) = await seat.does()
        presses += 2 if said.arguments.get("click_type") == "double" else 1
    (read,) = await seat.session.read(["() => document.getElementById('out').textContent"])
    assert presses == 5 and read.value == "!!!" + "!" * 5


async def test_a_double_click_is_one_call(sit) -> None:
    seat = await sit(pauses=Pauses(click=20))
    said = await seat.does(seat.person.click(30, 75, count=2))
    assert said == [call("click", x=60, y=150, click_type="double")]
    assert [each[0] for each in await seat.log() if each[1] == "button"].count("dblclick") == 1


async def test_what_is_done_to_the_window_becomes_a_call_and_leaves_once(sit, desk: str) -> None:
    seat = await sit()
    p = seat.person
    Desk.asked.clear()
    assert await seat.does(p.enter_address(f"{desk}/two")) == [call("goto_url", url=f"{desk}/two")]
    assert Desk.asked == ["/two"]
    assert await seat.does(p.travel(-1)) == [call("go_back")]
    assert seat.session.page.url.endswith("/desk")
    assert await seat.does(p.travel(1)) == [call("press_keys", keys=["alt+ArrowRight"])]
    assert seat.session.page.url.endswith("/two")
    assert await seat.does(p.reload()) == [call("press_keys", keys=["F5"])]
    assert await seat.does(p.key("ArrowLeft", ["Alt"])) == [call("go_back")]
    (log,) = await seat.session.read(["() => performance.getEntriesByType('navigation')[0].type"])
    assert seat.session.page.url.endswith("/desk") and log.value == "back_forward"


async def test_a_page_that_goes_on_by_itself_is_no_call(sit) -> None:
    seat = await sit()
    await seat.session.read(["() => { setTimeout(() => { location.href = '/two' }, 50) }"])
    waiting = asyncio.ensure_future(seat.capture.call())
    await seat.session.page.wait_for_url("**/two")
    assert not waiting.done()
    await seat.person.click(250, 450)
    assert await asyncio.wait_for(waiting, 30) == call("click", x=500, y=900)


async def test_tabs_follow_the_person(sit, desk: str) -> None:
    seat = await sit()
    context = seat.session.context
    assert await seat.does(context.new_page()) == [call("new_tab")]
    assert len(seat.session.tabs) == 2 and seat.session.active is seat.session.tabs[1]
    second = await ScriptedPerson.at(seat.session.page)
    assert await seat.capture.begun_call() is None
    assert await seat.does(second.enter_address(f"{desk}/two")) == [call("goto_url", url=f"{desk}/two")]
    first = seat.person
    assert await seat.does(first.click(30, 75), calls=2) == [
        call("switch_tab", index=0),
        call("click", x=60, y=150),
    ]
    waiting = asyncio.ensure_future(seat.capture.call())
    await asyncio.sleep(0)
    await seat.session.tabs[1].page.close()
    assert "type :close_tab instead" in seat.notes[0]
    await seat.session.tabs[0].page.close()
    with pytest.raises(WindowClosed):
        await asyncio.wait_for(waiting, 30)


async def test_a_browser_that_is_lost_ends_the_wait(sit) -> None:
    seat = await sit()
    waiting = asyncio.ensure_future(seat.capture.call())
    await asyncio.sleep(0)
    await seat.session.close()
    with pytest.raises(BrowserError):
        await asyncio.wait_for(waiting, 30)


async def test_what_is_done_in_a_frame_is_placed_in_the_viewport(sit) -> None:
    seat = await sit()
    assert await seat.does(seat.person.click(150, 475)) == [call("click", x=300, y=950)]
    assert await inside(seat) == PRESSED


async def test_what_is_done_in_a_frame_of_another_process_is_too(
    config: BrowserConfig, desk: str, tmp_path: Path
) -> None:
    program = tmp_path / "isolating"
    program.write_text(f'#!/bin/sh\nexec {find_chromium(config)} --site-per-process "$@"\n')
    program.chmod(0o755)
    guard = config.guard.model_copy(update={"private_hosts": ["127.0.0.1", "localhost"]})
    config = config.model_copy(update={"guard": guard, "executable": str(program)})
    async with BrowserPool(config, MemoryImages(), for_person=True) as pool:
        session = await pool.open(f"{desk}/outside")
        seat = Seat(session, await Capture.of(session, PATIENT, print), await ScriptedPerson.at(session.page), [])
        await session.context.new_cdp_session(session.page.frames[1])  # else it shares the process of the page
        for again in (1, 2):
            assert await seat.does(seat.person.click(100, 75)) == [call("click", x=200, y=150)]
            assert await inside(seat) == PRESSED * again
            async with session.page.expect_event("framenavigated"):
                await session.page.evaluate("document.querySelector('iframe').src += '?'")
            await session.settle()
        await session.close()


PRESSED = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]


async def inside(seat: Seat) -> list[str]:
    """What the frame of the page has got."""
    (frame,) = seat.session.page.frames[1:]
    got = await frame.evaluate("JSON.parse(sessionStorage.inside)")
    return [each[0] for each in got if each[0] not in UNSURE]


async def test_what_an_input_method_writes_is_typed_by_the_session(sit) -> None:
    seat = await sit()
    p = seat.person
    await seat.does(p.click(100, 25), p.key("End"), calls=2)
    said = await seat.does(p.type("s"), p.compose("n", "ni", "\u4f60"), p.key("Tab"), calls=2)
    assert said[0] == call("write", text="old mugs\u4f60")
    texts = [each[2] for each in await seat.log() if each[0] == "input"]
    assert "".join(texts) == "old mugs\u4f60"
    await seat.does(p.click(100, 408))
    waiting = asyncio.ensure_future(seat.capture.call())
    await p.compose("n", "\u4f60")
    await p.key("Escape")
    assert await asyncio.wait_for(waiting, 30) == call("press_keys", keys=["Escape"])
    assert "an input method" in seat.notes[0]


async def test_what_is_pasted_from_elsewhere_is_written_and_what_the_session_copied_is_pasted(sit) -> None:
    seat = await sit()
    p = seat.person
    await seat.session.context.grant_permissions(["clipboard-read", "clipboard-write"])
    (wrote,) = await seat.session.read(["() => navigator.clipboard.writeText('an ear')"])  # past `clipboard.js`
    assert not wrote.error
    await seat.does(p.click(100, 25), p.key("End"), calls=2)
    paste = (p.key("v", ["Control"], ["paste"]), p.key("Tab"))
    assert await seat.does(*paste, calls=2) == [
        call("write", text="old mugan ear"),
        call("press_keys", keys=["Tab"]),
    ]
    await seat.does(p.click(100, 25), p.key("a", ["Control"], ["selectAll"]), calls=2)
    await seat.does(p.key("c", ["Control"], ["copy"]), p.key("End"), calls=2)
    paste = (p.key("v", ["Control"], ["paste"]), p.key("Tab"))
    assert await seat.does(*paste, calls=2) == [call("press_keys", keys=["ctrl+v"]), call("press_keys", keys=["Tab"])]
    (read,) = await seat.session.read(["() => document.getElementById('text').value"])
    assert read.value == "old mugan earold mugan ear"
