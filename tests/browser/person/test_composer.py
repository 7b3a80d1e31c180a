"""Which calls a person's input makes, and what is let through for them, by tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdojo.browser.actions import point_1000, point_px
from webdojo.browser.keys import normalise_keys
from webdojo.browser.page.probe import Element, PageState
from webdojo.browser.person.composer import Composer, Pauses
from webdojo.browser.person.input import Input, needed_by, read_input
from webdojo.browser.tools import check_call
from webdojo.types import ToolCall

VIEWPORT_PX = (1280, 1000)


def press(x: float = 640, y: float = 500, button: int = 0, count: int = 1) -> list[Input]:
    return [Input("press", x=x, y=y, button=button, count=count), Input("release", x=x, y=y, button=button)]


def key(name: str, *modifiers: str) -> Input:
    return Input("key", key=name, modifiers=modifiers)  # type: ignore[arg-type]


def typed(text: str) -> list[Input]:
    return [Input("key", key=each, types=True) for each in text]


def wheel(dx: float, dy: float) -> Input:
    return Input("wheel", x=640, y=500, dx=dx, dy=dy)


def composed(*inputs: Input) -> list[str]:
    """The calls of some input and the pause after it."""
    composer = Composer(VIEWPORT_PX, Pauses())
    calls = [call for each in inputs for call in composer.take(each)] + composer.rest()
    assert composer.patience_s is None
    for call in calls:
        assert check_call(call) is None, call
    return [f"{call.name} {' '.join(map(str, call.arguments.values()))}".strip() for call in calls]


@pytest.mark.parametrize(
    ("inputs", "calls"),
    [
        (press(), ["click 500 500"]),
        (press(1279.6, 0), ["click 1000 0"]),
        ([*press(), *press(count=2)], ["click 500 500 double"]),
        ([*press(), *press(count=2), *press(count=3)], ["click 500 500 double", "click 500 500"]),
        ([*press(), *press(count=1)], ["click 500 500"] * 2),
        ([*press(), key("Escape"), *press(count=2)], ["click 500 500", "press_keys ['Escape']", "click 500 500"]),
        (press(button=2), ["click 500 500 right"]),
        ([*press(), *press(button=1)], ["click 500 500", "click 500 500 middle"]),
        (press(button=3), ["go_back"]),
        (press(button=4), ["press_keys ['alt+ArrowRight']"]),
        ([Input("press", x=0, y=0), Input("release", x=64, y=100)], ["drag 0 0 50 100"]),
        ([Input("press", x=64, y=100), Input("release", x=67, y=97)], ["click 50 100"]),
        ([Input("release", x=64, y=100)], []),
        ([Input("press", button=2), Input("release", button=0)], []),
        ([wheel(0, 120), wheel(0, 130)], ["scroll 500 500 down 0.25"]),
        ([wheel(0, 300), wheel(0, -400)], ["scroll 500 500 up 0.1"]),
        ([wheel(0, 300), wheel(0, -300)], []),
        ([wheel(-640, 100)], ["scroll 500 500 left 0.5"]),
        ([wheel(0, 10**6)], ["scroll 500 500 down 10.0"]),
        (
            [wheel(0, 100), key("Enter"), wheel(0, 100)],
            ["scroll 500 500 down 0.1", "press_keys ['Enter']", "scroll 500 500 down 0.1"],
        ),
        (typed("red mug"), ["write red mug"]),
        ([*typed("red mugs"), key("Backspace")], ["write red mug"]),
        ([*typed("r"), key("Backspace"), key("Backspace")], ["press_keys ['Backspace']"]),
        ([*typed("red"), key("Enter")], ["write red", "press_keys ['Enter']"]),
        ([*typed("red"), key("ArrowLeft"), *typed("d")], ["write red", "press_keys ['ArrowLeft']", "write d"]),
        ([*typed("r"), Input("text", text="ée"), *typed("d")], ["write réed"]),
        ([Input("paste", text="two\nlines")], ["write two\nlines"]),
        ([key("Tab"), key("Tab"), key("Tab")], ["press_keys ['Tab', 'Tab', 'Tab']"]),
        ([key("Tab"), key("Tab", "shift")], ["press_keys ['Tab']", "press_keys ['shift+Tab']"]),
        ([key("Enter"), key("Enter")], ["press_keys ['Enter']"] * 2),
        ([key("a", "ctrl")], ["press_keys ['ctrl+a']"]),
        ([key("K", "ctrl", "shift")], ["press_keys ['ctrl+shift+K']"]),
        ([key("+", "ctrl")], ["press_keys ['ctrl++']"]),
        ([key(" ", "ctrl")], ["press_keys ['ctrl+Space']"]),
        ([key("ArrowLeft", "alt")], ["go_back"]),
        ([key("ArrowRight", "alt")], ["press_keys ['alt+ArrowRight']"]),
        ([key("AudioVolumeUp"), key("NumLock")], []),
        ([Input("hover", x=128, y=100)], ["hover 100 100"]),
        ([*typed("a"), Input("hover", x=128, y=100)], ["write a", "hover 100 100"]),
    ],
)
def test_calls(inputs: list[Input], calls: list[str]) -> None:
    assert composed(*inputs) == calls


def test_what_may_go_on_waits_and_nothing_else_does() -> None:
    composer, pauses = Composer(VIEWPORT_PX, Pauses()), Pauses()
    assert composer.patience_s is None
    down, up = press()
    composer.take(down)
    assert composer.patience_s is None, "a button that is held down"
    composer.take(up)
    assert composer.patience_s == pauses.click
    composer.take(typed("a")[0])
    assert composer.patience_s == pauses.text
    composer.take(key("Tab"))
    assert composer.patience_s == pauses.keys
    assert composer.take(key("Enter")) and composer.patience_s is None


@given(st.integers(200, 4000), st.integers(200, 4000), st.floats(0, 1), st.floats(0, 1))
def test_a_place_comes_back_as_near_as_the_tools_can_say(width: int, height: int, x: float, y: float) -> None:
    at_px = (round(x * (width - 1)), round(y * (height - 1)))
    back_px = point_px(*point_1000(*at_px, (width, height)), (width, height))
    for there, back, size in zip(at_px, back_px, (width, height), strict=True):
        assert abs(there - back) <= size / 2000 + 0.5


@pytest.mark.parametrize("told", ["", "no", "{}", '{"kind": "shout"}', '{"kind": "press", "x": "left"}', "[1]"])
def test_what_only_a_page_can_have_told_is_nothing(told: str) -> None:
    assert read_input(told) is None


def test_what_is_told_is_read() -> None:
    told = '{"kind": "key", "key": "a", "modifiers": ["ctrl"], "types": false}'
    assert read_input(told) == Input("key", key="a", modifiers=("ctrl",))


FIELD = PageState(url="", focus=Element(tag="input", editable="type", maxlength=2))


@pytest.mark.parametrize(
    ("name", "arguments", "needed"),
    [
        ("click", {"x": 1, "y": 1}, {"presses": 1, "moves": True}),
        ("click", {"x": 1, "y": 1, "click_type": "double"}, {"presses": 2, "moves": True}),
        ("drag", {"x1": 1, "y1": 1, "x2": 2, "y2": 2}, {"presses": 1, "moves": True}),
        ("hover", {"x": 1, "y": 1}, {"moves": True}),
        ("scroll", {"direction": "up", "amount": 1}, {"wheels": 1, "moves": True}),
        ("write", {"text": "so"}, {"text": True, "keys": {"control", "meta", "a", "delete", "escape", "o"}}),
        (
            "write",
            {"text": "so\n"},
            {"text": True, "keys": {"control", "meta", "a", "delete", "escape", *"so", "enter"}},
        ),
        ("press_keys", {"keys": ["ctrl+A"]}, {"text": True, "keys": {"control", "meta", "a"}}),
        ("press_keys", {"keys": ["shift+1"]}, {"text": True, "keys": {"shift", "*"}}),
        ("press_keys", {"keys": ["+", "Space"]}, {"text": True, "keys": {"+", " "}}),
    ],
)
def test_what_a_call_needs(name: str, arguments: dict[str, object], needed: dict[str, object]) -> None:
    found = needed_by(ToolCall(name=name, arguments=arguments), FIELD)
    assert found is not None
    told = {key: set(value) if key == "keys" else value for key, value in found.items() if value}
    assert told == needed
    assert all(normalise_keys([each]) for each in found["keys"] if each != "*")


def test_calls_without_input_need_no_way() -> None:
    for name in ("goto_url", "go_back", "wait", "new_tab", "switch_tab", "close_tab", "done"):
        assert needed_by(ToolCall(name=name), FIELD) is None
