"""A task of an application before it is put into words: what must be true at the end, and how it is done.

The facts of a goal are checked by `verdict.py`, and its plan is carried out by `script.py`. A template draws goals of
one sort from a world, and has five phrasings for them, of which training never uses the last `HELDOUT_PHRASINGS`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from webdojo.types import Task

World = dict[str, Any]
Fact = dict[str, Any]
"""One thing that must be true, and its check, as `verdict.py` reads it."""
Step = dict[str, Any]
"""One step of a plan, as `script.py` carries it out."""
HELDOUT_PHRASINGS = 2
ANY = {"type": "any"}
"""A value that may be anything."""


@dataclass(frozen=True)
class Goal:
    """One goal in one world."""

    key: str
    """Makes the task id unique among goals of the same template in one world."""
    fields: dict[str, str]
    """Values for the placeholders of the phrasings."""
    facts: Sequence[Fact]
    """What must be true; each is needed, and together they are enough."""
    plan: Sequence[Step]
    allowed: Sequence[dict[str, Any]] = ()
    """Patterns of changes that the application may make on the way (`verdict.py`)."""


@dataclass(frozen=True)
class Template:
    """Goals of one sort."""

    name: str
    draw: Callable[[World, random.Random], Goal]
    phrasings: tuple[str, str, str, str, str]
    role: str = ""
    """Who has logged in when an episode begins; empty: nobody."""
    start: str = "/"
    """Where an episode begins."""
    beside: str = ""
    """Another application that an episode needs as well, whose tables have other names; its world, of the same seed, is
    `beside` in the world that goals are drawn from."""
    beside_role: str = ""
    """Who has logged in there."""

    def task(self, application: str, host: str, seed: int, world: World, rng: random.Random, heldout: bool) -> Task:
        """Draw a task in a world."""
        goal = self.draw(world, rng)
        first = len(self.phrasings) - HELDOUT_PHRASINGS
        at = rng.randrange(first, len(self.phrasings)) if heldout else rng.randrange(first)
        return Task(
            id=f"apps:{application}:{seed}:{self.name}:{goal.key}:{at}",
            instruction=self.phrasings[at].format(**goal.fields),
            start_url=f"http://{host}{self.start}",
            website=host,
            kind=application,
            difficulty=len(goal.facts),
            evaluator={"type": "apps", "facts": list(goal.facts), "allowed": list(goal.allowed)},
            metadata={"template": self.name, "role": self.role, "seed": seed, "plan": list(goal.plan)}
            | ({"beside": {self.beside: self.beside_role}} if self.beside else {}),
        )


def added(says: str, table: str, **values: Any) -> Fact:
    """A row must have been added, with these values among its own."""
    return {"says": says, "change": {"table": table, "kind": "added", "values": values}}


def changed(says: str, table: str, id: int, **values: Any) -> Fact:
    """These columns of a row must have changed to these values, and no others."""
    return {"says": says, "change": {"table": table, "kind": "changed", "key": {"id": id}, "values": values}}


def removed(says: str, table: str, id: int) -> Fact:
    """A row must have been removed."""
    return {"says": says, "change": {"table": table, "kind": "removed", "key": {"id": id}}}


def shown(says: str, *texts: str) -> Fact:
    """These texts must have been on one page that was served."""
    return {"says": says, "shown": list(texts)}


def fetched(says: str, *groups: dict[str, Any]) -> Fact:
    """Scripts of pages must have been given all objects of one of these groups (`given`)."""
    return {"says": says, "fetched": list(groups)}


def given(path: str, *objects: dict[str, Any]) -> dict[str, Any]:
    """A group of objects that JSON answers must have, each of them from an address that begins with this path."""
    return {"path": path, "objects": list(objects)}


def answered(says: str, value: dict[str, Any], names: Sequence[str] = (), rivals: Sequence[str] = ()) -> Fact:
    """The answer must say a value of `sites.answers.values`; it may name these, and none of the rivals."""
    return {"says": says, "answer": value, "names": list(names), "rivals": list(rivals)}


def done(answer: str = "Done") -> Step:
    """The last step of a plan."""
    return {"do": "done", "answer": answer}
