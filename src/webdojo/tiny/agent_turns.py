"""Turns of the agent that the tiny model learns to write: they follow the protocol and are true, but serve no task.

The tiny model stands in for a Qwen3-VL, which can write a tool call and point at what a thought names
before any training on the web. The warm start and reinforcement learning teach which thought serves a
task: here it is drawn at random, so the model clicks on anything and stops at any time.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from webdojo.agent import toolcall
from webdojo.sites.content.words import ADJECTIVES, plural
from webdojo.sites.kinds import load_site, parse_host
from webdojo.sites.oracle.forms import SCROLL_AMOUNT
from webdojo.tiny.questions import ALL_THINGS, NOUNS, Question, ShownTask, Skill
from webdojo.tiny.screens import Screen, ScreenLabels, Thing, Value
from webdojo.types import Feedback, ToolCall

SINGULAR = {plural(noun): noun for noun in NOUNS}


Turn = tuple[str, list[ToolCall], Thing | Value | None]
"""A thought, its calls, and what on the screen they are about."""


def agent_turn(screen: Screen, labels: ScreenLabels, rng: random.Random, shown: ShownTask) -> Question:
    """A turn about the screen; sometimes it writes, or cannot find, the very thing that the shown task names."""
    missing = shown.name if rng.random() < 0.3 else rng.choice(ALL_THINGS)
    links = [thing for thing in labels.controls if thing.tag != "input"]
    fields = [thing for thing in labels.controls if thing.tag == "input"]
    makers: list[Callable[[], Turn]] = [lambda: _scroll(missing, screen)]
    if links:
        makers += [lambda: _click(rng.choice(links), missing, screen.place, rng)] * 6
    if fields:
        makers += [lambda: _search(fields[0], missing)]
    claim = _claim(screen)
    if claim:
        makers += [lambda: (f"{claim} Done.", [_done("done")], None)] * 2
    if labels.values:
        makers += [lambda: _answer(rng.choice(labels.values))] * 4
    return _question(shown.goal, *rng.choice(makers)())


def _click(thing: Thing, missing: str, place: str, rng: random.Random) -> Turn:
    verb = "Press" if thing.tag == "button" else "Open"
    reasons = [f"{thing.name} is in view.", f"{missing} is not here."]
    if thing.tag == "button" and place:
        reasons.append(f"This is {place}.")
    if thing.name in SINGULAR:
        noun = SINGULAR[thing.name]
        reasons.append(f"{rng.choice(ADJECTIVES)} {noun} is a {noun}.")
    return f"{rng.choice(reasons)} {verb} {thing.name}.", [_at(thing)], thing


def _scroll(missing: str, screen: Screen) -> Turn:
    scrolled, hidden = screen.scroll_px
    way = "down" if scrolled < hidden else "up"
    call = ToolCall(name="scroll", arguments={"direction": way, "amount": SCROLL_AMOUNT})
    return f"{missing} is not in view. Scroll {way}.", [call], None


def _search(field: Thing, text: str) -> Turn:
    write = ToolCall(name="write", arguments={"text": text})
    enter = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
    return f"{field.name} is in view. Write {text}.", [_at(field), write, enter], field


def _answer(value: Value) -> Turn:
    mark = "$" if value.word.text.startswith("$") else ""
    shown_name = f"Price of {value.name}" if mark else value.name
    return f"{shown_name} is {mark}{value.text}. Done.", [_done(value.text)], value


def _claim(screen: Screen) -> str:
    """A true statement about the page; empty if there is nothing worth saying."""
    parts = urlsplit(screen.url)
    query = dict(parse_qsl(parts.query))
    if "page" in query:
        return f"This is page {query['page']} of {screen.place}."
    for key in ("color", "region", "max", "stock"):
        if key in query:
            shown = {"max": f"Under ${query[key]}", "stock": "In stock"}.get(key, query[key].title())
            return f"{screen.place} are {shown}."
    if parts.path.startswith("/added/"):
        cart = load_site(*parse_host(parts.netloc)).look.words["cart"]
        return f"The {cart} has {parts.path.split('/')[2].replace('-', ' ').title()}."
    if "q" in query:
        return f"Results for {query['q'].title()}."
    return f"This is {screen.place}." if screen.place else ""


def _question(goal: str, think: str, calls: list[ToolCall], about: Thing | Value | None) -> Question:
    """A turn whose thought begins with the goal; coordinates are read from a thing's name, an answer from its value."""
    text = toolcall.render(f"{goal} {think}", calls).removesuffix(toolcall.IM_END)
    start = len(toolcall.THINK)
    thought = start + len(goal) + 1
    cells: list[tuple[int, ...]] = [()] * len(text)
    plain = Question(Skill.SAY, "", text, restated=(start, thought))
    if about is None:
        return replace(plain, answer_cells=tuple(cells))
    named, copied = text.index(about.name, thought), (0, 0, 0)
    if isinstance(about, Thing):
        begin, end = text.index('"x": '), text.index("}}")
        cells[begin:end] = [about.name_cells] * (end - begin)
        if about.tag != "input":
            named = text.index(about.name + ".", thought)
    else:
        said = text.index(f"{about.text}. Done", thought)
        cells[said : said + len(about.text)] = about.sources
        copied = (said, text.rindex(f'"{about.text}"') + 1, len(about.text))
    mentioned = (named, named + len(about.name))
    return replace(plain, name_cells=about.name_cells, answer_cells=tuple(cells), mentioned=mentioned, copied=copied)


def _at(thing: Thing) -> ToolCall:
    x, y = thing.point
    return ToolCall(name="click", arguments={"x": x, "y": y})


def _done(answer: str) -> ToolCall:
    return ToolCall(name="done", arguments={"answer": answer})


def earlier_turn(url: str, shown: ShownTask, rng: random.Random) -> tuple[str, Feedback]:
    """The response and the feedback of an earlier turn that led to a page, as an episode's prompt shows them."""
    name, (x, y) = rng.choice(ALL_THINGS), (rng.randrange(50, 951, 25), rng.randrange(50, 951, 50))
    reason = rng.choice((f"{name} is in view.", f"{rng.choice(ALL_THINGS)} is not here."))
    call = ToolCall(name="click", arguments={"x": x, "y": y})
    return toolcall.render(f"{shown.goal} {reason} Open {name}.", [call]), Feedback(
        ok=True, text=f'click at ({x}, {y}) on <a> "{name}": page is now {url}'
    )
