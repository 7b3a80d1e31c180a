"""What the tiny model is trained on: dense targets for every visual token of a screen, questions, and agent turns.

A visual token covers 32x32 px, two character cells of the compact pages' grid. Dense targets say
which two characters and which word are there; questions ask to point (`find`), to read what is at a
point (`read`), to read the value beside a name (`value`), whether something is there (`see`), what
the task above the screen names (`name`, `kind`) and asks for (`goal`), and whether the page that it
names is open (`here`).

A `say` is a turn of the agent: it follows the protocol and is true, but serves no task. The tiny model stands in for a
Qwen3-VL, which can write a tool call and point at what a thought names before any training on the web. The warm start
and reinforcement learning teach which thought serves a task: here it is drawn at random, so the model clicks on
anything and stops at any time.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from webdojo.agent import toolcall
from webdojo.sites import SMALL_KINDS
from webdojo.sites.catalog_goals import draw_goal
from webdojo.sites.compact_goals import order_of
from webdojo.sites.content.words import ADJECTIVES
from webdojo.sites.instructions.phrasing import PHRASINGS, phrase, restate, said
from webdojo.sites.kinds import load_site, parse_host
from webdojo.sites.oracle.moves import SCROLL_AMOUNT
from webdojo.sites.sized import SizedSite
from webdojo.sites.taskgen import DIFFICULTIES
from webdojo.tiny.screens import COLUMNS, ROWS, TOKENS, Screen, Thing, Value, cells, characters
from webdojo.tiny.vocabulary import Vocabulary
from webdojo.types import Feedback, ToolCall

CHARACTERS = {c: i + 1 for i, c in enumerate(string.ascii_letters + string.digits + "$.>*-")}
"""The class of each character; 0 is a blank or any other character."""
_ELSEWHERE = frozenset(kind.title() for kind in SMALL_KINDS)
"""What links to other sites say."""
NO_WORD = -100
"""The target of a token that no known word covers; the loss leaves it out."""


Skill = Literal["find", "read", "value", "see", "name", "kind", "goal", "here", "more", "say"]
"""Kinds of questions, each measured on its own."""


@dataclass(frozen=True)
class ShownTask:
    """A task that stands above the screen in a row of a batch."""

    text: str
    name: str
    """The thing that the task names, or the first of several."""
    goal: str
    """What the task asks for, in words that are the same for all its phrasings."""
    values: tuple[str, ...]
    """All that the task names, as it is written there."""


@dataclass(frozen=True)
class Question:
    skill: Skill
    text: str
    answer: str
    name_cells: tuple[int, ...] = ()
    """The visual tokens of what the question names."""
    answer_cells: tuple[tuple[int, ...], ...] = ()
    """The visual tokens that each character of the answer is read from; may be empty."""
    about_task: bool = False
    """Whether the question is about what the shown task names, without repeating it."""
    mentioned: tuple[int, int] = (0, 0)
    """The range of the answer's characters that name something on the screen."""
    restated: tuple[int, int] = (0, 0)
    """The range of the answer's characters that repeat words of the shown task."""
    copied: tuple[int, int, int] = (0, 0, 0)
    """(begin, begin of the copy, length) of characters that the answer contains twice."""

    def graded(self) -> list[bool]:
        """Whether each character of the answer must be right.

        In a turn only the calls must be right, whatever the thought says. In a coordinate of three digits only
        the first must be, because it selects the visual token.
        """
        out = [True] * len(self.answer)
        if self.skill == "say":
            thought = self.answer.index(toolcall.CALL)
            out[:thought] = [False] * thought
        for coordinate in re.finditer(r'(?<="[xy]": \d)\d\d\b', self.answer):
            out[coordinate.start() : coordinate.end()] = [False, False]
        return out


def dense_targets(screen: Screen, known: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """The character classes of both cells, int64 [100, 2], and the word class, int64 [100], of each visual token."""
    characters = np.zeros((ROWS, COLUMNS), np.int64)
    words = np.full((ROWS, ROWS), NO_WORD, np.int64)
    for word in screen.words:
        for offset, character in enumerate(word.text):
            column = word.column + offset
            if 0 <= word.row < ROWS and 0 <= column < COLUMNS:
                characters[word.row, column] = CHARACTERS.get(character, 0)
                words[word.row, column // 2] = known.classes.get(word.text.strip(".").lower(), NO_WORD)
    return characters.reshape(TOKENS, 2), words.reshape(TOKENS)


def draw_task(screen: Screen, rng: random.Random, known: Vocabulary) -> ShownTask:
    """Draw a task of the site, or one about a thing that is on the screen or is not."""
    if rng.random() < 0.5:
        site = _site(screen)
        goal = draw_goal(site, rng.choice(DIFFICULTIES), rng)
        text = phrase(goal, rng)[0]
        name = next(goal.fields[key] for key in ("name", "nouns", "noun", "a", "cart") if key in goal.fields)
        return ShownTask(text, name, restate(goal), said(goal, text))
    names = sorted(known.known.intersection(screen.names))
    if screen.place in known.known and rng.random() < 0.4:
        name = screen.place
    else:
        name = rng.choice(names) if names and rng.random() < 0.6 else rng.choice(known.things)
    asked = rng.choice(("open", "open_result", "price", "search") if " " in name else ("category",))
    text = rng.choice(PHRASINGS[asked]).format(name=name, nouns=name)
    return ShownTask(text, name, PHRASINGS[asked][0].format(name=name, nouns=name), (name,))


def questions(
    screen: Screen, rng: random.Random, n: int, known: Vocabulary, shown: ShownTask | None = None
) -> list[Question]:
    """`n` questions about a screen and the task above it; none is about a name that stands on the screen twice."""
    makers: list[Callable[[], Question]] = [lambda: _see(rng, screen.names, known)] * 3
    makers += [lambda: _more(rng)] * 2
    if screen.targets:
        makers += [lambda: _find(rng.choice(screen.targets))] * 5
    if screen.things:
        makers += [lambda: _read(rng.choice(screen.things))] * 3
    if screen.values:
        makers += [lambda: _value(rng.choice(screen.values))] * 5
    if shown is not None:
        name, yes = shown.name, {True: "yes", False: "no"}
        makers += [lambda: Question("name", "name", name, about_task=True, restated=(0, len(name)))] * 3
        makers += [lambda: Question("goal", "goal", shown.goal, about_task=True, restated=(0, len(shown.goal)))] * 4
        if known.list_of(name):
            makers += [lambda: Question("kind", "kind", known.list_of(name), about_task=True)] * 2
        makers += [lambda: Question("here", "here", yes[screen.place == name], about_task=True)] * 2
        makers += [lambda: Question("see", "see it", yes[name in screen.names], about_task=True)] * 2
        here = [thing for thing in screen.targets if thing.name == name]
        if here:
            makers += [lambda: replace(_find(here[0]), text="find it", about_task=True)] * 4
    return [rng.choice(makers)() for _ in range(n)]


def _more(rng: random.Random) -> Question:
    """The higher of two numbers; half of the pairs begin with the same digit."""
    first, second = rng.sample(range(2, 1000), 2)
    if rng.random() < 0.5 and first >= 10:
        size = 10 ** (len(str(first)) - 1)
        second = first // size * size + rng.randrange(size)
    return Question("more", f"more {first} {second}", str(max(first, second)))


def _site(screen: Screen) -> SizedSite:
    """The site that a screen is of."""
    site = load_site(*parse_host(urlsplit(screen.url).netloc), "grid")
    assert isinstance(site, SizedSite)
    return site


def _find(thing: Thing) -> Question:
    answer = '{{"x": {}, "y": {}}}'.format(*thing.point)
    return Question("find", f"find {thing.name}", answer, thing.name_cells, (thing.name_cells,) * len(answer))


def _read(thing: Thing) -> Question:
    readable = [w for w in thing.words if w.text[0].isalnum() or w.text[0] == "$"]
    answer_cells = [source for w in readable for source in (cells(w), *characters(w))][1:]  # a space, then the word
    text = " ".join(w.text for w in readable)
    asked = 'read {{"x": {}, "y": {}}}'.format(*thing.point)
    return Question("read", asked, text, cells(*thing.words), tuple(answer_cells))


def _value(value: Value) -> Question:
    return Question("value", f"value {value.name}", value.text, value.name_cells, value.sources)


def _see(rng: random.Random, names: list[str], known: Vocabulary) -> Question:
    if names and rng.random() < 0.5:
        return Question("see", f"see {rng.choice(names)}", "yes")
    name = f"{rng.choice(ADJECTIVES)} {rng.choice(known.nouns)}"
    if rng.random() < 0.5 and names:
        name = rng.choice(names).split()[0] + " " + name.split()[1]
    return Question("see", f"see {name}", "yes" if name in names else "no")


@dataclass(frozen=True)
class Note:
    """What an earlier turn has said of a thing: `Size of Royal Mug is Large.`"""

    label: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.label} of {self.name} is {self.value}."


Turn = tuple[str, list[ToolCall], Thing | Value | None]
"""A thought, its calls, and what on the screen they are about."""


def agent_turn(
    screen: Screen, rng: random.Random, shown: ShownTask, known: Vocabulary, note: Note | None = None
) -> Question:
    """A turn about the screen; sometimes it writes, or cannot find, the very thing that the shown task names.

    With a `note` it may also use what an earlier turn has said.
    """
    missing = shown.name if rng.random() < 0.3 else rng.choice(known.things)
    links = [thing for thing in screen.targets if thing.tag != "input"]
    fields = [thing for thing in screen.targets if thing.tag == "input"]
    makers: list[Callable[[], Turn]] = [lambda: _scroll(missing, screen)]
    if links:
        makers += [lambda: _click(rng.choice(links), missing, screen.place, rng, known)] * 6
    if fields:
        makers += [lambda: _search(fields[0], missing)]
    claim = _claim(screen)
    if claim:
        makers += [lambda: (f"{claim} Done.", [_done("done")], None)] * 2
    if screen.values:
        makers += [lambda: _answer(rng.choice(screen.values), _site(screen))] * 4
    if note is not None:
        noted = [thing for thing in links if thing.name == note.value]
        makers += [lambda: _open(noted[0], f"{note.value} is in view.")] * (8 if noted else 0)
        numbers = [value for value in screen.values if value.text.isdigit() and value.text != note.value]
        if note.value.isdigit() and numbers:
            makers += [lambda: _higher(rng.choice(numbers), note, rng)] * 8
    return _question(shown.goal, *rng.choice(makers)())


def draw_note(screen: Screen, rng: random.Random, known: Vocabulary) -> Note:
    """Draw what an earlier turn has said: a number, or the word of a link on the screen."""
    label = rng.choice([value.name for value in screen.values if " " not in value.name] or ["Size"])
    links = [thing.name for thing in screen.targets if thing.tag == "a" and " " not in thing.name]
    value = rng.choice(links) if links and rng.random() < 0.4 else str(rng.randrange(2, 1000))
    return Note(label, rng.choice(known.names), value)


def _click(thing: Thing, missing: str, place: str, rng: random.Random, known: Vocabulary) -> Turn:
    reasons = [f"{thing.name} is in view.", f"{missing} is not here."]
    if thing.tag == "button" and place:
        reasons.append(f"This is {place}.")
    if thing.name in known.singular:
        noun = known.singular[thing.name]
        reasons.append(f"{rng.choice(ADJECTIVES)} {noun} is a {noun}.")
    if thing.name in _ELSEWHERE:
        reasons.append("It is on another site.")
    return _open(thing, rng.choice(reasons))


def _open(thing: Thing, why: str) -> Turn:
    return f"{why} {'Press' if thing.tag == 'button' else 'Open'} {thing.name}.", [_at(thing)], thing


def _higher(value: Value, note: Note, rng: random.Random) -> Turn:
    """Tell the higher of a number on the screen and one that was read before."""
    high = max(note.value, value.text, key=int)
    said = f"{note.value} and {value.text}. {high} is higher. Done."
    return (f"{value.name} is {said}" if rng.random() < 0.5 else said), [_done(high)], value


def _scroll(missing: str, screen: Screen) -> Turn:
    scrolled, hidden = screen.scroll_px
    way = "down" if scrolled < hidden else "up"
    call = ToolCall(name="scroll", arguments={"direction": way, "amount": SCROLL_AMOUNT})
    return f"{missing} is not in view. Scroll {way}.", [call], None


def _search(field: Thing, text: str) -> Turn:
    write = ToolCall(name="write", arguments={"text": text})
    enter = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
    return f"{field.name} is in view. Write {text}.", [_at(field), write, enter], field


def _answer(value: Value, site: SizedSite) -> Turn:
    shown_name = f"{order_of(site).label} of {value.name}" if " " in value.name else value.name
    return f"{shown_name} is {value.mark}{value.text}. Done.", [_done(value.text)], value


def _claim(screen: Screen) -> str:
    """A true statement about the page; empty if there is nothing worth saying."""
    parts = urlsplit(screen.url)
    query = dict(parse_qsl(parts.query))
    if "page" in query:
        return f"This is page {query['page']} of {screen.place}."
    site = _site(screen)
    for key in (site.renamed.get(each, each) for each in site.narrowing):
        if key in query:
            shown = {"max": f"Under ${query[key]}", "stock": "In stock"}.get(key, query[key].title())
            return f"{screen.place} are {shown}."
    match parts.path.strip("/").split("/"):
        case ["added", name]:
            return f"The {site.look.words['cart']} has {name.replace('-', ' ').title()}."
        case ["item", name, _, "done"]:
            return f"{name.replace('-', ' ').title()} is done."
    if "q" in query:
        return f"Results for {query['q'].title()}."
    return f"This is {screen.place}." if screen.place else ""


def _question(goal: str, think: str, calls: list[ToolCall], about: Thing | Value | None) -> Question:
    """A turn whose thought begins with the goal; coordinates are read from a thing's name, an answer from its value."""
    text = toolcall.render(f"{goal} {think}", calls).removesuffix(toolcall.IM_END)
    start = len(toolcall.THINK)
    thought = start + len(goal) + 1
    cells: list[tuple[int, ...]] = [()] * len(text)
    plain = Question("say", "", text, restated=(start, thought))
    if about is None:
        return replace(plain, answer_cells=tuple(cells))
    copied = (0, 0, 0)
    named = text.find(about.name, thought)
    if isinstance(about, Thing):
        begin, end = text.index('"x": '), text.index("}}")
        cells[begin:end] = [about.name_cells] * (end - begin)
        if about.tag != "input":
            named = text.index(about.name + ".", thought)
    else:
        read = re.search(rf"(?:is|and) \$?({re.escape(about.text)})\.", text[thought:])
        assert read is not None, text
        begin = thought + read.start(1)
        cells[begin : begin + len(about.text)] = about.sources
        answer = calls[-1].arguments["answer"]
        told = text.rindex(f"{answer} is higher") if " is higher." in think else begin
        copied = (told, text.rindex(f'"{answer}"') + 1, len(answer))
    mentioned = (named, named + len(about.name)) if named >= 0 else (0, 0)
    return replace(plain, name_cells=about.name_cells, answer_cells=tuple(cells), mentioned=mentioned, copied=copied)


def _at(thing: Thing) -> ToolCall:
    x, y = thing.point
    return ToolCall(name="click", arguments={"x": x, "y": y})


def _done(answer: str) -> ToolCall:
    return ToolCall(name="done", arguments={"answer": answer})


def earlier_turn(
    url: str, shown: ShownTask, rng: random.Random, known: Vocabulary, note: Note | None
) -> tuple[str, Feedback]:
    """The response and the feedback of an earlier turn that led to a page, as an episode's prompt shows them."""
    name, (x, y) = rng.choice(known.things), (rng.randrange(50, 951, 25), rng.randrange(50, 951, 50))
    reason = str(note or rng.choice((f"{name} is in view.", f"{rng.choice(known.things)} is not here.")))
    call = ToolCall(name="click", arguments={"x": x, "y": y})
    return toolcall.render(f"{shown.goal} {reason} Open {name}.", [call]), Feedback(
        ok=True, text=f'click at ({x}, {y}) on <a> "{name}": page is now {url}'
    )
