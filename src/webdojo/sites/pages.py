"""The pages of a catalogue site, from what its kind says of collections and actions.

| path | page |
|---|---|
| `/` | home: the collections and a few picks |
| `/<collection>` | list; query: one key for each filter, `sort`, `page` |
| `/<collection>/<slug>` | an entity, with the forms of its actions; a form is sent to `…/<action>` |
| `/<collection>/<slug>/<action>/done` | what follows |
| `/<collection>/<slug>/<action>/2` | the second page of an action that has several |
| `/do/<action>` | the form of an action that needs no entity; `/do/<action>/done` follows |
| `/embed` | a few of its things, to be shown in a frame of another site |
| `/search?q=` | entities whose name holds every word of q |

A kind is a subclass: it draws `collections`, lists `actions`, and may add blocks to any page. A site is immutable and
shared by all sessions: it touches nothing but the `Overlay` handed to it, which belongs to one session on one host.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites import host_of
from webdojo.sites.actions import Action, step_at, step_page
from webdojo.sites.blocks import (
    Block,
    Card,
    Cards,
    Choice,
    Details,
    Filters,
    Form,
    Frame,
    Heading,
    Hero,
    Notice,
    Offer,
    Pager,
)
from webdojo.sites.catalog import (
    Attribute,
    Collection,
    Constraint,
    Entity,
    count_fact,
    fact_name,
    found_fact,
    listed_fact,
    order_fact,
    told_fact,
)
from webdojo.sites.compact import Row
from webdojo.sites.design.look import CatalogLook, Look, make_catalog_look, make_look
from webdojo.sites.design.pictures import emblem, scene
from webdojo.sites.goal import Goal
from webdojo.sites.site import Overlay, Page, Redirect, Request, href

T = TypeVar("T")
_EMBEDDED = 3


class CatalogSite(ABC):
    """One site, of a (kind, seed), whose pages follow from its collections and actions."""

    kind: str
    layout: str = ""
    """The layout that its tasks are about; empty: they are the same in all."""
    collections: dict[str, Collection]
    """What it is about, by slug; the first is the one that the site is about."""
    actions: tuple[Action, ...] = ()
    menu: tuple[Action, ...] = ()
    """Actions without fields that only the menu of a right click on a thing in a list offers."""
    goals: tuple[Callable[[Any, int, random.Random], Goal | None], ...] = ()
    """Makers of goals that only this kind has, as those in `catalog_goals.py`."""
    ways: Mapping[str, tuple[str, str]] = MappingProxyType({})
    """Pages that only this kind has: by path, the page that links to it and what that link says."""
    tagline: str
    headings: tuple[str, ...]
    """For the home page; the seed picks one."""
    pictured: bool = True
    """Its things may have pictures."""
    new_tabs: bool = False
    """Its lists may open things in tabs of their own."""

    def __init__(self, seed: int, layout: str = "") -> None:
        self.seed = seed
        self.layout = layout or self.layout
        self.host = host_of(self.kind, seed)
        self.look: Look = make_look(self.kind, seed)
        self.skin = self.make_skin()
        self.look = replace(self.look, palette=self.skin.palette)
        self.collections = {c.slug: c for c in self.draw(random.Random(f"{self.kind}-{seed}"))}

    def make_skin(self) -> CatalogLook:
        """How its pages look, beyond `look`."""
        skin = make_catalog_look(self.kind, self.seed)
        return replace(skin, pictures=skin.pictures and self.pictured)

    @abstractmethod
    def draw(self, rng: random.Random) -> list[Collection]:
        """Its content; the first collection is the one that the site is about."""

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        """Blocks that the kind adds to a page, before its forms; none here."""
        return []

    def say(self, text: str) -> str:
        """The site's own word for a control."""
        return self.skin.words.get(text, text)

    def order_text(self, attribute: Attribute) -> str:
        """What the control says that orders a list by an attribute."""
        return self.say(attribute.sort)

    def collection(self, slug: str, overlay: Overlay) -> Collection:
        """A collection as a session sees it."""
        return self.collections[slug].changed(overlay.state)

    @cached_property
    def main(self) -> Collection:
        return next(iter(self.collections.values()))

    def own_goal(self, difficulty: int, rng: random.Random) -> Goal | None:
        """Draw a goal where the site has none of those that catalogue sites share; here it has them."""
        return None

    def corner(self, overlay: Overlay) -> tuple[str, str] | None:
        """Text and address of the link in the corner of every page; None: there is none."""
        return None

    def embedded(self) -> list[Entity]:
        """What the box shows that other sites embed."""
        return random.Random(f"{self.host}-embed").sample(self.main.entities, _EMBEDDED)

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        """Answer a request; changes only `overlay`."""
        parts = request.path.strip("/").split("/")
        found: Page | Redirect | None = None
        match parts:
            case [""]:
                found = self._home(overlay)
            case ["search"]:
                found = self._search(request.values, overlay)
            case ["embed"]:
                found = self._embed(overlay)
            case ["do", key, *rest] if (action := self._action(key, "")) is not None:
                found = self._do(action, None, rest, request, overlay)
            case [slug] if slug in self.collections:
                found = self._list(self.collection(slug, overlay), request.values)
            case [slug, name] if slug in self.collections:
                collection = self.collection(slug, overlay)
                if name in collection.by_slug:
                    found = self.entity_page(collection, collection.by_slug[name])
            case [slug, name, key, *rest] if (action := self._action(key, slug)) is not None:
                gone = self.collections[slug].by_slug.get(name) if rest == ["done"] else None
                if (entity := self.collection(slug, overlay).by_slug.get(name, gone)) is not None:
                    found = self._do(action, entity, rest, request, overlay)
        page = found or Page("missing", "Page not found", {"blocks": [Heading("Page not found")]}, status=404)
        if isinstance(page, Page) and not page.data.get("bare"):
            blocks = page.data["blocks"]
            end = next((i for i, block in enumerate(blocks) if isinstance(block, Form | Notice)), len(blocks))
            blocks[end:end] = self.extra(page, overlay)
        return page

    def compact(self, page: Page, overlay: Overlay) -> list[Row] | None:
        """Lay a page out on the grid of the compact layout; None: its template serves both layouts."""
        return None

    def sections(self) -> list[tuple[str, str]]:
        """Text and address of what the navigation offers."""
        lists = [(collection.name, f"/{collection.slug}") for collection in self.collections.values()]
        forms = [(self.say(action.button), action.path(None)) for action in self.actions if not action.collection]
        return [*lists, *forms, *((text, path) for path, (above, text) in self.ways.items() if above == "/")]

    def paths(self) -> Iterator[str]:
        """Every page of the site that a GET request shows, home first, as path with query."""
        yield from ("/", *(action.path(None) for action in self.actions if not action.collection))
        for slug, collection in self.collections.items():
            for page in range(1, self.pages(len(collection.entities)) + 1):
                yield href(f"/{slug}", page=page)
            steps = [a for a in self.actions if a.collection == slug and (a.steps or a.framed)]
            for entity in collection.entities:
                yield f"/{slug}/{entity.slug}"
                yield from (a.path(entity) for a in steps if a.offered(entity) and not a.refuses(entity))
        yield from self.ways

    def way_to(self, path: str) -> tuple[str, str]:
        """The page that links to `path` on the way from home, and what that link says."""
        if path in self.ways:
            return self.ways[path]
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        match parts.path.strip("/").split("/"):
            case [slug] if slug in self.collections:
                collection = self.collections[slug]
                if "page" in query:
                    return href(parts.path, **{**query, "page": int(query["page"]) - 1}), self.look.words["next"]
                if query:
                    key = "sort" if "sort" in query else list(query)[-1]
                    value = query.pop(key)
                    label = collection.asked({key: value})[0].label if key != "sort" else ""
                    return href(parts.path, **query), label or self.order_text(collection.by_key[value])
                return "/", collection.name
            case [slug, name] if slug in self.collections:
                entity = self.collections[slug].by_slug.get(name)
                return f"/{slug}", entity.name if entity is not None else name
            case [slug, name, key] if (action := self._action(key, slug)) is not None:
                return f"/{slug}/{name}", self.say(action.button)
            case ["do", key] if (action := self._action(key, "")) is not None:
                return "/", self.say(action.button)
            case [*before, step] if step.isdecimal():
                return f"/{'/'.join(before)}" + (f"/{int(step) - 1}" if int(step) > 2 else ""), f"Step {step}"
        return "/", self.look.words["home"]

    def reason(self, path: str) -> str:
        """Why the way leads through `way_to(path)`, if the names do not say it: `Red Mug is a Mug.`; else empty."""
        return ""

    @property
    def per_page(self) -> int:
        """How many things one page of a list shows."""
        return self.skin.per_page

    def pages(self, count: int) -> int:
        """How many pages a list of `count` things has; an empty list has one."""
        return max(1, -(-count // self.per_page))

    def paged(self, found: Sequence[T], values: dict[str, str]) -> tuple[list[T], int, int]:
        """The things on the page that a query asks for, that page (1 and up), and how many there are."""
        pages = self.pages(len(found))
        asked = values.get("page", "1")
        page = min(max(int(asked), 1), pages) if asked.isdecimal() else 1
        start = (page - 1) * self.per_page
        return list(found[start : start + self.per_page]), page, pages

    def url(self, path: str = "/") -> str:
        """Absolute URL of a path of this site."""
        return f"http://{self.host}{path}"

    def _action(self, key: str, collection: str) -> Action | None:
        return next((a for a in (*self.actions, *self.menu) if a.key == key and a.collection == collection), None)

    def _home(self, overlay: Overlay) -> Page:
        rng = random.Random(f"{self.host}-home")
        heading = rng.choice(self.headings)
        picture = partial(scene, self.host, self.skin.scene) if self.skin.hero in ("art", "split") else None
        ways = Cards(tuple(Card(text, to) for text, to in self.sections()), self.say("Where to go"), "ways")
        collections = [self.collection(slug, overlay) for slug in self.collections]
        shown = [each for each in collections if each.entities][: None if self.skin.home == "rich" else 1]
        blocks: list[Block] = []
        for each in shown:
            picks = rng.sample(each.entities, min(self.skin.picks, len(each.entities)))
            blocks.append(Cards(self.cards(each, picks), each.name if blocks else self.say("Just in")))
        if self.skin.home != "plain":
            blocks.insert(0 if self.skin.home == "sections" else len(blocks), ways)
        head = Hero(heading, f"{self.tagline}.", picture)
        return Page("home", heading, {"blocks": [head, *blocks]})

    def _list(self, collection: Collection, values: dict[str, str]) -> Page:
        constraints = collection.asked(values)
        sort = values.get("sort", "")
        found = collection.find(constraints, sort)
        entities, page, pages = self.paged(found, values)
        query = {c.attribute.key: values[c.attribute.key] for c in constraints}
        if sort in collection.by_key and collection.by_key[sort].sort:
            query["sort"] = sort
        path = f"/{collection.slug}"
        noun = collection.noun if len(found) == 1 else collection.nouns
        title = self.list_title(collection, constraints)
        blocks = [
            Heading(title, f"{len(found)} {noun}", ((self.look.words["home"], "/"),)),
            self._filters(collection, query),
            Cards(self.cards(collection, entities)),
            Pager(path, query, page, pages),
        ]
        filters = {key: value for key, value in query.items() if key != "sort"}
        where = href(path, **filters)
        shows = [count_fact(where), *(listed_fact(entity.slug, where) for entity in entities)]
        shows += [told_fact(entity.slug, constraint) for entity in entities for constraint in constraints]
        if "sort" in query:
            shows += [order_fact(entity.slug, collection.by_key[sort].label, where) for entity in entities]
        return Page("list", title, {"blocks": blocks, "collection": collection}, tuple(shows))

    def list_title(self, collection: Collection, constraints: list[Constraint]) -> str:
        """What a list is called under these filters."""
        return collection.name

    def _filters(self, collection: Collection, query: Mapping[str, str]) -> Filters:
        groups = [
            (a.label, a.key, tuple(Choice(c.label, c.query[a.key]) for c in collection.constraints(a)))
            for a in collection.attributes
            if a.filter
        ]
        sorts = tuple(Choice(self.order_text(a), a.key) for a in collection.attributes if a.sort)
        if sorts:
            groups.insert(0 if self.skin.sort_first else len(groups), (self.say("Order"), "sort", sorts))
        return Filters(f"/{collection.slug}", query, tuple(groups))

    def entity_page(self, collection: Collection, entity: Entity, tried: Form | None = None) -> Page:
        """The page of an entity; `tried` is the form that was sent to it with a mistake."""
        known = [a for a in collection.attributes if entity.values.get(a.key, "") != ""]
        facts = tuple((a.label, a.show(entity.values[a.key])) for a in known)
        crumbs = ((self.look.words["home"], "/"), (collection.name, f"/{collection.slug}"))
        blocks: list[Block] = [
            Heading(entity.name, "", crumbs),
            Details(facts, entity.texts, self.picture(entity)),
        ]
        for action in self.actions:
            if action.collection != collection.slug or not action.offered(entity):
                continue
            button, path = self.say(action.button), action.path(entity)
            if reason := action.refuses(entity):
                blocks.append(Notice(button, f"Not possible: {reason}."))
            elif action.steps:
                titles = ", ".join(step.title for step in action.steps)
                blocks.append(Notice(button, f"Step by step: {titles}.", ((button, path),)))
            elif action.framed:
                blocks.append(Frame(button, path))
            else:
                blocks.append(tried if tried is not None and tried.action == path else self._form(action, entity))
        data = {"blocks": blocks, "collection": collection, "entity": entity}
        shows = (fact_name(entity.slug), *(fact_name(entity.slug, a.label) for a in known))
        return Page("entity", entity.name, data, shows, status=200 if tried is None else 422)

    def _do(
        self, action: Action, entity: Entity | None, rest: list[str], request: Request, overlay: Overlay
    ) -> Page | Redirect | None:
        if entity is not None and not action.offered(entity):
            return None
        if rest == ["done"]:
            text = action.done.format(name=entity.name if entity is not None else "")
            there = entity is not None and entity.slug in self.collection(action.collection, overlay).by_slug
            back = [(entity.name, f"/{action.collection}/{entity.slug}")] if entity is not None and there else []
            links = () if action.framed else (*back, (self.look.words["home"], "/"))
            title = self.say(action.after)
            data = {"blocks": [Notice(title, text, links)], "bare": action.framed, "entity": entity}
            return Page("done", title, data)
        if action.steps and (at := step_at(action, rest)) is not None:
            if entity is not None and action.refuses(entity):
                return self.entity_page(self.collection(action.collection, overlay), entity)
            return step_page(action, entity, at, request, overlay, self.say, self.look.words["home"])
        if rest:
            return None
        error = ""
        if request.method == "POST":
            reason = action.refuses(entity) if entity is not None else ""
            error = f"Not possible: {reason}." if reason else action.error(request.values)
            if not error:
                overlay.state.update(action.change(request.values, entity, overlay.state))
                return Redirect(f"{action.path(entity)}/done")
        form = self._form(action, entity, request.values, error)
        if entity is not None and not action.framed:
            return self.entity_page(self.collection(action.collection, overlay), entity, form)
        title = self.say(action.button)
        heading = [] if action.framed else [Heading(title, "", ((self.look.words["home"], "/"),))]
        return Page("form", title, {"blocks": [*heading, form], "bare": action.framed}, status=422 if error else 200)

    def _form(
        self, action: Action, entity: Entity | None, values: Mapping[str, str] | None = None, error: str = ""
    ) -> Form:
        fields = list(action.fields)
        if self.skin.shuffle_fields:
            random.Random(f"{self.host}-{action.key}").shuffle(fields)
        name = "" if entity is None else entity.name
        known = {} if entity is None or action.makes else {"name": name, **entity.values}
        now = {each.key: str(known.get(each.key, "")) or each.default.replace("{name}", name) for each in fields}
        return Form(
            action.path(entity), self.say(action.button), tuple(fields), "", {**now, **(values or {})}, error,
            action.confirm.format(name=name),
        )  # fmt: skip

    def _search(self, values: dict[str, str], overlay: Overlay) -> Page:
        text = values.get("q", "")
        wanted = text.lower().split()
        found = [
            (collection, entity)
            for slug in self.collections
            for collection in [self.collection(slug, overlay)]
            for entity in collection.entities
            if wanted and all(word in entity.name.lower() for word in wanted)
        ]
        shown, page, pages = self.paged(found, values)
        title = self.look.words["results"]
        cards = tuple(card for collection, entity in shown for card in self.cards(collection, [entity]))
        blocks = [
            Heading(title, f"{len(found)} for \u201c{text}\u201d", ((self.look.words["home"], "/"),)),
            Cards(cards),
            Pager("/search", {"q": text}, page, pages),
        ]
        shows = tuple(found_fact(entity.slug) for _, entity in shown)
        return Page("search", title, {"blocks": blocks, "q": text, "count": len(found)}, shows)

    def cards(self, collection: Collection, entities: list[Entity]) -> tuple[Card, ...]:
        """Entities as a list shows them."""
        listed = [a for a in collection.attributes if a.listed]
        return tuple(
            Card(
                entity.name,
                f"/{collection.slug}/{entity.slug}",
                self.picture(entity),
                tuple((a.label, a.show(entity.values[a.key])) for a in listed),
                slug=entity.slug,
                offers=self._offers(collection, entity),
                apart=self.new_tabs and self.skin.apart,
            )
            for entity in entities
        )

    def _offers(self, collection: Collection, entity: Entity) -> tuple[Offer, ...]:
        """What a right click on an entity offers; only where some things are offered nowhere else."""
        own = [action for action in self.menu if action.collection == collection.slug]
        quick = [a for a in self.actions if own and a.collection == collection.slug and not a.fields and not a.steps]
        return tuple(
            Offer(self.say(action.button), action.path(entity), action.confirm.format(name=entity.name))
            for action in (*own, *quick)
            if action.offered(entity) and not action.refuses(entity)
        )

    def _embed(self, overlay: Overlay) -> Page:
        """A box with a few of its things, for pages of other sites; what is in it opens in a tab of its own."""
        collection, picks = self.collection(self.main.slug, overlay), self.embedded()
        cards = tuple(replace(card, apart=True, offers=()) for card in self.cards(collection, picks))
        data = {"blocks": [Cards(cards, self.look.brand_text)], "bare": True}
        return Page("embed", self.look.brand, data)

    def inward(self, path: str) -> str:
        """The address that catalogue sites share for a page, from that of this layout; empty: there is no such page."""
        return path

    def picture(self, entity: Entity) -> str:
        """SVG of an entity; empty: it has none."""
        return emblem(entity.name, self.skin.art) if self.skin.pictures else ""


@lru_cache(maxsize=512)
def made(kind: type[CatalogSite], seed: int, layout: str = "") -> CatalogSite:
    """The site of a (kind, seed) for a layout; the same object while it stays in the cache."""
    return kind(seed, layout)
