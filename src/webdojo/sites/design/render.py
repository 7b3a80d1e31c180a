"""Turns a page into HTML: from rows where the site has some for the compact layout, else from the page's blocks."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from webdojo.sites.compact import Row
from webdojo.sites.kinds import load_site
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, href

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=lambda name: name is not None and name.endswith(".html"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(site: CatalogSite, page: Page, overlay: Overlay, layout: str) -> str:
    """HTML of a page for a layout."""
    rows = site.compact(page, overlay) if layout != "auto" else None
    if rows is not None:
        return compact_page(site, page.title, rows)
    template = "bare.html" if page.data.get("bare") else "page.html"
    own = {"sections": site.sections(), "tagline": site.tagline, "corner": site.corner(overlay), "skin": site.skin}
    values = {**page.data, **own, "page": page, "layout": layout, "say": site.say, "look": site.look.on(layout)}
    return fill(template, words=site.look.words, href=href, **values)


def compact_page(site: CatalogSite, title: str, rows: list[Row]) -> str:
    return fill("compact.html", title=title, look=site.look, css=compact_css(site.kind, site.seed), rows=rows)


def fill(template: str, **values: Any) -> str:
    return _templates.get_template(template).render(**values)


@lru_cache(maxsize=512)
def compact_css(kind: str, seed: int) -> str:
    """Style sheet of the compact pages of the site of a (kind, seed)."""
    return fill("compact.css", look=load_site(kind, seed, "grid").look)
