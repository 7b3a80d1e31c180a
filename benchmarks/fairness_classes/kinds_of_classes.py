"""The three sorts of classes, and how a function becomes one: by a decorator that names the families it applies to.

The name of a class is that of its function, and its description is the docstring. Those from modules whose names end in
`_held_back` are the half that is held back.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.asked import Answer
from fairness_classes.case import Case
from fairness_classes.evidence import Evidence
from webdojo.sites.content.words import single

Half = Literal["open", "held_back"]
F = TypeVar("F", bound=Callable[..., object])

SEARCHED = single(
    "open read compare across act refused menu on_map from_map partner price cheapest oldest oldest_region read_oldest "
    "read_oldest_region add add_two add_cheapest add_cheapest_color"
)
"""Families with things to find."""
QUERIED = single("count names narrow color under stock region")
"""Families with a list to open."""
ADDS = single("add add_two add_cheapest add_cheapest_color")
"""Families that put something into a cart."""
READ = single("read price read_oldest read_oldest_region")
"""Families that ask for a value."""
COMPARED = single("compare across")
"""Families that ask for the higher of two."""
ASKED = (*READ, *COMPARED, *single("count names missing refused report leader corner_fact corners"))
"""Families that ask for an answer."""
OPENED = single("open open_result cheapest oldest oldest_region")
"""Families that end on the page of a thing."""
NARROWED = single("narrow color under stock region")
"""Families that end on a list under filters."""


@dataclass(frozen=True)
class Class(Generic[F]):
    """One way to do a task, to say an answer, or to be wrong."""

    name: str
    says: str
    families: frozenset[str]
    """Families of tasks that it applies to, or for wordings sorts of answers; empty: all."""
    half: Half
    run: F

    def fits(self, kind: str) -> bool:
        """Whether it applies to a family, or for wordings to a sort of answer."""
        return not self.families or kind in self.families


def made(function: F, families: Iterable[str]) -> Class[F]:
    """The class of a function."""
    held_back = function.__module__.endswith("_held_back")
    return Class(
        function.__name__,
        " ".join((inspect.getdoc(function) or "").split()),
        frozenset(families),
        "held_back" if held_back else "open",
        function,
    )


Way = Callable[[Case, Visitor], None]
"""Does a task by a route of its own; raises `CannotGoError` where it does not apply."""
ROUTES: list[Class[Way]] = []


def route(*families: str) -> Callable[[Way], Way]:
    """Make a way to do tasks of these families a class of routes, which shows all that is needed."""

    def register(way: Way) -> Way:
        ROUTES.append(made(way, families))
        return way

    return register


def go(way: Class[Way], case: Case, visitor: Visitor) -> bool:
    """Go a route; False where the site does not allow it, or where it did not show all that is needed."""
    try:
        way.run(case, visitor)
    except CannotGoError:
        return False
    return Evidence(case, visitor).enough()


Words = Callable[[Answer, random.Random], "str | None"]
"""Puts an answer into words; None where it cannot be said so."""
WORDINGS: list[Class[Words]] = []


def wording(*sorts: str) -> Callable[[Words], Words]:
    """Make a way to put answers of these sorts into words a class of wordings."""

    def register(words: Words) -> Words:
        WORDINGS.append(made(words, sorts))
        return words

    return register


@dataclass
class Say:
    """Puts answers into words by chance, by the wordings of one half."""

    half: Half
    rng: random.Random

    def __call__(self, answer: Answer) -> str:
        fitting = [each for each in WORDINGS if each.half == self.half and each.fits(answer.sort)]
        texts = (each.run(answer, self.rng) for each in self.rng.sample(fitting, len(fitting)))
        return next(text for text in texts if text is not None)


WrongWords = Callable[[Case, Answer, Say], "str | None"]
"""Says something wrong where the right answer is known; None where it does not apply."""
WRONG_ANSWERS: list[Class[WrongWords]] = []


def wrong_answer(*sorts: str) -> Callable[[WrongWords], WrongWords]:
    """Make something wrong to say, instead of answers of these sorts, a class."""

    def register(words: WrongWords) -> WrongWords:
        WRONG_ANSWERS.append(made(words, sorts))
        return words

    return register


WrongWay = Callable[[Case, Visitor, random.Random], "str | None"]
"""Ends a session wrongly; returns what it says at the end (None: the oracle's answer)."""
WRONG_SESSIONS: list[Class[WrongWay]] = []


def wrong_session(*families: str) -> Callable[[WrongWay], WrongWay]:
    """Make a way to end tasks of these families wrongly a class."""

    def register(way: WrongWay) -> WrongWay:
        WRONG_SESSIONS.append(made(way, families))
        return way

    return register
