"""What the tiny model is trained on: dense targets for every visual token of a screen, and questions about it.

A visual token covers 32x32 px, two character cells of the compact pages' grid. Dense targets say
which two characters and which word are there; questions ask to point (`find`), to read what is at a
point (`read`), to read the value beside a name (`value`), whether something is there (`see`), what
the task above the screen names (`name`, `kind`) and asks for (`goal`), and whether the page that it
names is open (`here`). A `say` is a turn of the agent, made by `agent_turns.py`.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlsplit

import numpy as np

from webdojo.agent import toolcall
from webdojo.sites.content.words import ADJECTIVES, SHOP_NOUNS, WIKI_NOUNS, compact_vocabulary, plural
from webdojo.sites.instructions.phrasing import PHRASINGS, phrase, restate, said
from webdojo.sites.kinds import load_site, parse_host
from webdojo.sites.taskgen import DIFFICULTIES, draw_goal
from webdojo.tiny.screens import COLUMNS, ROWS, TOKENS, Screen, ScreenLabels, Thing, Value, cells, characters

CHARACTERS = {c: i + 1 for i, c in enumerate(string.ascii_letters + string.digits + "$.>*-")}
"""The class of each character; 0 is a blank or any other character."""
WORDS = {word: i for i, word in enumerate(sorted({word.lower() for word in compact_vocabulary()}))}
"""The class of each word in lower case."""
NOUNS = SHOP_NOUNS + WIKI_NOUNS
THINGS = {plural(noun) for noun in NOUNS} | {f"{adjective} {noun}" for adjective in ADJECTIVES for noun in NOUNS}
"""All lists, products and articles that a site may have."""
ALL_THINGS = sorted(THINGS)
NO_WORD = -100
"""The target of a token that no known word covers; the loss leaves it out."""


class Skill(StrEnum):
    """Kinds of questions, each measured on its own."""

    FIND = "find"
    READ = "read"
    VALUE = "value"
    SEE = "see"
    NAME = "name"
    KIND = "kind"
    GOAL = "goal"
    HERE = "here"
    SAY = "say"


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
        if self.skill is Skill.SAY:
            thought = self.answer.index(toolcall.CALL)
            out[:thought] = [False] * thought
        for coordinate in re.finditer(r'(?<="[xy]": \d)\d\d\b', self.answer):
            out[coordinate.start() : coordinate.end()] = [False, False]
        return out


def dense_targets(screen: Screen) -> tuple[np.ndarray, np.ndarray]:
    """The character classes of both cells, int64 [100, 2], and the word class, int64 [100], of each visual token."""
    characters = np.zeros((ROWS, COLUMNS), np.int64)
    words = np.full((ROWS, ROWS), NO_WORD, np.int64)
    for word in screen.words:
        for offset, character in enumerate(word.text):
            column = word.column + offset
            if 0 <= word.row < ROWS and 0 <= column < COLUMNS:
                characters[word.row, column] = CHARACTERS.get(character, 0)
                words[word.row, column // 2] = WORDS.get(word.text.strip(".").lower(), NO_WORD)
    return characters.reshape(TOKENS, 2), words.reshape(TOKENS)


def draw_task(screen: Screen, labels: ScreenLabels, rng: random.Random) -> ShownTask:
    """Draw a task of the site, or one about a thing that is on the screen or is not."""
    if rng.random() < 0.5:
        site = load_site(*parse_host(urlsplit(screen.url).netloc), "compact")
        goal = draw_goal(site, rng.choice(DIFFICULTIES), rng)
        text = phrase(goal, rng)[0]
        name = next(goal.fields[key] for key in ("name", "nouns", "noun", "a", "cart") if key in goal.fields)
        return ShownTask(text, name, restate(goal), said(goal, text))
    names = sorted(set(labels.names) & THINGS)
    if screen.place in THINGS and rng.random() < 0.4:
        name = screen.place
    else:
        name = rng.choice(names) if names and rng.random() < 0.6 else rng.choice(ALL_THINGS)
    asked = rng.choice(("open", "open_result", "price", "search") if " " in name else ("category",))
    text = rng.choice(PHRASINGS[asked]).format(name=name, nouns=name)
    return ShownTask(text, name, PHRASINGS[asked][0].format(name=name, nouns=name), (name,))


def questions(
    screen: Screen, labels: ScreenLabels, rng: random.Random, n: int, shown: ShownTask | None = None
) -> list[Question]:
    """`n` questions about a screen and the task above it; none is about a name that stands on the screen twice."""
    makers: list[Callable[[], Question]] = [lambda: _see(rng, labels.names)] * 3
    if labels.controls:
        makers += [lambda: _find(rng.choice(labels.controls))] * 5
    if labels.things:
        makers += [lambda: _read(rng.choice(labels.things))] * 3
    if labels.values:
        makers += [lambda: _value(rng.choice(labels.values))] * 5
    if shown is not None:
        name, yes = shown.name, {True: "yes", False: "no"}
        makers += [lambda: Question(Skill.NAME, "name", name, about_task=True, restated=(0, len(name)))] * 3
        makers += [lambda: Question(Skill.GOAL, "goal", shown.goal, about_task=True, restated=(0, len(shown.goal)))] * 4
        if _kind(name):
            makers += [lambda: Question(Skill.KIND, "kind", _kind(name), about_task=True)] * 2
        makers += [lambda: Question(Skill.HERE, "here", yes[screen.place == name], about_task=True)] * 2
        makers += [lambda: Question(Skill.SEE, "see it", yes[name in labels.names], about_task=True)] * 2
        here = [thing for thing in labels.controls if thing.name == name]
        if here:
            makers += [lambda: replace(_find(here[0]), text="find it", about_task=True)] * 4
    return [rng.choice(makers)() for _ in range(n)]


def _kind(name: str) -> str:
    """The list that a thing is in: `Rugs` for `Royal Rug` and `Rug`, a list itself for a list, empty for the cart."""
    last = name.split()[-1]
    return plural(last) if last in NOUNS else last if last in THINGS else ""


def _find(thing: Thing) -> Question:
    answer = '{{"x": {}, "y": {}}}'.format(*thing.point)
    return Question(Skill.FIND, f"find {thing.name}", answer, thing.name_cells, (thing.name_cells,) * len(answer))


def _read(thing: Thing) -> Question:
    readable = [w for w in thing.words if w.text[0].isalnum() or w.text[0] == "$"]
    answer_cells = [source for w in readable for source in (cells(w), *characters(w))][1:]  # a space, then the word
    text = " ".join(w.text for w in readable)
    asked = 'read {{"x": {}, "y": {}}}'.format(*thing.point)
    return Question(Skill.READ, asked, text, cells(*thing.words), tuple(answer_cells))


def _value(value: Value) -> Question:
    return Question(Skill.VALUE, f"value {value.name}", value.text, value.name_cells, value.sources)


def _see(rng: random.Random, names: list[str]) -> Question:
    if names and rng.random() < 0.5:
        return Question(Skill.SEE, f"see {rng.choice(names)}", "yes")
    name = f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"
    if rng.random() < 0.5 and names:
        name = rng.choice(names).split()[0] + " " + name.split()[1]
    return Question(Skill.SEE, f"see {name}", "yes" if name in names else "no")
