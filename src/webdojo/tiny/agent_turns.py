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
from webdojo.sites.oracle.moves import SCROLL_AMOUNT
from webdojo.tiny.labels import ScreenLabels, Thing, Value
from webdojo.tiny.questions import ALL_THINGS, NOUNS, Question, ShownTask, Skill
from webdojo.tiny.screens import Screen
from webdojo.types import Feedback, ToolCall

SINGULAR = {plural(noun): noun for noun in NOUNS}


def agent_turn(screen: Screen, labels: ScreenLabels, rng: random.Random, shown: ShownTask) -> Question:
    """A turn about the screen; sometimes it writes, or cannot find, the very thing that the shown task names."""
    missing = shown.name if rng.random() < 0.3 else rng.choice(ALL_THINGS)
    links = [thing for thing in labels.controls if thing.tag != "input"]
    fields = [thing for thing in labels.controls if thing.tag == "input"]
    makers: list[Callable[[], Question]] = [lambda: _scroll(missing, screen)]
    if links:
        makers += [lambda: _click(rng.choice(links), missing, screen.place, rng)] * 6
    if fields:
        makers += [lambda: _search(fields[0], missing)]
    claim = _claim(screen)
    if claim:
        makers += [lambda: _turn(f"{claim} Done.", [_done("done")])] * 2
    if labels.values:
        makers += [lambda: _answer(rng.choice(labels.values))] * 4
    return _restate_goal(shown, rng.choice(makers)())


def _restate_goal(shown: ShownTask, turn: Question) -> Question:
    """The same turn with a thought that begins with the goal."""
    start = len(toolcall.THINK)
    opening = f"{shown.goal} "
    shift = len(opening)
    begin, end = turn.mentioned
    source, copy, length = turn.copied
    return replace(
        turn,
        answer=turn.answer[:start] + opening + turn.answer[start:],
        answer_cells=((),) * shift + turn.answer_cells,
        mentioned=(begin + shift, end + shift),
        restated=(start, start + shift),
        copied=(source + shift, copy + shift, length),
    )


def _click(thing: Thing, missing: str, place: str, rng: random.Random) -> Question:
    verb = "Press" if thing.tag == "button" else "Open"
    reasons = [f"{thing.name} is in view.", f"{missing} is not here."]
    if thing.tag == "button" and place:
        reasons.append(f"This is {place}.")
    if thing.name in SINGULAR:
        noun = SINGULAR[thing.name]
        reasons.append(f"{rng.choice(ADJECTIVES)} {noun} is a {noun}.")
    return _turn(f"{rng.choice(reasons)} {verb} {thing.name}.", [_at(thing)], thing)


def _scroll(missing: str, screen: Screen) -> Question:
    scrolled, hidden = screen.scroll_px
    way = "down" if scrolled < hidden else "up"
    call = ToolCall(name="scroll", arguments={"direction": way, "amount": SCROLL_AMOUNT})
    return _turn(f"{missing} is not in view. Scroll {way}.", [call])


def _search(field: Thing, text: str) -> Question:
    write = ToolCall(name="write", arguments={"text": text})
    enter = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
    return _turn(f"{field.name} is in view. Write {text}.", [_at(field), write, enter], field)


def _answer(value: Value) -> Question:
    mark = "$" if value.word.text.startswith("$") else ""
    shown_name = f"Price of {value.name}" if mark else value.name
    question = _turn(f"{shown_name} is {mark}{value.text}. Done.", [_done(value.text)])
    start, said = question.answer.index(value.name), question.answer.index(f"{value.text}. Done")
    answer_cells: list[tuple[int, ...]] = [()] * len(question.answer)
    answer_cells[said : said + len(value.text)] = value.sources
    return replace(
        question,
        name_cells=value.name_cells,
        answer_cells=tuple(answer_cells),
        mentioned=(start, start + len(value.name)),
        copied=(said, question.answer.rindex(f'"{value.text}"') + 1, len(value.text)),
    )


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


def _turn(think: str, calls: list[ToolCall], thing: Thing | None = None) -> Question:
    """A turn of a thought and calls; where it clicks on a thing, it reads the coordinates from the thing's name."""
    text = toolcall.render(think, calls).removesuffix(toolcall.IM_END)
    if thing is None:
        return Question(Skill.SAY, "", text, (), ((),) * len(text))
    begin, end = text.index('"x": '), text.index("}}")
    answer_cells = [thing.name_cells if begin <= place < end else () for place in range(len(text))]
    start = text.index(thing.name + ".") if thing.tag != "input" else text.index(thing.name)
    mentioned = (start, start + len(thing.name))
    return Question(Skill.SAY, "", text, thing.name_cells, tuple(answer_cells), mentioned=mentioned)


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
