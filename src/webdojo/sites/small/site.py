"""Small sites of the kinds that are not shops or wikis, on the same grid: for models with small eyes.

| path | page |
|---|---|
| `/list/<section>?…` | things of a section; one filter, one order, pages |
| `/item/<slug>` | a thing, with the one button of its kind; pressing it leads to `…/<action>/done` |
| `/search?q=` | things whose name holds every word of q |

The corner of every page links to the site's partner: the site of another kind that has the same seed.
"""

from __future__ import annotations

import random
from dataclasses import replace

from webdojo.sites import host_of
from webdojo.sites.actions import Action
from webdojo.sites.catalog import Attribute, Collection, Entity, Value
from webdojo.sites.compact import Form, Row, action_row, text_row, title_row
from webdojo.sites.content.words import ADJECTIVES, plural, slug
from webdojo.sites.pages import made
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.sized import SizedSite
from webdojo.sites.small.kinds import SmallKind

SECTIONS, IN_SECTION = 5, 12
ACTED = "acted"
"""Key of the attribute that the button of a thing sets."""
_VALUES = 4
"""Values of its filter that a site has."""
_ORDERS, _NUMBERS = range(2, 100), range(20, 990)
_HEADINGS = ("Welcome", "Topics", "Items")


class SmallSite(SizedSite):
    """A small site; `small.KINDS` has a subclass for each kind."""

    layout = "grid"
    section, lists, things = "section", "list", "item"
    content: SmallKind
    beside: type[SmallSite]
    """The kind of its partner."""

    def draw(self, rng: random.Random) -> list[Collection]:
        content = self.content
        self.headings, self.tagline = _HEADINGS, ""
        self.narrowing = (content.filter.key,)
        button = rng.choice(content.button)
        self.actions = (Action("act", button, "{name} is done.", collection=self.kind).setting(**{ACTED: "yes"}),)
        return [_things(self.kind, content, rng)]

    @property
    def partner(self) -> SmallSite:
        """The site that its pages link to."""
        site = made(self.beside, self.seed)
        assert isinstance(site, SmallSite)
        return site

    def corner(self, overlay: Overlay) -> tuple[str, str]:
        return self.content.partner.title(), f"http://{host_of(self.content.partner, self.seed)}/"

    def related(self, entity: Entity) -> list[Entity]:
        return []

    def drawing(self, entity: Entity) -> str:
        return ""

    def story(self, entity: Entity) -> tuple[str, ...]:
        return ()

    def inward(self, path: str) -> str:
        match path.partition("?")[0].strip("/").split("/"):
            case [self.things, name, key, "done"]:
                return f"/{self.main.slug}/{name}/{key}/done"
        return super().inward(path)

    def outward(self, path: str) -> str:
        match path.strip("/").split("/"):
            case [self.main.slug, name, key, "done"]:
                return f"/{self.things}/{name}/{key}/done"
        return super().outward(path)

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        (action,) = self.actions
        match (request.method, *request.path.strip("/").split("/")):
            case ["POST", self.things, name, action.key] if name in self.main.by_slug:
                it = self.main.by_slug[name]
                overlay.state.update(action.change({}, it, overlay.state))
                return Redirect(self.outward(f"{action.path(it)}/done"))
        return super().respond(request, overlay)

    def rows(self, page: Page) -> list[Row]:
        if page.name != "done":
            return super().rows(page)
        name = text_row(page.data["entity"].name, indent=self.look.compact.indent)
        return [title_row(page.title, self.look.compact.title), name, *self.section_rows()]

    def lead_rows(self, entity: Entity) -> list[Row]:
        (action,) = self.actions
        form = Form(f"{self.thing_path(entity)}/{action.key}", "post")
        return [action_row(action.button, self.look.compact.button, form)]


def _things(kind: str, content: SmallKind, rng: random.Random) -> Collection:
    values = rng.sample(content.values, _VALUES)
    numbers = [Attribute(label.lower(), label, "number") for label in content.numbers]
    attributes = (
        Attribute("section", "Section", filter="is"),
        replace(content.order, sort=rng.choice(content.orders)),
        content.filter,
        *numbers,
        Attribute(ACTED, "Done", asked=False),
    )
    things: list[Entity] = []
    for noun in rng.sample(content.nouns, SECTIONS):
        orders = rng.sample(_ORDERS, IN_SECTION)
        of_each = [*values, *values, *rng.choices(values, k=IN_SECTION - 2 * len(values))]
        rng.shuffle(of_each)
        columns = [rng.sample(_NUMBERS, IN_SECTION) for _ in numbers]
        for adjective, order, value, *others in zip(
            rng.sample(ADJECTIVES, IN_SECTION), orders, of_each, *columns, strict=True
        ):
            known: dict[str, Value] = {
                "section": plural(noun),
                content.order.key: order,
                content.filter.key: value,
                **{each.key: number for each, number in zip(numbers, others, strict=True)},
            }
            name = f"{adjective} {noun}"
            things.append(Entity(slug(name), name, known))
    limits = {content.filter.key: values}
    return Collection(kind, kind.title(), content.noun, f"{content.noun}s", attributes, tuple(things), limits)
