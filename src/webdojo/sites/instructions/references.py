"""How instructions point at the things of a catalogue site: by name, or by filters and an extreme.

A description has one fact for each filter and one for the extreme (`the cheapest flight from Rome`), so a longer
description makes a harder task (WebGym §3.2).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from webdojo.sites.catalog import Collection, Constraint, Entity
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Fact, Plan, fact, place, visit
from webdojo.sites.site import href

_PREPOSITIONS = ("by", "for", "from", "in", "of", "on", "to", "under")


@dataclass(frozen=True)
class Reference:
    """How an instruction points at an entity."""

    entity: Entity
    collection: Collection
    phrase: str
    plan: Plan
    """Leads to the entity's page."""
    says: tuple[str, ...] = field(default=())
    """One sentence for each condition of the description."""
    given: frozenset[str] = frozenset()
    """Keys of the attributes whose value the description gives away."""
    first: dict[str, Any] | None = None
    """The check that it was found to be the first of its list, as the description says; None for a name."""

    @property
    def path(self) -> str:
        return f"/{self.collection.slug}/{self.entity.slug}"

    @property
    def key(self) -> str:
        """Tells ways to point at entities apart, for the keys of goals."""
        return f"{self.path}-{slug(self.phrase)}" if self.says else self.path

    def facts(self, **found: Any) -> list[Fact]:
        """A fact for each condition of the description, with checks that tell that the entity was found out.

        Without any, the entity's page must have been shown.
        """
        return [fact(sentence, **(found or {"visited": [place(self.path)]})) for sentence in self.says]


def named(collection: Collection, entity: Entity) -> Reference:
    """A reference by name, which has no facts."""
    path = f"/{collection.slug}/{entity.slug}"
    return Reference(entity, collection, quoted(entity.name), [visit(path, via=href("/search", q=entity.name.lower()))])


def refer(collection: Collection, facts: int, rng: random.Random) -> Reference | None:
    """A reference whose description has this many facts: an extreme, and a filter for each further one.

    With 0 facts it is a name. None if the draw fits nothing.
    """
    if not facts:
        return named(collection, rng.choice(collection.entities))
    extremes = [a for a in collection.attributes if a.least and a.sort]
    constraints = draw_constraints(collection, facts - 1, rng)
    if not extremes or constraints is None:
        return None
    extreme = rng.choice(extremes)
    found = collection.find(constraints, extreme.key)
    if len(found) < 2 or found[0].values[extreme.key] == found[1].values[extreme.key]:
        return None
    best = found[0]
    where = href(f"/{collection.slug}", **query_of(constraints), sort=extreme.key)
    plan = [visit(where, f"{best.name} is first."), visit(f"/{collection.slug}/{best.slug}", via=where)]
    phrase = f"the {extreme.least} {collection.noun} {joined(constraints)}".strip()
    says = (f"It is the {extreme.least}", *(f"It is one {c.phrase}" for c in constraints))
    listed = href(f"/{collection.slug}", **query_of(constraints))
    first = {"label": extreme.label, "of": listed, "thing": best.slug}
    return Reference(best, collection, phrase, plan, says, frozenset(query_of(constraints)), first)


def draw_constraints(
    collection: Collection, count: int, rng: random.Random, among: tuple[str, ...] = ()
) -> list[Constraint] | None:
    """Draw filters of different attributes, those `among` some if any, that an entity passes; None if that fails."""
    filtered = [a for a in collection.attributes if a.filter and (not among or a.key in among)]
    if count > len(filtered):
        return None
    somebody = rng.choice(collection.entities)
    drawn = []
    for attribute in sorted(rng.sample(filtered, count), key=collection.attributes.index):
        fitting = [c for c in collection.constraints(attribute) if c.holds(somebody)]
        if not fitting:
            return None
        drawn.append(rng.choice(fitting))
    return drawn


def query_of(constraints: list[Constraint]) -> dict[str, str]:
    """The filters as a list's address has them."""
    return {key: value for constraint in constraints for key, value in constraint.query.items()}


def joined(constraints: list[Constraint]) -> str:
    """Filters in one phrase: `in Travel by Ada Lin, posted on 3 May, marked as Open and with 3 stars and 20 replies`.

    First come those that begin by a preposition and name a value, side by side. Several others are an enumeration,
    whose last part says all that begin by `with`.
    """
    named = [each.phrase for each in constraints if not each.attribute.control]
    first = [phrase for phrase in named if _word(phrase) in _PREPOSITIONS]
    having = [phrase.removeprefix("with ") for phrase in named if _word(phrase) == "with"]
    others = [phrase for phrase in named if _word(phrase) not in (*_PREPOSITIONS, "with")]
    others += [each.phrase for each in constraints if each.attribute.control]
    said = [enumerated([*alike]) for _, alike in groupby(first, _word)]
    last = [f"with {enumerated(having)}"] if having else []
    return " ".join([*said, enumerated([*others, *last])] if len(others) > 1 else [*said, *others, *last])


def _word(phrase: str) -> str:
    return phrase.split()[0]


def enumerated(parts: Sequence[str]) -> str:
    """Parts of a sentence as an enumeration: `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def quoted(name: str) -> str:
    """A name in an instruction: in quotes if it could be taken for a part of the sentence."""
    return name if all(word[0].isupper() or word[0].isdigit() for word in name.split()) else f"\u201c{name}\u201d"
