"""What the tiny model is asked about a screen: dense targets for every visual token, and questions.

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
from webdojo.tiny.labels import COLUMNS, ROWS, TOKENS, ScreenLabels, Thing, Value, cells, characters
from webdojo.tiny.screens import Screen

CHARACTERS = {c: i + 1 for i, c in enumerate(string.ascii_letters + string.digits + "$.>*-")}
"""Class of each character; 0 is blank or anything else."""
WORDS = {word: i for i, word in enumerate(sorted({word.lower() for word in compact_vocabulary()}))}
"""Class of each word in lower case."""
NOUNS = SHOP_NOUNS + WIKI_NOUNS
THINGS = {plural(noun) for noun in NOUNS} | {f"{adjective} {noun}" for adjective in ADJECTIVES for noun in NOUNS}
"""All lists, products and articles that a site may have."""
ALL_THINGS = sorted(THINGS)
NO_WORD = -100
"""Target of a token that no known word covers: it is left out of the loss."""


class Skill(StrEnum):
    """Kinds of questions; each is measured on its own."""

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
class Note:
    """A task that stands above the screen."""

    text: str
    name: str
    """The thing that it names, or the first of them."""
    goal: str
    """What it asks for, in the same words for all its phrasings."""
    values: tuple[str, ...]
    """All that it names, as written in it."""


@dataclass(frozen=True)
class Question:
    skill: Skill
    text: str
    answer: str
    named: tuple[int, ...] = ()
    """Visual tokens of what the question names."""
    answered: tuple[tuple[int, ...], ...] = ()
    """For each character of the answer, the visual tokens that it is read from; empty if none is."""
    noted: bool = False
    """The question asks for what the note names, without saying it."""
    mentioned: tuple[int, int] = (0, 0)
    """Characters of the answer that name what is on the screen, where the answer itself names it."""
    restated: tuple[int, int] = (0, 0)
    """Characters of the answer that say again what the note says."""
    copied: tuple[int, int, int] = (0, 0, 0)
    """(begin, begin of the copy, length) of characters of the answer that it says twice."""

    def graded(self) -> list[bool]:
        """For each character of the answer, whether it must be right.

        Of a turn only the calls must be: a thought may be any. Of coordinates of three digits the first: it
        tells the visual token.
        """
        out = [True] * len(self.answer)
        if self.skill is Skill.SAY:
            thought = self.answer.index(toolcall.CALL)
            out[:thought] = [False] * thought
        for coordinate in re.finditer(r'(?<="[xy]": \d)\d\d\b', self.answer):
            out[coordinate.start() : coordinate.end()] = [False, False]
        return out


def dense_targets(screen: Screen) -> tuple[np.ndarray, np.ndarray]:
    """Character classes of both cells, int64 [100, 2], and the word class, int64 [100], of every visual token."""
    characters = np.zeros((ROWS, COLUMNS), np.int64)
    words = np.full((ROWS, ROWS), NO_WORD, np.int64)
    for word in screen.words:
        for offset, character in enumerate(word.text):
            column = word.column + offset
            if 0 <= word.row < ROWS and 0 <= column < COLUMNS:
                characters[word.row, column] = CHARACTERS.get(character, 0)
                words[word.row, column // 2] = WORDS.get(word.text.strip(".").lower(), NO_WORD)
    return characters.reshape(TOKENS, 2), words.reshape(TOKENS)


def note(screen: Screen, labels: ScreenLabels, rng: random.Random) -> Note:
    """A task of the site, or one about something on the screen, or about something that is not there."""
    if rng.random() < 0.5:
        site = load_site(*parse_host(urlsplit(screen.url).netloc), "compact")
        goal = draw_goal(site, rng.choice(DIFFICULTIES), rng)
        text = phrase(goal, rng)[0]
        name = next(goal.fields[key] for key in ("name", "nouns", "noun", "a", "cart") if key in goal.fields)
        return Note(text, name, restate(goal), said(goal, text))
    names = sorted(set(labels.names) & THINGS)
    if screen.place in THINGS and rng.random() < 0.4:
        name = screen.place
    else:
        name = rng.choice(names) if names and rng.random() < 0.6 else rng.choice(ALL_THINGS)
    asked = rng.choice(("open", "open_result", "price", "search") if " " in name else ("category",))
    text = rng.choice(PHRASINGS[asked]).format(name=name, nouns=name)
    return Note(text, name, PHRASINGS[asked][0].format(name=name, nouns=name), (name,))


def questions(
    screen: Screen, labels: ScreenLabels, rng: random.Random, n: int, note: Note | None = None
) -> list[Question]:
    """`n` questions about a screen and the note above it; a name that stands twice on it is not asked for."""
    makers: list[Callable[[], Question]] = [lambda: _see(rng, labels.names)] * 3
    if labels.controls:
        makers += [lambda: _find(rng.choice(labels.controls))] * 5
    if labels.things:
        makers += [lambda: _read(rng.choice(labels.things))] * 3
    if labels.values:
        makers += [lambda: _value(rng.choice(labels.values))] * 5
    if note is not None:
        name, yes = note.name, {True: "yes", False: "no"}
        makers += [lambda: Question(Skill.NAME, "name", name, noted=True, restated=(0, len(name)))] * 3
        makers += [lambda: Question(Skill.GOAL, "goal", note.goal, noted=True, restated=(0, len(note.goal)))] * 4
        if _kind(name):
            makers += [lambda: Question(Skill.KIND, "kind", _kind(name), noted=True)] * 2
        makers += [lambda: Question(Skill.HERE, "here", yes[screen.place == name], noted=True)] * 2
        makers += [lambda: Question(Skill.SEE, "see it", yes[name in labels.names], noted=True)] * 2
        here = [thing for thing in labels.controls if thing.name == name]
        if here:
            makers += [lambda: replace(_find(here[0]), text="find it", noted=True)] * 4
    return [rng.choice(makers)() for _ in range(n)]


def _kind(name: str) -> str:
    """The list that a thing is in: of `Royal Rug` and `Rug` it is `Rugs`, of a list itself; empty for the cart."""
    last = name.split()[-1]
    return plural(last) if last in NOUNS else last if last in THINGS else ""


def _find(thing: Thing) -> Question:
    answer = '{{"x": {}, "y": {}}}'.format(*thing.point)
    return Question(Skill.FIND, f"find {thing.name}", answer, thing.named, (thing.named,) * len(answer))


def _read(thing: Thing) -> Question:
    readable = [w for w in thing.words if w.text[0].isalnum() or w.text[0] == "$"]
    answered = [source for w in readable for source in (cells(w), *characters(w))][1:]  # a space, then the word
    text = " ".join(w.text for w in readable)
    asked = 'read {{"x": {}, "y": {}}}'.format(*thing.point)
    return Question(Skill.READ, asked, text, cells(*thing.words), tuple(answered))


def _value(value: Value) -> Question:
    return Question(Skill.VALUE, f"value {value.name}", value.text, value.named, value.sources)


def _see(rng: random.Random, names: list[str]) -> Question:
    if names and rng.random() < 0.5:
        return Question(Skill.SEE, f"see {rng.choice(names)}", "yes")
    name = f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"
    if rng.random() < 0.5 and names:
        name = rng.choice(names).split()[0] + " " + name.split()[1]
    return Question(Skill.SEE, f"see {name}", "yes" if name in names else "no")
