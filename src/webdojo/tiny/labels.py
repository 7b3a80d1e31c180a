"""The names, controls and values on a labelled screen, with the visual tokens that show them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from webdojo.tiny.screens import SIDE, Screen, Word

ROWS = SIDE // 32
COLUMNS = SIDE // 16
TOKENS = ROWS * ROWS


@dataclass(frozen=True)
class Thing:
    """An element with a name, of which at least a part is in view."""

    name: str
    tag: str
    """The tag of a control; empty for text."""
    words: tuple[Word, ...]

    @property
    def name_cells(self) -> tuple[int, ...]:
        """The visual tokens of the name."""
        return cells(*(w for w in self.words if w.text[0].isalpha()))

    @property
    def point(self) -> tuple[int, int]:
        """The middle of the element, in 0..1000."""
        x = (min(w.left for w in self.words) + max(w.right for w in self.words)) / 2
        y = self.words[0].row * 32 + 16
        return round(1000 * x / SIDE), round(1000 * y / SIDE)


@dataclass(frozen=True)
class Value:
    """A value and the name that stands beside it."""

    name: str
    name_cells: tuple[int, ...]
    word: Word

    @property
    def text(self) -> str:
        return self.word.text.strip("$")

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """For each character of the text, the visual tokens to read it from."""
        return characters(self.word)[-len(self.text) :]


class ScreenLabels:
    """The things and values of one screen."""

    def __init__(self, screen: Screen) -> None:
        groups: dict[int, list[Word]] = {}
        for word in screen.words:
            groups.setdefault(word.element, []).append(word)
        tags = {element: tag for tag, element in screen.controls}
        things = [Thing(_name(group), tags.get(element, ""), tuple(group)) for element, group in groups.items()]
        things = [thing for thing in things if thing.name and cells(*thing.words)]
        counts = Counter(thing.name for thing in things)
        self.names = list(counts)
        self.things = [thing for thing in things if counts[thing.name] == 1]
        """Things whose name stands on the screen once."""
        self.controls = [thing for thing in self.things if thing.tag]
        self.values = _values(screen)


def cells(*words: Word) -> tuple[int, ...]:
    """The visual tokens that words cover, where they are in view."""
    columns = {(w.row, column // 2) for w in words for column in range(w.column, w.column + len(w.text))}
    return tuple(sorted(row * ROWS + column for row, column in columns if 0 <= row < ROWS and 0 <= column < ROWS))


def characters(word: Word) -> tuple[tuple[int, ...], ...]:
    """The visual tokens to read each character of a word from: the whole word's, but for a digit its own."""
    whole = cells(word)
    columns = [(word.column + offset) // 2 for offset in range(len(word.text))]
    own = [(word.row * ROWS + column,) if 0 <= word.row < ROWS and column < ROWS else () for column in columns]
    return tuple(cell if character.isdigit() else whole for character, cell in zip(word.text, own, strict=True))


def _name(group: list[Word]) -> str:
    """The words of an element without marks and numbers: `> Royal Rug $95` is `Royal Rug`."""
    return " ".join(w.text for w in group if w.text[0].isalpha())


def _values(screen: Screen) -> list[Value]:
    """The values of all rows that hold one name and, beside it, one value."""
    rows: dict[int, list[Word]] = {}
    for word in sorted((w for w in screen.words if 0 <= w.row < ROWS), key=lambda w: w.left):
        rows.setdefault(word.row, []).append(word)
    out: list[Value] = []
    for row in rows.values():
        numbers = [w for w in row if w.text.strip("$").isdigit()]
        names = [w for w in row if w.text[0].isalpha()]
        if len(numbers) == 1 and names and len({w.element for w in names}) == 1:
            out.append(Value(_name(names), cells(*names), numbers[0]))
        elif not numbers and len(names) == 2 and names[0].left == 0 and names[1].left - names[0].right > 40:
            out.append(Value(names[0].text, cells(names[0]), names[1]))
    return out
