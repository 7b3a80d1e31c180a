"""The wording of every rule of OpenWebRL Table 5, as a table."""

from dataclasses import replace
from typing import Any

import pytest

from webdojo.browser.feedback import describe, failed
from webdojo.browser.page.probe import Element, PageState
from webdojo.types import ToolCall

LINK = Element("a", name="Mugs")
FIELD = Element("input", role="combobox", name="From", value="", editable="type")
DAY = Element("input", name="Day", value="", editable="fill", takes="2026-05-17")
BOX = Element("input", name="Gift", value="on", checked=False)
SELECT = Element("select", name="Size", value="Small", expanded=False)
HERE = PageState(url="http://shop.localhost/", document=1, scroll=(0, 0, 0, 1500))
THERE = replace(HERE, url="http://shop.localhost/c/mugs", document=2)
AT = {"x": 450, "y": 250}
DOWN = {"direction": "down", "amount": 0.5}

TABLE: list[tuple[str, dict[str, Any], PageState, PageState, str]] = [
    ("click", AT, replace(HERE, target=LINK), THERE, 'click at (450, 250) on <a> "Mugs": page is now {there}'),
    ("click", AT, HERE, replace(THERE, tab=1, tabs=2), "click at (450, 250): opened tab 1, {there}"),
    ("click", AT, replace(HERE, tabs=2, tab=1), HERE, "click at (450, 250): a tab was closed; now on tab 0, {here}"),
    ("click", AT, HERE, replace(HERE, document=2), "click at (450, 250): page reloaded"),
    ("click", AT, replace(HERE, target=LINK), replace(HERE, target=LINK), "…: nothing changed"),
    ("click", AT, HERE, replace(HERE, changes=3), "click at (450, 250): page changed"),
    ("click", AT, replace(HERE, target=BOX), replace(HERE, target=replace(BOX, checked=True)), "…: now checked"),
    ("click", AT, replace(HERE, target=SELECT), replace(HERE, target=replace(SELECT, expanded=True)), "…: now open"),
    (
        "click",
        AT,
        replace(HERE, target=Element("option", name="Large")),
        replace(HERE, focus=replace(SELECT, value="Large")),
        'click at (450, 250) on <option> "Large": <select> "Size" is now "Large"',
    ),
    (
        "click",
        AT,
        replace(HERE, target=FIELD),
        replace(HERE, target=FIELD, focus=FIELD),
        'click at (450, 250) on <input role=combobox> "From": field is focused',
    ),
    (
        "click",
        AT,
        replace(HERE, target=DAY),
        replace(HERE, target=DAY, focus=DAY),
        'click at (450, 250) on <input> "Day": field is focused; it takes values like 2026-05-17',
    ),
    (
        "click",
        AT,
        replace(HERE, target=DAY, focus=DAY),
        replace(HERE, target=DAY, focus=DAY),
        "…: nothing changed; it takes values like 2026-05-17",
    ),
    ("click", {**AT, "button": "right", "click_type": "double"}, HERE, HERE, "double right click at (450, 250): …"),
    ("hover", AT, replace(HERE, target=LINK), HERE, 'hover at (450, 250) on <a> "Mugs"'),
    ("hover", AT, HERE, replace(HERE, changes=1), "hover at (450, 250): page changed"),
    ("drag", {"x1": 1, "y1": 2, "x2": 3, "y2": 4}, HERE, HERE, "drag from (1, 2) to (3, 4): nothing changed"),
    (
        "write",
        {"text": "Oslo"},
        replace(HERE, focus=FIELD),
        replace(HERE, focus=replace(FIELD, value="Oslo"), changes=9),
        'write "Oslo" into <input role=combobox> "From"',
    ),
    (
        "write",
        {"text": "New York"},
        replace(HERE, focus=FIELD),
        replace(HERE, focus=replace(FIELD, value="New York, NY")),
        '…: but the field holds "New York, NY"',
    ),
    ("press_keys", {"keys": ["ctrl", "Enter"]}, HERE, THERE, "press_keys Control+Enter: page is now {there}"),
    ("press_keys", {"keys": ["Tab"]}, HERE, replace(HERE, focus=LINK), 'press_keys Tab: <a> "Mugs" is focused'),
    (
        "press_keys",
        {"keys": ["a"]},
        replace(HERE, focus=Element("iframe", name="Map")),
        replace(HERE, focus=Element("iframe", name="Map")),
        'press_keys a: sent to <iframe> "Map", which does not tell what changed',
    ),
    (
        "press_keys",
        {"keys": ["Enter"]},
        replace(HERE, focus=Element("button", name="More", expanded=False)),
        replace(HERE, focus=Element("button", name="More", expanded=True), changes=1),
        'press_keys Enter: <button> "More" is now open',
    ),
    (
        "press_keys",
        {"keys": ["Enter"]},
        replace(HERE, focus=Element("div", name="Card", id=1)),
        replace(HERE, focus=Element("div", name="Card", id=2), changes=9),
        "press_keys Enter: page changed",
    ),
    (
        "write",
        {"text": "Large"},
        replace(HERE, focus=Element("option", name="Small")),
        replace(HERE, focus=SELECT),
        'write "Large" into <select> "Size": but the field holds "Small"',
    ),
    ("press_keys", {"keys": ["End"]}, HERE, replace(HERE, scroll=(0, 9, 0, 1500)), "press_keys End: page scrolled"),
    ("scroll", DOWN, HERE, replace(HERE, scroll=(0, 600, 0, 1500)), "scroll down 0.5: page is now at 40%"),
    ("scroll", DOWN, HERE, replace(HERE, scroll=(0, 1500, 0, 1500)), "scroll down 0.5: page is now at its end"),
    (
        "scroll",
        DOWN,
        replace(HERE, scroll=(0, 1500, 0, 1500)),
        replace(HERE, scroll=(0, 1500, 0, 1500)),
        "scroll down 0.5: nothing moved, already at the bottom",
    ),
    (
        "scroll",
        DOWN,
        replace(HERE, target=Element("iframe", name="Map")),
        replace(HERE, target=Element("iframe", name="Map")),
        'scroll down 0.5: sent to <iframe> "Map", which does not tell whether it moved',
    ),
    (
        "scroll",
        DOWN,
        replace(HERE, scroll=(0, 0, 0, 300_000)),
        replace(HERE, scroll=(0, 800, 0, 300_000)),
        "scroll down 0.5: page is now at 0.3%",
    ),
    (
        "write",
        {"text": "word " * 4000},
        replace(HERE, focus=FIELD),
        replace(HERE, focus=replace(FIELD, value=("word " * 4000)[:10_000])),
        'write "word word word word word word word word word word word word…" into <input role=combobox> "From"',
    ),
    (
        "scroll",
        {"direction": "left", "amount": 1},
        HERE,
        HERE,
        "scroll left 1: nothing moved, everything is in view",
    ),
    (
        "scroll",
        DOWN,
        replace(HERE, box=(0, 0, 0, 200)),
        replace(HERE, box=(0, 50, 0, 200)),
        "scroll down 0.5: this part of the page is now at 25%",
    ),
    ("scroll", DOWN, replace(HERE, box=(0, 0, 0, 9)), replace(HERE, box=(0, 0, 0, 9)), "…: nothing moved"),
    ("scroll", DOWN, HERE, replace(HERE, changes=2), "…: page changed"),
    (
        "scroll",
        DOWN,
        replace(HERE, scroll=(0, 0, 0, 0), clipped=True),
        replace(HERE, scroll=(0, 0, 0, 0), clipped=True),
        "scroll down 0.5: nothing moved",
    ),
    (
        "scroll",
        DOWN,
        replace(HERE, target=Element("x-list", opaque=True)),
        replace(HERE, target=Element("x-list", opaque=True)),
        "scroll down 0.5: sent to <x-list>, which does not tell whether it moved",
    ),
    (
        "click",
        AT,
        replace(HERE, target=Element("canvas")),
        replace(HERE, target=Element("canvas")),
        "click at (450, 250) on <canvas>: it does not tell what changed",
    ),
    ("goto_url", {"url": "x"}, HERE, THERE, "goto_url: page is now {there}"),
    ("go_back", {}, THERE, HERE, "go_back: page is now {here}"),
    ("wait", {"seconds": 2}, HERE, HERE, "waited 2 s"),
    ("new_tab", {}, HERE, replace(HERE, tab=1, tabs=2), "new_tab: tab 1 is open"),
    ("switch_tab", {"index": 1}, HERE, replace(THERE, tab=1), "switch_tab: now on tab 1, {there}"),
    ("close_tab", {}, HERE, HERE, "close_tab: closed; now on tab 0, {here}"),
    ("done", {"answer": "It costs\n$4"}, HERE, HERE, 'done: "It costs $4"'),
]


@pytest.mark.parametrize(("name", "arguments", "before", "after", "text"), TABLE)
def test_wording(name: str, arguments: dict[str, Any], before: PageState, after: PageState, text: str) -> None:
    said = describe(ToolCall(name=name, arguments=arguments), before, after)
    assert said.ok
    expected = text.format(here=HERE.url, there=THERE.url)
    start, _, end = expected.partition("…")
    assert said.text.startswith(start) and said.text.endswith(end)
    assert "…" in text or said.text == expected


def test_notes_follow_the_effect() -> None:
    said = describe(ToolCall(name="go_back"), THERE, HERE, ['alert "Sold out" was accepted', "HTTP 404"])
    assert said.text.endswith('; alert "Sold out" was accepted; HTTP 404')


def test_failures_are_one_short_line() -> None:
    said = failed(ToolCall(name="goto_url", arguments={"url": "x"}), "net::ERR_FAILED\n  call log " + "x" * 500)
    assert not said.ok
    assert said.text.startswith("goto_url failed: net::ERR_FAILED call log")
    assert "\n" not in said.text and len(said.text) < 240


def test_what_a_page_names_can_neither_control_nor_turn_around_what_follows() -> None:
    link = replace(LINK, name="Mugs\x00\x1b[2J\u202egnp.exe\ufeff\u2066")
    said = describe(ToolCall(name="hover", arguments=AT), replace(HERE, target=link), HERE)
    assert said.text == 'hover at (450, 250) on <a> "Mugs[2Jgnp.exe"'


def test_long_pages_cannot_flood_the_prompt() -> None:
    url = "http://shop.localhost/" + "a" * 5000
    long = replace(THERE, url=url)
    assert len(describe(ToolCall(name="click", arguments=AT), HERE, long).text) < 200
    typed = ToolCall(name="write", arguments={"text": "word " * 1000})
    assert len(describe(typed, replace(HERE, focus=FIELD), HERE).text) < 200
