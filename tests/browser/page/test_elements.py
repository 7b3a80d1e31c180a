"""Agents that name elements by number, on real pages: what a number leads to, and when it leads nowhere."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.types import Observation, ToolCall, View

pytestmark = pytest.mark.asyncio(loop_scope="module")

TREE = View(kind="accessibility_tree", whole_page=True)
WINDOW = View(kind="accessibility_tree")
MARKS = View(kind="marks")


@pytest_asyncio.fixture(loop_scope="module")
async def page(pool: BrowserPool, site: str) -> AsyncIterator[BrowserSession]:
    session = await pool.open(f"{site}/two")
    yield session
    await session.close()


def number(observation: Observation, name: str) -> int:
    """The number of a control in the text of a page."""
    (found,) = re.findall(rf"\[(\d+)\] [a-z ]+ '{re.escape(name)}'", observation.text)
    return int(found)


async def show(page: BrowserSession, body: str, view: View = TREE) -> Observation:
    await page.page.set_content(f"<!doctype html><title>t</title><body style='margin:0'>{body}<p id=out></p>")
    return await page.observe(view)


async def act(page: BrowserSession, name: str, **arguments: object) -> str:
    (feedback,) = (await page.act([ToolCall(name=name, arguments=arguments)])).feedback
    return f"{'' if feedback.ok else 'FAILED '}{feedback.text}"


def button(name: str) -> str:
    return f"<button onclick=\"document.querySelector('#out').textContent += '{name} '\">{name}</button>"


async def out(page: BrowserSession) -> str:
    return str(await page.page.evaluate("document.querySelector('#out').textContent.trim()"))


async def test_an_element_out_of_view_is_brought_into_view(page):
    seen = await show(
        page, f"{button('Up')}<div style='height:3000px'></div>{button('Down')}<div style='width:3000px'>"
    )
    assert "page is now" not in await act(page, "click", element=number(seen, "Down"))
    assert await out(page) == "Down"
    assert (await page.observe()).scroll_px[1] > 2000
    await act(page, "click", element=number(seen, "Up"))
    assert await out(page) == "Down Up"


async def test_an_element_of_a_box_that_scrolls_is_brought_into_view(page):
    box = f"<div style='height:100px;overflow:auto'><div style='height:900px'></div>{button('Deep')}</div>"
    seen = await show(page, f"<div style='height:300px'></div>{box}")
    assert f"[{number(seen, 'Deep')}]" not in (await page.observe(WINDOW)).text
    seen = await page.observe(TREE)
    await act(page, "click", element=number(seen, "Deep"))
    assert await out(page) == "Deep"


async def test_an_element_under_a_header_that_stays_is_brought_out_from_under_it(page):
    header = "<div style='position:fixed;top:0;left:0;width:100%;height:60px;background:#ccc'>Head</div>"
    rows = "".join(f"<div style='height:200px'>{button(f'B{row}')}</div>" for row in range(6))
    seen = await show(page, f"{header}<div style='height:20px'></div>{rows}")
    await page.page.evaluate("scrollTo(0, 220)")  # B1 is at the top now, under the header
    await act(page, "click", element=number(seen, "B1"))
    assert await out(page) == "B1"


async def test_a_link_over_two_lines_is_hit_and_not_called_covered(page):
    text = "<div style='width:200px;font:16px monospace'>Some words <a href=/>that go on</a> and on</div>"
    seen = await show(page, text)
    assert "covered" not in seen.text
    box = await page.page.evaluate("document.querySelector('a').getClientRects().length")
    assert box == 2
    feedback = await act(page, "click", element=number(seen, "that go on"))
    assert "page is now" in feedback


FRAME = (
    "<div style='height:{above}px'></div><iframe style='border:10px solid;padding:7px;width:300px;height:120px' "
    "srcdoc=\"<body style='margin:0'><div style='height:{inside}px'></div>"
    "<button onclick='parent.document.querySelector(`#out`).textContent += `In `'>In</button>\"></iframe>"
)


@pytest.mark.parametrize(("above", "inside"), [(0, 0), (0, 900), (2500, 0), (2500, 900)])
async def test_an_element_in_a_frame_is_brought_into_view(page, above, inside):
    await show(page, FRAME.format(above=above, inside=inside))
    seen = await page.observe(TREE)
    assert "iframe" in seen.text
    feedback = await act(page, "click", element=number(seen, "In"))
    assert await out(page) == "In", feedback


async def test_a_frame_of_another_origin(page, site):
    other = site.replace("127.0.0.1", "localhost")
    await show(page, f"<iframe src='{other}/form' style='width:400px;height:300px'></iframe>")
    await page.settle()
    seen = await page.observe(TREE)
    feedback = await act(page, "click", element=number(seen, "Query"))
    assert not feedback.startswith("FAILED")
    await act(page, "write", text="mugs")
    assert "'Query' value='mugs'" in (await page.observe(TREE)).text


async def test_shadow_trees(page):
    host = "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = `<div style='height:1500px'></div>"
    select = "<select aria-label=Size><option>Small<option>Large</select>"
    seen = await show(page, f"{host}<button>Shady</button><input aria-label=Name><input type=date aria-label=Day>"
                            f"{select}`</script>")  # fmt: skip
    feedback = await act(page, "click", element=number(seen, "Shady"))
    assert 'on <button> "Shady"' in feedback
    for name, text in (("Name", "Ada"), ("Day", "2027-03-04"), ("Size", "Large")):
        await act(page, "click", element=number(seen, name))
        assert not (await act(page, "write", text=text)).startswith("FAILED")
    text = (await page.observe(TREE)).text
    assert "'Name' value='Ada'" in text and "'Day' value='2027-03-04'" in text and "'Size' value='Large'" in text


OPTIONS = "".join(f"<option>Option {row}" for row in range(60))


async def test_typing_on_a_list_chooses_the_option_and_closes_it(page):
    seen = await show(page, f"<select aria-label=Size onchange='out.textContent = value'>{OPTIONS}</select>")
    await act(page, "click", element=number(seen, "Size"))
    assert "[2] option 'Option 0' selected" in (await page.observe(TREE)).text
    feedback = await act(page, "write", text="option 41")
    assert not feedback.startswith("FAILED"), feedback
    assert await out(page) == "Option 41"
    assert "option '" not in (await page.observe(TREE)).text
    assert (await act(page, "write", text="Huge")).startswith("FAILED write failed: the list has no option")


async def test_the_options_of_an_open_list_have_numbers_far_ones_too(page):
    seen = await show(page, f"<select aria-label=Size onchange='out.textContent = value'>{OPTIONS}</select>")
    await act(page, "click", element=number(seen, "Size"))
    window = await page.observe(WINDOW)
    assert "'Option 3'" in window.text and "'Option 59'" not in window.text
    seen = await page.observe(TREE)
    await act(page, "click", element=number(seen, "Option 59"))
    assert await out(page) == "Option 59"
    closed = number(seen, "Option 3")
    assert "cannot be brought into view" in await act(page, "click", element=closed)


async def test_marks_are_numbers_too(page):
    await show(page, f"{button('One')}<div style='height:3000px'></div>{button('Two')}", MARKS)
    await act(page, "click", element=1)
    assert await out(page) == "One"
    assert "there is no element 2; the numbers are 1 to 1" in await act(page, "click", element=2)


async def test_only_numbers_that_were_shown_mean_something(page):
    await show(page, f"{button('One')}<div style='height:3000px'></div>{button('Two')}", WINDOW)
    assert "there is no element 2; the numbers are 1 to 1" in await act(page, "click", element=2)
    await page.observe(TREE)
    await act(page, "click", element=2)
    assert await out(page) == "Two"
    many = "".join(button(f"B{row}") for row in range(200))
    cut = await show(page, many, View(kind="accessibility_tree", max_tokens=100))
    assert "more lines" in cut.text
    assert "there is no element 200" in await act(page, "click", element=200)


async def test_a_plain_observation_keeps_the_numbers_and_a_new_view_replaces_them(page):
    await show(page, button("One") + button("Two"))
    await page.observe()
    await page.page.evaluate("document.body.prepend(document.querySelectorAll('button')[1])")
    await act(page, "click", element=1)
    assert await out(page) == "One", "it moved, and is still number 1"
    await page.observe(TREE)
    await act(page, "click", element=1)
    assert await out(page) == "One Two"


async def test_before_a_view_there_are_no_numbers(pool, site):
    session = await pool.open(f"{site}/two")
    assert "the numbers are none on this page" in await act(session, "click", element=1)
    await session.close()


async def test_elements_that_are_gone_are_said_to_be(page, site):
    seen = await show(page, button("One"))
    await page.page.evaluate("document.querySelector('button').remove()")
    gone = f"element {number(seen, 'One')} is gone: the page has changed since it was shown"
    assert gone in await act(page, "click", element=1)
    await show(page, button("One"))
    await page.act([ToolCall(name="goto_url", arguments={"url": f"{site}/two"})])
    assert gone in await act(page, "click", element=1)
    await show(page, button("One"))
    await page.act([ToolCall(name="new_tab")])
    assert gone in await act(page, "click", element=1), "another tab is in front"
    await page.act([ToolCall(name="close_tab")])
    assert "One" in await act(page, "click", element=1)


async def test_hidden_elements_cannot_be_brought_into_view(page):
    await show(page, button("One"))
    await page.page.evaluate("document.querySelector('button').style.display = 'none'")
    assert "element 1 cannot be brought into view" in await act(page, "click", element=1)


async def test_every_tool_with_a_place_takes_a_number(page):
    box = (
        "<div tabindex=0 role=listbox aria-label=Box style='height:100px;overflow:auto'><p style='height:900px'>x</div>"
    )
    seen = await show(page, f"<button title=Tip onmousemove='out.textContent = 1'>Over</button>{box}")
    assert "hover at" in await act(page, "hover", element=number(seen, "Over"))
    assert await out(page) == "1"
    feedback = await act(page, "scroll", element=number(seen, "Box"), direction="down", amount=0.25)
    assert "this part of the page is now at" in feedback
    assert (await act(page, "click", element=number(seen, "Over"), x=1, y=2)).startswith("FAILED invalid call")
    assert (await act(page, "click", element="1")).startswith("FAILED invalid call")


async def test_points_lead_to_the_numbers_that_a_view_shows(page):
    box = f"<div role=listbox aria-label=Box style='width:200px;height:200px'>{button('Buy')}</div>"
    seen = await show(page, box)
    width, height = page.viewport_px

    def at(x: int, y: int) -> int | None:
        return page.elements.at(round(1000 * x / width), round(1000 * y / height))

    assert at(4, 4) == number(seen, "Buy"), "the smallest one around the point"
    assert at(150, 150) == number(seen, "Box")
    assert at(400, 400) is None


async def test_an_option_hides_what_lies_under_the_list(page):
    under = f"<div style='height:40px'></div>{button('a')}"
    select = f"<select aria-label=Size style='width:200px'>{OPTIONS}</select>"
    seen = await show(page, f"<div style='position:absolute;top:0'>{select}</div>{under}")
    await act(page, "click", element=number(seen, "Size"))
    seen = await page.observe(TREE)
    box = await page.page.evaluate("document.querySelector('button').getBoundingClientRect().toJSON()")
    width, height = page.viewport_px
    at = page.elements.at(round(1000 * (box["x"] + 4) / width), round(1000 * (box["y"] + 4) / height))
    assert f"[{at}] option" in seen.text


async def test_views_leave_nothing_behind_in_the_page(page):
    await show(page, "".join(button(f"B{row}") for row in range(50)))
    cdp = await page.page.context.new_cdp_session(page.page)

    async def nodes_alive() -> int:
        await page.page.evaluate("document.querySelector('#out').innerHTML = '<b>x</b>'.repeat(500)")
        await page.observe(TREE)
        await page.page.evaluate("document.querySelector('#out').innerHTML = ''")
        await page.observe(TREE)
        await cdp.send("HeapProfiler.collectGarbage")
        return int((await cdp.send("Memory.getDOMCounters"))["nodes"])

    before = await nodes_alive()
    for _ in range(4):
        after = await nodes_alive()
    assert after < before + 600


async def test_a_point_out_of_view_names_the_control_whose_middle_it_is(page):
    """The last rows of a list that scrolls lie, unseen, on what comes after the list."""
    row = "<a href=/{0} style='display:block;height:30px;width:{1}px'>{0}</a>"
    rows = "".join(row.format(f"r{index}", 150) for index in range(6))
    after = "".join(row.format(f"a{index}", 300) for index in range(6))
    body = f"<div style='height:70px;overflow:auto'>{rows}</div><div style='padding-top:4px'>{after}</div>"
    seen = await show(page, f"<div style='height:2000px'></div>{body}")
    boxes = await page.page.evaluate(
        "[...document.links].map(e => [e.innerText, e.getBoundingClientRect().toJSON()])",
    )
    width, height = page.viewport_px
    for name, box in boxes:
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        at = page.elements.at(round(1000 * middle[0] / width), round(1000 * middle[1] / height))
        assert at == number(seen, name), name
    await show(page, f"<div style='height:2000px'></div>{body}")
    assert page.elements.at(500, -4000) is None
