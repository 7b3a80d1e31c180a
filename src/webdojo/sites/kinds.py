"""Every kind of embedded site, and the way from a host name or a task to its site."""

from __future__ import annotations

import re

from webdojo.errors import SiteError
from webdojo.plugins import Registry, derived_from
from webdojo.sites import layout_of
from webdojo.sites.admin import Admin
from webdojo.sites.forms import Forms
from webdojo.sites.forum import Forum
from webdojo.sites.mail import Mail
from webdojo.sites.news import News
from webdojo.sites.pages import CatalogSite, made
from webdojo.sites.places import Places
from webdojo.sites.shop import Shop
from webdojo.sites.small import KINDS as SMALL
from webdojo.sites.tracker import Tracker
from webdojo.sites.travel import Travel
from webdojo.sites.wiki import Wiki
from webdojo.types import Task

KINDS: Registry[type[CatalogSite]] = Registry(
    "webdojo.sites",
    "kind of site",
    *derived_from(CatalogSite),
    {kind.kind: kind for kind in (Shop, Wiki, Travel, Tracker, Admin, Forms, Forum, Mail, News, Places)},
)
"""What `env.kinds` of a recipe may name."""

_HOST = re.compile(r"^([a-z]+)-(0|[1-9][0-9]{0,8})\.localhost$")


def parse_host(host: str) -> tuple[str, int]:
    """Kind and seed of a host name (a port after a colon is ignored)."""
    match = _HOST.match(host.partition(":")[0].lower())
    if match is None or match[1] not in KINDS:
        raise SiteError(f"{host!r} is no embedded site; hosts look like shop-17.localhost ({', '.join(KINDS)})")
    return match[1], int(match[2])


def load_site(kind: str, seed: int, layout: str = "auto") -> CatalogSite:
    """The site of a (kind, seed) as a layout shows it."""
    if kind not in KINDS:
        raise SiteError(f"unknown kind of site {kind!r}; kinds are {', '.join(KINDS)}")
    shown = layout_of(kind, layout)
    return made(SMALL[kind] if shown == "grid" else KINDS.get(kind), seed, shown)


def site_of(task: Task, host: str = "") -> CatalogSite:
    """The site that a task is about, or that of another host, in the layout that the task was drawn for."""
    return load_site(*parse_host(host or task.website), task.metadata.get("layout", "compact"))
