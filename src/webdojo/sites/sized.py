"""Sites in two sizes: all of it in the full-size layout, and a part on the grid of the compact one, for small eyes.

Both are catalogue sites of one collection, whose sections are the values of one of its attributes. What the small
one has is in the large one, too, with the same values and first in its section. Compact pages are laid out as rows
from the same blocks, show less of them, and have short addresses of their own:

| compact | as all catalogue sites have it |
|---|---|
| `/<lists>/<section>?…` | `/<collection>?<attribute>=<section>&…` |
| `/<things>/<slug>` | `/<collection>/<slug>` |
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from webdojo.sites import compact as grid
from webdojo.sites.blocks import Block, Card, Cards, Filters, Form, Pager
from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity, fact_name
from webdojo.sites.content.words import slug
from webdojo.sites.design.look import CatalogLook
from webdojo.sites.goal import Goal
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, Redirect, Request, href

_NOWHERE = "/-"
"""Address of no page."""


class SizedSite(CatalogSite):
    """A site in the size of a layout: `auto` has all of it, `compact` a part."""

    layout = "auto"
    """Here also `compact`, or `grid`, which is as compact."""

    section: str
    """Key of the attribute whose values are the sections."""
    lists: str
    """First part of the compact addresses of lists."""
    things: str
    """First part of the compact addresses of the pages of entities."""
    renamed: Mapping[str, str] = MappingProxyType({})
    """Keys of filters in compact addresses, by those of their attributes, where they are not the same."""
    narrowing: tuple[str, ...]
    """Keys of the filters that compact lists have."""
    makers: Mapping[int, tuple[Callable[[Any, random.Random], Goal], ...]]
    """Makers of the goals of the compact layout, by difficulty; see `compact_goals.py`."""

    @property
    def on_grid(self) -> bool:
        return self.layout != "auto"

    @abstractmethod
    def related(self, entity: Entity) -> list[Entity]:
        """The entities that the page of one leads on to."""

    @abstractmethod
    def drawing(self, entity: Entity) -> str:
        """SVG of an entity for the full-size layout."""

    @abstractmethod
    def story(self, entity: Entity) -> tuple[str, ...]:
        """Paragraphs that the full-size page of an entity has; cards show the last."""

    def make_skin(self) -> CatalogLook:
        skin = super().make_skin()
        if self.on_grid:
            return replace(skin, palette=self.look.palette, per_page=self.look.per_page, picks=0, sort_first=True)
        return skin

    def say(self, text: str) -> str:
        return self.look.words.get(text) or super().say(text)

    def order_text(self, attribute: Attribute) -> str:
        said = super().order_text(attribute)
        return said if self.on_grid or said.endswith("first") else f"{said}, {attribute.least} first"

    def own_goal(self, difficulty: int, rng: random.Random) -> Goal | None:
        if not self.on_grid:
            return None
        return rng.choice(self.makers[difficulty])(self, rng)

    @cached_property
    def groups(self) -> dict[str, list[Entity]]:
        """The entities of each section, by its name."""
        groups: dict[str, list[Entity]] = {}
        for entity in self.main.entities:
            groups.setdefault(str(entity.values[self.section]), []).append(entity)
        return groups

    def filters(self) -> list[Constraint]:
        by_key = self.main.by_key
        return [each for key in self.narrowing for each in self.main.constraints(by_key[key])]

    def list_path(self, group: str, **query: object) -> str:
        """Compact address of the list of a section, with a query by keys of attributes."""
        named = {self.renamed.get(key, key): value for key, value in query.items()}
        return href(f"/{self.lists}/{slug(group)}", **named)

    def thing_path(self, entity: Entity) -> str:
        return f"/{self.things}/{entity.slug}"

    def known(self, entity: Entity) -> list[Attribute]:
        """What compact pages tell of an entity, in order."""
        return [self.main.by_key[key] for key in entity.values if key != self.section]

    def sections(self) -> list[tuple[str, str]]:
        everything, *others = super().sections()
        groups = [(group, href(f"/{self.main.slug}", **{self.section: group.lower()})) for group in self.groups]
        return groups if self.on_grid else [everything, *groups, *others]

    def list_title(self, collection: Collection, constraints: list[Constraint]) -> str:
        groups = [str(each.value) for each in constraints if each.attribute.key == self.section]
        return groups[0] if groups else super().list_title(collection, constraints)

    def inward(self, path: str) -> str:
        if not self.on_grid:
            return path
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        match parts.path.strip("/").split("/"):
            case [""] | ["search"]:
                return path
            case [self.lists, group] if group in map(slug, self.groups):
                named = {key: query.get(self.renamed.get(key, key), "") for key in (*self.narrowing, "sort", "page")}
                return href(f"/{self.main.slug}", **{**named, self.section: group})
            case [self.things, name]:
                return f"/{self.main.slug}/{name}"
        return ""

    def outward(self, path: str) -> str:
        """The address of a page in this layout, from the one that catalogue sites share."""
        if not self.on_grid:
            return path
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        match parts.path.strip("/").split("/"):
            case [self.main.slug] if self.section in query:
                return self.list_path(query.pop(self.section), **query)
            case [self.main.slug, name]:
                return f"/{self.things}/{name}"
        return path

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        if self.on_grid:
            asked = f"{request.path}?{urlencode(request.values)}" if request.method == "GET" else ""
            parts = urlsplit(self.inward(asked) or _NOWHERE)
            request = Request("GET", parts.path, dict(parse_qsl(parts.query)))
        page = super().respond(request, overlay)
        if isinstance(page, Redirect):
            return Redirect(self.outward(page.path))
        if not self.on_grid:
            return page
        shows = [fact for fact in page.shows if not fact.endswith("#count")]  # it tells no number of things
        if page.name == "entity":
            listed = [a.label for a in self.main.attributes if a.listed]
            shows += [
                fact_name(e.slug, label) for e in self.related(page.data["entity"]) for label in ("Name", *listed)
            ]
        return replace(page, shows=tuple(shows))

    def picture(self, entity: Entity) -> str:
        return "" if self.on_grid else self.drawing(entity)

    def entity_page(self, collection: Collection, entity: Entity, tried: Form | None = None) -> Page:
        if not self.on_grid:
            entity = replace(entity, texts=self.story(entity))
        return super().entity_page(collection, entity, tried)

    def cards(self, collection: Collection, entities: list[Entity]) -> tuple[Card, ...]:
        cards = super().cards(collection, entities)
        if self.on_grid:
            return cards
        return tuple(replace(card, text=self.story(e)[-1]) for card, e in zip(cards, entities, strict=True))

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        if page.name != "entity" or self.on_grid:
            return []
        return [Cards(self.cards(self.main, self.related(page.data["entity"])), self.say("related"))]

    def paths(self) -> Iterator[str]:
        if not self.on_grid:
            yield from super().paths()
            return
        yield "/"
        order = next(a.key for a in self.main.attributes if a.sort)
        for group, entities in self.groups.items():
            for sort, query in product(("", order), ({}, *(each.query for each in self.filters()))):
                found = self.main.find(self.main.asked({self.section: group, **query}))
                yield from (
                    self.list_path(group, page=page, sort=sort, **query)
                    for page in range(1, self.pages(len(found)) + 1)
                )
            yield href("/search", q=entities[0].name.split()[-1].lower())
        for entity in self.main.entities:
            yield self.thing_path(entity)
            yield from (self.outward(f"{action.path(entity)}/done") for action in self.actions)
            yield href("/search", q=entity.name.lower())
        for adjective in sorted({entity.name.split()[0] for entity in self.main.entities}):
            yield href("/search", q=adjective.lower())

    def way_to(self, path: str) -> tuple[str, str]:
        parts = urlsplit(self.inward(path))
        query = dict(parse_qsl(parts.query))
        match parts.path.strip("/").split("/"):
            case [self.main.slug] if self.section in query:
                group = query.pop(self.section)
                if not query:
                    return "/", group.title()
                before, label = super().way_to(href(parts.path, **query))
                narrowed = dict(parse_qsl(urlsplit(before).query))
                return self.outward(href(parts.path, **{**narrowed, self.section: group})), label
            case [self.main.slug, name] if self.on_grid:
                entity = self.main.by_slug[name]
                group = str(entity.values[self.section])
                return self.list_path(group, page=self.groups[group].index(entity) // self.per_page + 1), entity.name
        before, label = super().way_to(self.inward(path))
        return self.outward(before), label

    def reason(self, path: str) -> str:
        collection, _, name = urlsplit(self.inward(path)).path.strip("/").partition("/")
        if collection != self.main.slug or name not in self.main.by_slug:
            return ""
        name = self.main.by_slug[name].name
        return f"{name} is a {name.split()[-1]}."

    def compact(self, page: Page, overlay: Overlay) -> list[grid.Row] | None:
        if not self.on_grid:
            return None
        return grid.frame(self.look, self.rows(page), page.data.get("q", ""), self.corner(overlay))

    def rows(self, page: Page) -> list[grid.Row]:
        """The body of a compact page."""
        if page.name in ("list", "search"):
            return self._found_rows(page)
        if page.name == "entity":
            return self._entity_rows(page.data["entity"])
        return [grid.title_row(page.title, self.look.compact.title), *self.section_rows()]

    def section_rows(self) -> list[grid.Row]:
        return grid.item_rows(self.look, [(group, self.list_path(group), "") for group in self.groups])

    def card_rows(self, entities: list[Entity]) -> list[grid.Row]:
        """Entities as a compact list shows them."""
        cards = self.cards(self.main, entities)
        numbers = [card.facts[0][1] if card.facts else "" for card in cards]
        return grid.item_rows(
            self.look, [(c.name, self.outward(c.href), n) for c, n in zip(cards, numbers, strict=True)]
        )

    def lead_rows(self, entity: Entity) -> list[grid.Row]:
        """What stands beside the facts of an entity: its text."""
        return [row for text in entity.texts for row in grid.paragraph(text, self.look.compact.indent)]

    def _found_rows(self, page: Page) -> list[grid.Row]:
        look, blocks = self.look, page.data["blocks"]
        cards = next(block for block in blocks if isinstance(block, Cards))
        pager = next(block for block in blocks if isinstance(block, Pager))
        note = f"{pager.page} of {pager.pages}" if page.name == "list" else str(page.data["count"])
        found = self.card_rows([self.main.by_slug[card.slug] for card in cards.cards])
        if not found:
            found = [grid.text_row(look.words["none"], indent=look.compact.indent)]
        turns = (("prev", pager.page - 1), ("next", pager.page + 1))
        ways = [
            (look.words[turn], self.outward(href(pager.path, **{**pager.query, "page": number})), False)
            for turn, number in turns
            if 1 <= number <= pager.pages
        ]
        filters = [row for block in blocks if isinstance(block, Filters) for row in self._filter_rows(block)]
        above, below = (filters, []) if look.compact.filters == "above" else ([], filters)
        title = grid.title_row(page.title, look.compact.title, note)
        return [title, *above, *found, *([grid.choice_row(ways)] if ways else []), *below]

    def _filter_rows(self, block: Filters) -> list[grid.Row]:
        """Blocks that switch a filter on, or off again where it is on."""
        out = []
        for _, key, choices in block.groups:
            switches = []
            for choice in choices:
                on = block.query.get(key) == choice.value
                to = href(block.path, **{**block.query, key: "" if on else choice.value})
                switches.append((choice.text, self.outward(to), on))
            out += grid.choice_rows(switches) if key != self.section else []
        return out

    def _entity_rows(self, entity: Entity) -> list[grid.Row]:
        look = self.look
        facts = [grid.fact_row(look, each.label, each.show(entity.values[each.key])) for each in self.known(entity)]
        lead, group = self.lead_rows(entity), str(entity.values[self.section])
        about = [*lead, *facts] if look.compact.button_first else [*facts, *lead]
        up = grid.item_rows(look, [(group, self.list_path(group), "")])
        related = self.card_rows(self.related(entity))
        heading = [grid.text_row(look.words["related"], style="heading", tag="h2")] if related else []
        return [grid.title_row(entity.name, look.compact.title), *about, *up, *heading, *related]
