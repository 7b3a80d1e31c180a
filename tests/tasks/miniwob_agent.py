"""A scripted agent for MiniWoB++ that acts by the 13 tools alone, at points in 0..1000.

One solver a page, by family. A solver yields the calls of one turn after the other; the agent says
`done` when it ends.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import AsyncIterator, Callable
from typing import Any

from tests.tasks.miniwob_look import Look, css, press, said, wait, write
from webdojo.browser.session import BrowserSession
from webdojo.sites.oracle import OracleStep
from webdojo.types import Task, ToolCall

Steps = AsyncIterator[list[ToolCall]]
Solver = Callable[[Look], Steps]

SOLVERS: dict[str, Solver] = {}
FAMILIES: dict[str, list[str]] = {}
"""Names of solved pages by what they mainly ask of the hand."""

SUBMIT = css("#subbtn, #submit, #area button.secondary-action")
ORDINALS = {"1st": 0, "2nd": 1, "3rd": 2}


class MiniwobAgent:
    """Solves one task; for `policy.scripted.ScriptedActor`."""

    def __init__(self, task: Task) -> None:
        self._solver = SOLVERS[task.metadata["env"]]
        self._steps: Steps | None = None

    async def step(self, session: BrowserSession) -> OracleStep:
        self._steps = self._steps or self._solver(Look(session))
        try:
            return OracleStep("Next.", await anext(self._steps))
        except StopAsyncIteration:
            return OracleStep("Done.", [ToolCall(name="done", arguments={"answer": "done"})])


def solves(family: str, *names: str) -> Callable[[Solver], Solver]:
    def listed(solver: Solver) -> Solver:
        SOLVERS.update(dict.fromkeys(names, solver))
        FAMILIES.setdefault(family, []).extend(names)
        return solver

    return listed


# --- click ------------------------------------------------------------------------------------


@solves("click", "click-test")
async def only_button(look: Look) -> Steps:
    yield [await look.click(css("#subbtn"))]


@solves("click", "click-test-2", "click-test-transfer")
async def button_by_number(look: Look) -> Steps:
    (name,) = await look.asked(r"button (\w+)")
    yield [await look.click(said("button", name))]


@solves("click", "click-button", "unicode-test")
async def button_by_name(look: Look) -> Steps:
    yield [await look.click(said("#area button", (await look.quoted())[0]))]


@solves("click", "click-button-sequence")
async def two_buttons(look: Look) -> Steps:
    yield [await look.click(said("button", "ONE")), await look.click(said("button", "TWO"))]


@solves("click", "click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
async def checkboxes(look: Look) -> Steps:
    (names,) = await look.asked(r"Select (.*) and click Submit")
    wanted = [] if names == "nothing" else names.split(", ")
    yield [*[await look.click(said("#area label", name)) for name in wanted], await look.click(SUBMIT)]


@solves("click", "click-option")
async def option(look: Look) -> Steps:
    (name,) = await look.asked(r"Select (.*) and click Submit")
    yield [await look.click(said("#area label", name)), await look.click(SUBMIT)]


@solves("click", "click-dialog")
async def close_dialog(look: Look) -> Steps:
    yield [await look.click(css(".ui-dialog-titlebar-close"))]


@solves("click", "click-dialog-2")
async def dialog_button(look: Look) -> Steps:
    (name,) = await look.quoted()
    close = css(".ui-dialog-titlebar-close")
    yield [await look.click(close if name == "x" else said(".ui-dialog-buttonpane button", name))]


@solves("click", "click-link")
async def link(look: Look) -> Steps:
    yield [await look.click(said(".alink", (await look.quoted())[0]))]


@solves("click", "click-tab")
async def tab(look: Look) -> Steps:
    (name,) = await look.asked(r"(Tab #\d)")
    yield [await look.click(said("#area a", name))]


@solves("click", "click-tab-2", "click-tab-2-easy", "click-tab-2-hard")
async def link_in_tab(look: Look) -> Steps:
    (name,) = await look.quoted()
    if not await look.there(said(".alink", name)):
        tab = await _index_with_link(look, "#area > div[id^=tabs-]", name)
        yield [await look.click(css("#area li a", tab))]
    yield [await look.click(said(".alink", name))]


@solves("click", "click-collapsible", "click-collapsible-nodelay")
async def open_section(look: Look) -> Steps:
    yield [await look.click(css("#area h3")), wait(0.6)]
    yield [await look.click(SUBMIT)]


@solves("click", "click-collapsible-2", "click-collapsible-2-nodelay")
async def link_in_section(look: Look) -> Steps:
    (name,) = await look.quoted()
    section = await _index_with_link(look, "#area > div", name)
    yield [await look.click(css("#area h3", section)), wait(0.6)]
    yield [await look.click(said(".alink", name))]


async def _index_with_link(look: Look, parts: str, name: str) -> int:
    return await look.js(
        f"[...document.querySelectorAll({parts!r})].findIndex(part => "
        f"[...part.querySelectorAll('.alink')].some(link => link.textContent === {name!r}))"
    )


@solves("click", "click-widget")
async def widget(look: Look) -> Steps:
    (kind,) = await look.quoted()
    yield [await look.click(css(f'.widget [data-type="{kind}"]'))]


@solves("click", "click-color")
async def color(look: Look) -> Steps:
    (name,) = await look.asked(r"Click on the (.*) colored box")
    yield [await look.click(css(f'#area .color[data-color="{name}"]'))]


@solves("click", "click-shades")
async def shades(look: Look) -> Steps:
    (name,) = await look.asked(r"shades of (\w+)")
    shown = f'#area span[data-color="{name}"]'
    spots = [await look.click(css(shown, n)) for n in range(len(await look.texts(shown)))]
    yield [*spots, await look.click(SUBMIT)]


@solves("click", "focus-text")
async def focus(look: Look) -> Steps:
    yield [await look.click(css("#tt"))]


@solves("click", "focus-text-2")
async def focus_one(look: Look) -> Steps:
    (ordinal,) = await look.asked(r"the (\w+) input")
    yield [await look.click(css("#area input", ORDINALS[ordinal]))]


@solves("click", "ascending-numbers")
async def ascending(look: Look) -> Steps:
    yield [await look.click(said("svg text", "1"))]
    for number in range(2, 6):
        yield [await look.click(css(f'svg rect[data-index="{number}"]'))]


@solves("click", "grid-coordinate")
async def grid(look: Look) -> Steps:
    (place,) = await look.asked(r"(\(-?\d,-?\d\))")
    yield [await look.click(f"document.getElementById({place!r})")]


@solves("click", "identify-shape")
async def identify(look: Look) -> Steps:
    tag = await look.js("document.querySelector('#area_svg > *').tagName")
    names = {"rect": "Rectangle", "circle": "Circle", "polygon": "Triangle"}
    name = names.get(tag) or ("Number" if (await look.text(css("#area_svg > *"))).isdigit() else "Letter")
    yield [await look.click(said("#area-buttons button", name))]


@solves("click", "find-greatest")
async def greatest(look: Look) -> Steps:
    values = [int(value) for value in await look.texts(".card-value")]
    yield [await look.click(css(".card", values.index(max(values))))]
    yield [await look.click(SUBMIT)]


@solves("click", "odd-or-even")
async def odd_or_even(look: Look) -> Steps:
    kinds = ["odd" if int(number) % 2 else "even" for number in await look.texts(".display-number")]
    yield [*[await look.click(css(f".row .{kind}", n)) for n, kind in enumerate(kinds)], await look.click(SUBMIT)]


@solves("click", "generate-number")
async def generate(look: Look) -> Steps:
    utterance = await look.utterance()
    bound = [int(number) for number in re.findall(r"\d+", utterance)]
    while True:
        yield [await look.click(css("#generate"))]
        number = int(await look.text(css("#display-number")))
        if "less" in utterance:
            right = number < bound[0]
        elif "greater" in utterance:
            right = number > bound[0]
        else:
            right = number % 2 == (1 if "odd" in utterance else 0)
        if right:
            break
    yield [await look.click(SUBMIT)]


@solves("click", "buy-ticket")
async def ticket(look: Look) -> Steps:
    (which,) = await look.asked(r"with the (.*)\.")
    if "cost" in which:
        values = [int(price.split("$")[1]) for price in await look.texts(".buy-ticket")]
    else:
        durations = [re.findall(r"\d+", text) for text in await look.texts(".time-duration")]
        values = [60 * int(hours) + int(minutes) for hours, minutes in durations]
    best = min(values) if which.split()[0] in ("cheapest", "shortest") else max(values)
    yield [await look.click(css(".buy-ticket", values.index(best)))]


@solves("click", "email-inbox-delete", "email-inbox-important")
async def mark_mail(look: Look) -> Steps:
    name, icon = await look.asked(r"by (\w+) and click the (\w+) icon")
    mail = (
        "[...document.querySelectorAll('.email-thread')]"
        f".find(mail => mail.querySelector('.email-sender').textContent === {name!r}).querySelector('.{icon}')"
    )
    async for calls in _reach(look, mail, css("#main")):
        yield calls
    yield [await look.click(mail)]


@solves("click", "find-midpoint")
async def midpoint(look: Look) -> Steps:
    (x1, y1), (x2, y2) = [await look.spot(css(".black-circle", n)) for n in (0, 1)]
    yield [look.click_at(((x1 + x2) / 2, (y1 + y2) / 2)), await look.click(SUBMIT)]


@solves("click", "circle-center")
async def center(look: Look) -> Steps:
    yield [await look.click(css(".black-circle")), await look.click(SUBMIT)]


@solves("click", "phone-book")
async def phone_book(look: Look) -> Steps:
    name, what = await look.asked(r"Find (.*) in the contact book and click on their (\w+)")
    while await look.text(css("#contact .name")) != name:
        yield [await look.click(said("#pagination a", ">"))]
    yield [await look.click(css(f"#contact a.{what}"))]


@solves("click", "navigate-tree")
async def tree(look: Look) -> Steps:
    (name,) = await look.quoted()
    target = said("#tree span", name)
    while not await look.there(target):
        folder = (
            f"(e => {{ while (!e.getClientRects().length) e = e.parentElement.parentElement.parentElement"
            f".querySelector(':scope > span'); return e }})"
            f"([...document.querySelectorAll('#tree span')].find(e => e.textContent === {name!r}))"
        )
        yield [await look.click(folder), wait(0.4)]
    yield [await look.click(target)]


@solves("click", "click-menu")
async def menu(look: Look) -> Steps:
    (path,) = await look.asked(r"Select (.*)")
    *parents, leaf = path.split(">")
    for parent in parents:
        yield [await look.hover(said("#menu div", parent)), wait(0.7)]
    yield [await look.click(said("#menu div", leaf))]


# --- type -------------------------------------------------------------------------------------


@solves("type", "enter-text", "enter-text-dynamic")
async def enter_text(look: Look) -> Steps:
    yield [*await look.fill(css("#tt"), (await look.quoted())[0]), await look.click(SUBMIT)]


@solves("type", "enter-text-2")
async def enter_in_case(look: Look) -> Steps:
    (name,), utterance = await look.quoted(), await look.utterance()
    text = name.upper() if "all upper case" in utterance else name.lower()
    yield [*await look.fill(css("#tt"), text), await look.click(SUBMIT)]


@solves("type", "enter-password")
async def password_twice(look: Look) -> Steps:
    (word,) = await look.quoted()
    fields = [*await look.fill(css("#password"), word), *await look.fill(css("#verify"), word)]
    yield [*fields, await look.click(SUBMIT)]


@solves("type", "login-user", "login-user-popup")
async def login(look: Look) -> Steps:
    user, password = await look.quoted()
    for field, text in ((css("#username"), user), (css("#password"), password)):
        yield [await look.click(field)]
        if await look.there(css("#popup")):
            yield [await look.click(css("#popup-cancel"))]
            yield [await look.click(field)]
        yield [write(text)]
    yield [await look.click(SUBMIT)]


@solves("type", "enter-date")
async def enter_date(look: Look) -> Steps:
    month, day, year = await look.asked(r"(\d\d)/(\d\d)/(\d{4})")
    yield [look.click_at(await look.spot(css("#tt"), 0.2, 0.5)), write(f"{year}-{month}-{day}")]
    yield [await look.click(SUBMIT)]


@solves("type", "enter-time")
async def enter_time(look: Look) -> Steps:
    hours, minutes, half = await look.asked(r"(\d+):(\d\d) ?([AP])M")
    time = f"{int(hours) % 12 + (12 if half == 'P' else 0):02d}:{minutes}"
    yield [look.click_at(await look.spot(css("#tt"), 0.2, 0.5)), write(time)]
    yield [await look.click(SUBMIT)]


@solves("type", "text-transform")
async def captcha(look: Look) -> Steps:
    yield [*await look.fill(css("#tt"), await look.text(css("#captcha"))), await look.click(SUBMIT)]


@solves("type", "simple-arithmetic")
async def arithmetic(look: Look) -> Steps:
    first, sign, second = (await look.text(css("#math-problem"))).split()[:3]
    a, b = int(first), int(second)
    result = {"+": a + b, "-": a - b, "x": a * b}[sign]
    yield [*await look.fill(css("#math-answer"), str(result)), await look.click(SUBMIT)]


@solves("type", "simple-algebra")
async def algebra(look: Look) -> Steps:
    left, sign, right, _, result = (await look.text(css("#math-problem"))).split()
    total, known = int(result), int(right if left == "x" else left)
    if sign == "+":
        x = total - known
    elif left == "x":
        x = total + known
    else:
        x = known - total
    yield [*await look.fill(css("#math-answer"), str(x)), await look.click(SUBMIT)]


@solves("type", "visual-addition")
async def count_blocks(look: Look) -> Steps:
    number = len(await look.texts(".addition-block"))
    yield [*await look.fill(css("#math-answer"), str(number)), await look.click(SUBMIT)]


@solves("type", "read-table")
async def read_table(look: Look) -> Steps:
    rows = await _table(look)
    yield [*await look.fill(css("#tt"), rows[await look.text(css("#query .bold"))]), await look.click(SUBMIT)]


@solves("type", "read-table-2")
async def read_two(look: Look) -> Steps:
    rows = await _table(look)
    calls = []
    for n in (1, 2):
        calls += await look.fill(css(f"#tt{n}"), rows[(await look.text(css(f"#ll{n}"))).rstrip(":")])
    yield [*calls, await look.click(SUBMIT)]


async def _table(look: Look) -> dict[str, str]:
    cells = await look.texts("#tab td")
    return dict(zip(cells[::2], cells[1::2], strict=True))


@solves("type", "find-word")
async def find_word(look: Look) -> Steps:
    (number,) = await look.asked(r"Find the (\d+)")
    word = (await look.text(css("#area p"))).split()[int(number) - 1]
    yield [*await look.fill(css("#answer-input"), word.strip(".,")), await look.click(SUBMIT)]


@solves("type", "copy-paste")
async def copy(look: Look) -> Steps:
    text = await look.js("document.getElementById('to-copy').value")
    yield [*await look.fill(css("#answer-input"), text), await look.click(SUBMIT)]


@solves("type", "copy-paste-2")
async def copy_one(look: Look) -> Steps:
    (ordinal,) = await look.asked(r"from the (\w+) text area")
    text = await look.js(f"document.getElementById('text-{ORDINALS[ordinal] + 1}').value")
    yield [*await look.fill(css("#answer-input"), text), await look.click(SUBMIT)]


@solves("type", "use-autocomplete", "use-autocomplete-nodelay")
async def autocomplete(look: Look) -> Steps:
    start, *end = await look.quoted()
    yield [*await look.fill(css("#tags"), start), wait(0.5)]
    names = await look.texts(".ui-menu-item")
    name = next(name for name in names if name.startswith(start) and name.endswith(end[0] if end else ""))
    yield [await look.click(said(".ui-menu-item", name))]
    yield [await look.click(SUBMIT)]


@solves("type", "form-sequence-2")
async def radio_and_text(look: Look) -> Steps:
    radio, number, field = await look.asked(r'the (\w+) radio button and enter the number "(-?\d+)" into the (\w+)')
    calls = [await look.click(css("#area input[type=radio]", ORDINALS[radio]))]
    calls += await look.fill(css("#area input[type=text]", ORDINALS[field]), number)
    yield [*calls, await look.click(SUBMIT)]


@solves("type", "multi-layouts", "multi-orderings")
async def movie_search(look: Look) -> Steps:
    genre, name, year = await look.asked(r"Search for (.*) movies directed by (.*) from year (\d+)")
    labels = await look.js(
        "[...document.querySelectorAll('#area input')].map(e => {"
        "while (!e.textContent.trim()) e = e.parentElement; return e.textContent.trim() })"
    )
    calls = []
    for n, label in enumerate(labels):
        text = genre if "Genre" in label else name if "Director" in label else year
        calls += await look.fill(css("#area input", n), text)
    yield [*calls, await look.click(css("#area button, #area .final, #area .ui-submit"))]


@solves("type", "guess-number")
async def guess(look: Look) -> Steps:
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        yield [*await look.fill(css("#tt"), str(middle)), await look.click(SUBMIT)]
        hint = await look.text(css("#feedback div:not(.hide)"))
        if "lower" in hint:
            high = middle - 1
        elif "higher" in hint:
            low = middle + 1
        else:
            return


@solves("type", "search-engine")
async def search(look: Look) -> Steps:
    name, _ = await look.quoted()
    (number,) = await look.asked(r"click the (\d+)")
    index = int(number) - 1
    yield [*await look.fill(css("#search-text"), name), await look.click(css("#search"))]
    if index >= 3:
        yield [await look.click(said("#pagination a", str(index // 3 + 1)))]
    yield [await look.click(css(f'#page-content [data-result="{index}"]'))]


# --- select -----------------------------------------------------------------------------------


@solves("select", "choose-list")
async def choose(look: Look) -> Steps:
    (name,) = await look.asked(r"Select (.*) from the list")
    yield [await look.click(css("#options"))]
    option = said("#options option", name)
    async for calls in _reach(look, option, option):
        yield calls
    yield [await look.click(option)]
    yield [await look.click(SUBMIT)]


@solves("select", "form-sequence-3")
async def choose_drawn(look: Look) -> Steps:
    height, button = await look.asked(r'Choose (.*) from the dropdown, then click the button labeled "(\w+)"')
    yield [await look.click(css(".selectric")), wait(0.4)]
    option = said(".selectric-items li", height)
    async for calls in _reach(look, option, css(".selectric-items")):
        yield calls
    yield [await look.click(option), wait(0.4)]
    yield [await look.click(said("#buttons button", button))]


@solves("select", "choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
async def choose_date(look: Look) -> Steps:
    month, day, _ = await look.asked(r"(\d\d)/(\d\d)/(\d{4})")
    yield [await look.click(css("#datepicker")), wait(0.5)]
    back = list(month_name).index(await look.text(css(".ui-datepicker-month"))) - int(month)
    if back:
        yield [await look.click(css(".ui-datepicker-prev" if back > 0 else ".ui-datepicker-next"))] * abs(back)
    yield [await look.click(said(".ui-datepicker-calendar a", str(int(day)))), wait(0.5)]
    yield [await look.click(SUBMIT)]


@solves("select", "use-spinner")
async def spinner(look: Look) -> Steps:
    (number,) = await look.asked(r"Select (-?\d+) with")
    arrow = css(".ui-spinner-up" if int(number) > 0 else ".ui-spinner-down")
    yield [*[await look.click(arrow)] * abs(int(number)), await look.click(SUBMIT)]


# --- drag -------------------------------------------------------------------------------------


@solves("drag", "drag-box")
async def box_into_box(look: Look) -> Steps:
    large = await look.spot(css("#draggableLarge"), 0.5, 0.5)
    yield [await look.drag(css("#draggableSmall"), large), await look.click(SUBMIT)]


@solves("drag", "drag-items")
async def item_in_list(look: Look) -> Steps:
    name, where = await look.asked(r"Drag (.*?) ((?:to|up|down) .*)\.")
    here = (await look.texts("#sortable li")).index(name)
    steps = {"to the top": 0, "to the bottom": 4, "up by one position": here - 1, "down by one position": here + 1}
    ordinal = re.search(r"(\d)", where)
    yield [await _move_item(look, here, int(ordinal[1]) - 1 if ordinal else steps[where])]


@solves("drag", "drag-items-grid")
async def item_in_grid(look: Look) -> Steps:
    name, where = await look.asked(r"Drag (.*?) ((?:to|up|down|left|right) .*)\.")
    here = (await look.texts("#sortable li")).index(name)
    if where.endswith("by one"):
        there = here + {"up": -3, "down": 3, "left": -1, "right": 1}[where.split()[0]]
    else:
        rows, columns = {"top": 0, "bottom": 6}, {"left": 0, "right": 2}
        words = where.split()[2:]
        there = sum(rows.get(word, 0) + columns.get(word, 0) for word in words)
        there += 3 if not {"top", "bottom"} & set(words) else 0
        there += 1 if not {"left", "right"} & set(words) else 0
    yield [await _move_item(look, here, there)]


@solves("drag", "drag-sort-numbers")
async def sort_numbers(look: Look) -> Steps:
    for place in range(3):
        numbers = [int(number) for number in await look.texts("#sortable li")]
        here = numbers.index(min(numbers[place:]), place)
        if here != place:
            yield [await _move_item(look, here, place)]
    yield [await look.click(SUBMIT)]


async def _move_item(look: Look, here: int, there: int) -> ToolCall:
    """Drop an item of a sortable list a little past the middle of the one whose place it takes."""
    (x1, y1), (x2, y2) = [await look.spot(css("#sortable li", n), 0.5, 0.5) for n in (here, there)]
    past = 3.0
    return look.drag_from((x1, y1), (x2 + past * _sign(x2 - x1), y2 + past * _sign(y2 - y1)))


def _sign(number: float) -> int:
    return (number > 1) - (number < -1)


@solves("drag", "drag-shapes")
async def shapes_into_box(look: Look) -> Steps:
    (kind,) = await look.asked(r"Drag all (\w+) into")
    tag = {"rectangles": "rect:not(#shape-container)", "circles": "circle", "triangles": "polygon"}[kind]
    box = await look.spot(css("#shape-container"), 0.5, 0.5)
    for n in range(len(await look.texts(f"svg {tag}"))):
        yield [await look.drag(css(f"svg {tag}", n), box)]
    yield [await look.click(SUBMIT)]


@solves("drag", "drag-circle", "drag-single-shape")
async def shape_aside(look: Look) -> Steps:
    (way,) = await look.asked(r"Drag the \w+ (\w+)")
    dx, dy = {"left": (-40, 0), "right": (40, 0), "up": (0, -40), "down": (0, 40)}[way]
    x, y = await look.spot(css("#area svg > *"))
    yield [look.drag_from((x, y), (x + dx, y + dy)), await look.click(SUBMIT)]


@solves("drag", "use-slider")
async def slider(look: Look) -> Steps:
    (number,) = await look.asked(r"Select (-?\d+) with")
    async for calls in _slide(look, "#slider", int(number)):
        yield calls
    yield [await look.click(SUBMIT)]


@solves("drag", "use-slider-2")
async def sliders(look: Look) -> Steps:
    (numbers,) = await look.asked(r"\[(.*)\]")
    for n, number in enumerate(numbers.split(","), 1):
        async for calls in _slide(look, f"#slider-{n}", int(number)):
            yield calls
    yield [await look.click(SUBMIT)]


@solves("drag", "form-sequence")
async def slider_and_box(look: Look) -> Steps:
    number, ordinal = await look.asked(r"Select (-?\d+) with the slider, click the (\w+) checkbox")
    async for calls in _slide(look, "#slider", int(number)):
        yield calls
    yield [await look.click(css("#area input[type=checkbox]", ORDINALS[ordinal])), await look.click(SUBMIT)]


async def _slide(look: Look, slider: str, value: int) -> Steps:
    """Drag the handle to a value, then press arrow keys for what pixels cannot tell apart."""

    async def option(name: str) -> Any:
        return await look.js(f"$('{slider}').slider('option', '{name}')")

    low, high, now = [int(await option(name)) for name in ("min", "max", "value")]
    if now == value:
        return
    share = (value - low) / (high - low)
    across = await option("orientation") == "horizontal"
    handle = await look.spot(css(f"{slider} .ui-slider-handle"), 0.5, 0.5)
    end = await look.spot(css(slider), share if across else 0.5, 0.5 if across else 1 - share)
    yield [look.drag_from(handle, (end[0], handle[1]) if across else (handle[0], end[1]))]
    left = value - int(await option("value"))
    if left:
        yield [press(*["ArrowRight" if left > 0 else "ArrowLeft"] * abs(left))]


@solves("drag", "resize-textarea")
async def resize(look: Look) -> Steps:
    (way,) = await look.asked(r"is (\w+) than")
    by = 15 if way == "larger" else -15
    x, y = await look.spot(css(".ui-resizable-se"), 0.5, 0.5)
    yield [look.drag_from((x, y), (x + by, y + by)), await look.click(SUBMIT)]


@solves("drag", "highlight-text")
async def highlight(look: Look) -> Steps:
    yield [await _drag_over(look, css("#randomText")), await look.click(SUBMIT)]


@solves("drag", "highlight-text-2")
async def highlight_one(look: Look) -> Steps:
    (ordinal,) = await look.asked(r"in the (\w+) paragraph")
    yield [await _drag_over(look, css("#randomText p", ORDINALS[ordinal])), await look.click(SUBMIT)]


async def _drag_over(look: Look, element: str) -> ToolCall:
    """From before the first character of a text to behind its last one."""
    x1, y1, x2, y2 = await look.js(
        f"(node => {{ const range = document.createRange(); range.setStart(node, 0);"
        f"range.setEnd(node, node.data.trimEnd().length); const rects = [...range.getClientRects()];"
        f"const first = rects[0], last = rects.at(-1);"
        f"return [first.left, first.top + first.height / 2, last.right + 1, last.top + last.height / 2] }})"
        f"(({element}).firstChild)"
    )
    return look.drag_from((x1, y1), (x2, y2))


# --- scroll -----------------------------------------------------------------------------------


@solves("scroll", "scroll-text")
async def last_word(look: Look) -> Steps:
    area = css("#text-area")
    yield [await look.scroll(area, "down", 5)]
    word = (await look.js(f"{area}.value")).split()[-1].rstrip(".")
    yield [*await look.fill(css("#answer-input"), word), await look.click(SUBMIT)]


@solves("scroll", "scroll-text-2")
async def scroll_to_end(look: Look) -> Steps:
    (end,) = await look.asked(r"to the (\w+) of")
    yield [await look.scroll(css("#text-area"), "down" if end == "bottom" else "up", 5)]
    yield [await look.click(SUBMIT)]


@solves("scroll", "sign-agreement")
async def sign(look: Look) -> Steps:
    utterance = await look.utterance()
    if "Scroll" in utterance:
        name, button = await look.quoted()
        yield [await look.scroll(css("#text-area"), "down", 10)]
        yield await look.fill(css("#name"), name)
    else:
        button = "Cancel"
    yield [await look.click(said("#area button", button))]


@solves("scroll", "click-scroll-list")
async def scroll_list(look: Look) -> Steps:
    (names,) = await look.asked(r"Select (.*) from the scroll list")
    first, *second = names.split(", ")
    option = said("#options option", first)
    async for calls in _reach(look, option, css("#options")):
        yield calls
    yield [await look.click(option)]
    if second:  # tools hold no key while they click: walk there with Control down, and add it with the blank
        options = await look.texts("#options option")
        steps = options.index(second[0]) - options.index(first)
        yield [press(*["ctrl+ArrowDown" if steps > 0 else "ctrl+ArrowUp"] * abs(steps), "ctrl+Space")]
    yield [await look.click(SUBMIT)]


async def _reach(look: Look, element: str, scroller: str) -> Steps:
    """Scroll until a click reaches the element."""
    for _ in range(12):
        if await look.clear(element):
            return
        below = await look.js(f"(({element}).getBoundingClientRect().top > ({scroller}).getBoundingClientRect().top)")
        yield [await look.scroll(scroller, "down" if below else "up", 0.1)]
