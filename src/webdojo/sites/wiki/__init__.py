"""Wikis: articles by topic with numbers to look up, search, filters, sorting and links between articles."""

from __future__ import annotations

import random
from types import MappingProxyType

from markupsafe import Markup

from webdojo.sites.actions import Action, when
from webdojo.sites.blocks import Block, Field, Post, Posts
from webdojo.sites.catalog import Collection, Entity, made_about
from webdojo.sites.compact_goals import open_first, open_list, open_page, open_result, open_thing, read, search
from webdojo.sites.content import prose
from webdojo.sites.content.people import USERS, people
from webdojo.sites.content.words import items
from webdojo.sites.design.pictures import picture
from webdojo.sites.site import Overlay, Page
from webdojo.sites.sized import SizedSite
from webdojo.sites.wiki import content, goals

_REMARKS = items(
    "The picture shows another place, Please name the sources, I was there last summer and can confirm this, This "
    "paragraph says the same thing twice, There is a better map in the town hall, Who wrote the part about the "
    "railway"
)
_PARTS = ("Introduction", "History", "Numbers", "Picture")


WATCH = Action(
    "watch",
    "Follow",
    "You follow {name} now.",
    ("follow {name}", "put {name} on my watch list", "start to follow the article {name}"),
    collection="articles",
    sets={"watched": "yes"},
    refuses=when(("watched", "yes", "already on your watch list")),
)
DISCUSS = Action(
    "discuss",
    "Comment",
    "Your remark on {name} is there.",
    (
        "write the remark “{text}” on {name} as {reader}",
        "leave the remark “{text}” on {name}, signed {reader}",
        "add to the discussion of {name}: “{text}”, signed {reader}",
    ),
    collection="articles",
    fields=(Field("reader", "Name", options=USERS), Field("text", "Remark", "textarea", _REMARKS)),
    makes="remarks",
    refuses=when(("status", "Protected", "protected")),
)
REPORT = Action(
    "report",
    "Report",
    "Thank you for your report on {name}.",
    (
        "report a mistake in the part {part} of {name}: “{text}”",
        "tell the editors of {name} “{text}”, about the part {part}",
        "file a report on {name} about the part {part} that says “{text}”",
    ),
    collection="articles",
    fields=(Field("part", "Part", "radio", _PARTS), Field("text", "What is wrong?", "textarea", _REMARKS)),
    makes="reports",
)


class Wiki(SizedSite):
    """One wiki."""

    kind = "wiki"
    section, lists, things = "topic", "t", "a"
    narrowing = ("region",)
    makers = MappingProxyType(
        {
            1: (open_list, open_list, search),
            2: (open_thing, open_thing, open_result, open_page),
            3: (goals.narrow, open_first, read, read),
            4: (goals.compare, goals.read_oldest, goals.open_oldest_region, goals.read_oldest_region),
        }
    )

    def draw(self, rng: random.Random) -> list[Collection]:
        self.tagline = rng.choice(prose.MOTTOS)
        self.headings = (self.look.heading,)
        editors = [] if self.layout == "compact" else people(rng, 8)
        self.actions = (WATCH, DISCUSS, REPORT) if editors else ()
        articles, self._related = content.articles(self.seed, editors)
        return [articles]

    def story(self, entity: Entity) -> tuple[str, ...]:
        return tuple(prose.article(entity.name, entity.name.split()[-1], str(entity.values["region"])))

    def drawing(self, entity: Entity) -> Markup:
        return Markup(picture(entity.name, entity.name.split()[-1]))

    def related(self, entity: Entity) -> list[Entity]:
        return [self.main.by_slug[slug] for slug in self._related[entity.slug]]

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        related = super().extra(page, overlay)
        made = made_about("remarks", page.data["entity"].slug, overlay.state) if page.name == "entity" else []
        said = tuple(Post(str(own["reader"]), str(own["text"])) for own in made)
        return [Posts("Discussion", said), *related] if said else related
