"""What the tiny model is asked about a screen: dense targets for every visual token, and questions.

A visual token covers 32x32 px, two character cells of the compact pages' grid. Dense targets say
which two characters and which word are there; questions ask to point (`find`), to read what is at a
point (`read`), to read the value beside a name (`value`), whether something is there (`see`), and
what the task above the screen names (`name`, `kind`). Answers never use the agent's protocol: that
is for the warm start to teach.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from webdojo.policy.tiny.pages import SIDE, Screen, Word
from webdojo.sites.phrasing import PHRASINGS
from webdojo.sites.words import ADJECTIVES, SHOP_NOUNS, WIKI_NOUNS, compact_vocabulary, plural

ROWS = SIDE // 32
COLUMNS = SIDE // 16
TOKENS = ROWS * ROWS
CHARACTERS = {c: i + 1 for i, c in enumerate(string.ascii_letters + string.digits + "$.>*-")}
"""Class of each character; 0 is blank or anything else."""
WORDS = {word: i for i, word in enumerate(sorted({word.lower() for word in compact_vocabulary()}))}
"""Class of each word in lower case."""
THINGS = {plural(noun) for noun in SHOP_NOUNS + WIKI_NOUNS} | {
    f"{adjective} {noun}" for adjective in ADJECTIVES for noun in SHOP_NOUNS + WIKI_NOUNS
}
"""All that a task can name: lists, products and articles."""
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


@dataclass(frozen=True)
class Note:
    """A task that stands above the screen, and the thing that it names."""

    text: str
    name: str


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


def note(screen: Screen, rng: random.Random) -> Note:
    """A task about something on the screen, or now and then about something that is not there."""
    groups = _by_element(screen)
    names = sorted({_name(group) for group in groups.values()} & THINGS)
    name = rng.choice(names) if names and rng.random() < 0.7 else rng.choice(sorted(THINGS))
    goal = rng.choice(("open", "open_result", "price", "search") if " " in name else ("category",))
    return Note(rng.choice(PHRASINGS[goal]).format(name=name, nouns=name), name)


def questions(screen: Screen, rng: random.Random, n: int, note: Note | None = None) -> list[Question]:
    """`n` questions about a screen and the note above it; a name that stands twice on it is not asked for."""
    groups = _by_element(screen)
    named = [(_name(group), element, group) for element, group in groups.items() if _name(group) and _cells(group)]
    counts: dict[str, int] = {}
    for name, *_ in named:
        counts[name] = counts.get(name, 0) + 1
    unique = [entry for entry in named if counts[entry[0]] == 1]
    controls = {element: tag for tag, element in screen.controls}
    pointable = [entry for entry in unique if entry[1] in controls]
    values = _values(screen)
    makers: list[Callable[[], Question]] = [lambda: _see(rng, list(counts))]
    if pointable:
        makers += [lambda: _find(*rng.choice(pointable))] * 5
        makers += [lambda: _read(*rng.choice(unique))] * 2
    if values:
        makers += [lambda: _value(*rng.choice(values))] * 3
    if note is not None:
        noted = note
        makers += [lambda: Question(Skill.NAME, "name", noted.name, noted=True)] * 4
        makers += [lambda: Question(Skill.KIND, "kind", _kind(noted.name), noted=True)] * 2
        makers += [lambda: Question(Skill.SEE, "see it", "yes" if noted.name in counts else "no", noted=True)]
        here = [entry for entry in pointable if entry[0] == noted.name]
        if here:
            makers += [lambda: replace(_find(*here[0]), text="find it", noted=True)] * 4
    return [rng.choice(makers)() for _ in range(n)]


def _by_element(screen: Screen) -> dict[int, list[Word]]:
    """The words of each element, in reading order."""
    groups: dict[int, list[Word]] = {}
    for word in screen.words:
        groups.setdefault(word.element, []).append(word)
    return groups


def _kind(name: str) -> str:
    """The list that a thing is in: of `Royal Rug` `Rugs`, of a list itself."""
    return plural(name.split()[1]) if " " in name else name


def _name(group: list[Word]) -> str:
    """The words of an element without marks and numbers: `> Royal Rug $95` is `Royal Rug`."""
    return " ".join(w.text for w in group if w.text[0].isalpha())


def _point(group: list[Word]) -> tuple[int, int]:
    x = (min(w.left for w in group) + max(w.right for w in group)) / 2
    y = group[0].row * 32 + 16
    return round(1000 * x / SIDE), round(1000 * y / SIDE)


def _find(name: str, element: int, group: list[Word]) -> Question:
    x, y = _point(group)
    named = _cells([w for w in group if w.text[0].isalpha()])
    answer = f'{{"x": {x}, "y": {y}}}'
    return Question(Skill.FIND, f"find {name}", answer, named, (named,) * len(answer))


def _read(name: str, element: int, group: list[Word]) -> Question:
    x, y = _point(group)
    readable = [w for w in group if w.text[0].isalnum() or w.text[0] == "$"]
    answered = [cells for w in readable for cells in (_cells([w]), *_characters(w))][1:]  # a space, then the word
    text = " ".join(w.text for w in readable)
    return Question(Skill.READ, f'read {{"x": {x}, "y": {y}}}', text, _cells(group), tuple(answered))


def _characters(word: Word) -> list[tuple[int, ...]]:
    """For each character of a word the visual tokens to read it from: a digit's own, else the whole word's."""
    whole = _cells([word])
    columns = [(word.column + offset) // 2 for offset in range(len(word.text))]
    own = [(word.row * ROWS + column,) if 0 <= word.row < ROWS and column < ROWS else () for column in columns]
    return [cell if character.isdigit() else whole for character, cell in zip(word.text, own, strict=True)]


def _cells(words: list[Word]) -> tuple[int, ...]:
    """The visual tokens that words cover, as far as they are in view."""
    columns = {(w.row, column // 2) for w in words for column in range(w.column, w.column + len(w.text))}
    return tuple(sorted(row * ROWS + column for row, column in columns if 0 <= row < ROWS and 0 <= column < ROWS))


def _values(screen: Screen) -> list[tuple[list[Word], Word]]:
    """(name, value) of every row that holds one name and, beside it, one value."""
    rows: dict[int, list[Word]] = {}
    for word in sorted((w for w in screen.words if 0 <= w.row < ROWS), key=lambda w: w.left):
        rows.setdefault(word.row, []).append(word)
    out: list[tuple[list[Word], Word]] = []
    for row in rows.values():
        numbers = [w for w in row if w.text.strip("$").isdigit()]
        names = [w for w in row if w.text[0].isalpha()]
        if len(numbers) == 1 and names and len({w.element for w in names}) == 1:
            out.append((names, numbers[0]))
        elif not numbers and len(names) == 2 and names[0].left == 0 and names[1].left - names[0].right > 40:
            out.append((names[:1], names[1]))
    return out


def _value(name: list[Word], value: Word) -> Question:
    text = " ".join(w.text for w in name)
    answer = value.text.strip("$")
    return Question(Skill.VALUE, f"value {text}", answer, _cells(name), tuple(_characters(value)[-len(answer) :]))


def _see(rng: random.Random, names: list[str]) -> Question:
    if names and rng.random() < 0.5:
        return Question(Skill.SEE, f"see {rng.choice(names)}", "yes")
    name = f"{rng.choice(ADJECTIVES)} {rng.choice(SHOP_NOUNS + WIKI_NOUNS)}"
    if rng.random() < 0.5 and names:
        name = rng.choice(names).split()[0] + " " + name.split()[1]
    return Question(Skill.SEE, f"see {name}", "yes" if name in names else "no")
