"""Text observations of a real page: what is named, where it is, and what fits a budget."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from webdojo.browser.page.snapshot import Node, Snapshot, snapshot
from webdojo.browser.page.views import as_text, estimated_tokens, marked
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.types import ToolCall, View

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = """<!doctype html><title>Mugs & more</title><style>body{margin:0} .row{height:40px}</style>
<nav aria-label=Main><div class=row><a href=/cart>Cart <b>(2)</b></a> <a href=/help><img alt=Help></a></div></nav>
<div class=row><h2>All mugs</h2></div>
<div class=row><label>Search <input value="red 'mug'"></label> <input type=password value=abc aria-label=Password></div>
<div class=row><select aria-label=Size><option>Small<option selected>Large</select>
  <label><input type=checkbox checked>Gift</label> <button disabled>Buy</button></div>
<div class=row>Only <i>five</i> left <span style="display:none">secret</span><span hidden>gone</span>
  <span style="visibility:hidden">unseen <em style="visibility:visible">seen</em></span></div>
<div class=row id=host></div>
<div class=row style="overflow:auto"><div style="height:30px"><button>Top</button></div>
  <div style="height:100px;padding-top:60px"><button>Below</button></div></div>
<div class=row><button id=under>Under</button><div style="position:fixed;left:0;top:280px;width:200px;height:40px">
  <button aria-expanded=false style="width:200px;height:40px">Accept cookies</button></div></div>
<div class=row><iframe srcdoc="<body style='margin:0'><button style='margin:5px'>Inside</button>"
  style="border:0;height:40px"></iframe></div>
<div class=row><div onclick="1" style="cursor:pointer;width:60px">Card</div></div>
<div style="height:2000px"></div><a href=/imprint>Imprint</a>
<script>host.attachShadow({mode: 'open'}).innerHTML = '<button>Shadow</button><slot></slot>';
host.innerHTML = '<a href=/slotted>Slotted</a>';</script>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shown(pool: BrowserPool, site: str) -> AsyncIterator[BrowserSession]:
    session = await pool.open(f"{site}/two")
    await session.page.set_content(PAGE)
    yield session
    await session.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(shown: BrowserSession) -> Snapshot:
    return await shown.snapshot()


TREE = View(kind="accessibility_tree")


def html(page: Snapshot, **options: Any) -> tuple[str, dict[int, Node]]:
    return as_text(View(kind="simplified_html", **{"whole_page": True, **options}), page)


def named(page: Snapshot, name: str) -> Node:
    (found,) = [node for node in page.nodes if node.name == name]
    return found


async def test_the_tree_of_the_window(page: Snapshot) -> None:
    lines = as_text(TREE, page)[0].splitlines()
    assert lines[0] == "page 'Mugs & more'"
    assert [line.strip() for line in lines[1:]] == [
        "navigation 'Main'",
        "[1] link 'Cart (2)'",
        "[2] link 'Help'",
        "heading 'All mugs'",
        "text 'Search'",
        "[3] textbox 'Search' value=\"red 'mug'\"",
        "[4] password textbox 'Password' value='***'",
        "[5] combobox 'Size' value='Large' options=['Small', 'Large']",
        "[6] checkbox 'Gift' checked",
        "text 'Gift'",
        "[7] button 'Buy' disabled",
        "text 'Only'",
        "text 'five'",
        "text 'left'",
        "text 'seen'",
        "[8] button 'Shadow'",
        "[9] link 'Slotted'",
        "[10] button 'Top'",
        "[11] button 'Under' covered",
        "[12] button 'Accept cookies' not expanded",
        "iframe",
        "[13] button 'Inside'",
        "[14] clickable 'Card'",
    ]


async def test_numbers_lead_to_what_they_were_shown_for(shown: BrowserSession, page: Snapshot) -> None:
    _, controls = as_text(TREE, page)
    for number in (6, 8, 10, 12):
        (feedback,) = (await shown.act([ToolCall(name="hover", arguments={"element": number})])).feedback
        assert feedback.ok and controls[number].name in feedback.text, feedback.text
    below = named(page, "Below")
    assert not below.in_view and named(page, "Imprint").box_px[1] > 2000


async def test_html_of_the_whole_page(page: Snapshot) -> None:
    lines = [line.strip() for line in html(page)[0].splitlines()]
    for line in (
        "<title>Mugs &amp; more</title>",
        "<nav>Main</nav>",
        '<a id="1">Cart (2)</a>',
        "<h2>All mugs</h2>",
        '<input id="3" placeholder="Search" value="red &#x27;mug&#x27;">',
        '<input id="4" type="password" placeholder="Password" value="***">',
        '<select id="5" name="Size"><option>Small</option><option selected>Large</option></select>',
        '<input id="6" type="checkbox" placeholder="Gift" checked>',
        '<button id="7" disabled>Buy</button>',
        '<div id="14" role="clickable">Card</div>',
    ):
        assert line in lines
    assert lines[-1] == '<a id="16">Imprint</a>'


async def test_a_budget_keeps_what_is_in_view_and_says_what_is_missing(page: Snapshot) -> None:
    whole, all_shown = html(page, max_tokens=10_000)
    assert "more lines" not in whole
    window, _ = html(page, max_tokens=10_000, whole_page=False)
    enough = sum(estimated_tokens(line) + 1 for line in window.splitlines())
    small, shown = html(page, max_tokens=enough + 8)
    *kept, more = small.splitlines()
    omitted = len(whole.splitlines()) - len(kept)
    assert 0 < omitted < 5
    assert more == f"({omitted} more lines)"
    assert "Imprint" not in small and "Cart" in small
    assert set(shown) < set(all_shown)
    tiny, _ = as_text(View(kind="accessibility_tree", max_tokens=30), page)
    assert len(tiny) < 150 and "Cart" in tiny


async def test_marks_are_drawn_on_what_can_be_clicked(shown: BrowserSession, page: Snapshot) -> None:
    before = await shown.active.screenshot()
    data, marks = marked(before, page)
    names = {node.name for node in marks.values()}
    assert names >= {"Cart (2)", "Size", "Shadow", "Inside"}
    assert not names & {"Under", "Below", "Imprint"}
    picture = Image.open(io.BytesIO(data))
    assert picture.size == Image.open(io.BytesIO(before)).size
    left, top, *_ = (round(edge) for edge in named(page, "Accept cookies").box_px)
    drawn: Any = picture.getpixel((left + 150, top))
    colours = [(0xD0, 0, 0), (0, 0x50, 0xD0), (0, 0x7A, 0x1F), (0x8A, 0x2B, 0xE2), (0xB3, 0x59, 0), (0, 0x76, 0x7A)]
    assert min(max(abs(a - b) for a, b in zip(drawn, colour, strict=True)) for colour in colours) < 30
    assert picture.format == "JPEG", "the format of the screenshot"


async def test_a_huge_page_is_described_in_time_and_cut(shown: BrowserSession) -> None:
    await shown.page.set_content(
        "<body><script>document.body.innerHTML = '<p><a href=/x>link</a></p>'.repeat(25000)</script>"
    )
    large, _ = await snapshot(shown.active, shown.viewport_px)
    assert len(large.nodes) == 5000 and large.omitted > 19_000
    assert as_text(TREE, large)[1][1].name == "link"
