"""The words that the pages of some kinds of sites on the grid can show, and the things that they can name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from webdojo.sites import COMPACT_KINDS, SMALL_KINDS
from webdojo.sites.content import words
from webdojo.sites.content.words import ADJECTIVES, plural
from webdojo.sites.small.kinds import SMALL

KINDS = (*COMPACT_KINDS, *SMALL_KINDS)
_NOUNS = {"shop": words.SHOP_NOUNS, "wiki": words.WIKI_NOUNS, **{kind: SMALL[kind].nouns for kind in SMALL}}


@dataclass(frozen=True)
class Vocabulary:
    """What the pages of some kinds can say."""

    kinds: tuple[str, ...]

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        return tuple(noun for kind in self.kinds for noun in _NOUNS[kind])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names of single things: `Royal Rug`."""
        return tuple(f"{adjective} {noun}" for adjective in ADJECTIVES for noun in self.nouns)

    @cached_property
    def things(self) -> list[str]:
        """All lists and single things that a site may have, sorted."""
        return sorted({plural(noun) for noun in self.nouns} | set(self.names))

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.things)

    @cached_property
    def singular(self) -> dict[str, str]:
        return {plural(noun): noun for noun in self.nouns}

    @cached_property
    def words(self) -> list[str]:
        """Every word of the pages, sorted, without digits and without brands in capitals."""
        wordings, carts = words.SYNONYMS.values(), words.SYNONYMS["cart"]
        phrases = [wording.format(cart=cart) for options in wordings for wording in options for cart in carts]
        phrases += [text.format(region=r, year="", noun="") for text in words.WIKI_TEXT for r in words.REGIONS]
        phrases += [*words.SHOP_LABELS, *words.WIKI_LABELS, *words.SHOP_HEADINGS, *words.WIKI_HEADINGS]
        phrases += [*words.COLORS, *words.SIZES, *ADJECTIVES, *words.BRANDS, "of", "page", "not", "found"]
        for content in (SMALL[kind] for kind in self.kinds if kind in SMALL):
            labels = (content.order.label, content.filter.label, *content.numbers, content.partner.title())
            phrases += [*content.orders, *content.values, *content.button, *labels, *words.WORDINGS["Done"]]
        for noun in self.nouns:
            phrases += [noun, plural(noun)]
        return sorted({word.strip(".") for phrase in phrases for word in phrase.split()} - {""})

    @cached_property
    def classes(self) -> dict[str, int]:
        """The class of each word in lower case."""
        return {word: i for i, word in enumerate(sorted({word.lower() for word in self.words}))}

    def list_of(self, name: str) -> str:
        """The list that a thing is in: `Rugs` for `Royal Rug` and `Rug`, a list itself for a list; empty for a cart."""
        last = name.split()[-1]
        return plural(last) if last in self.nouns else last if last in self.known else ""
