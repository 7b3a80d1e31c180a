"""Turns a page into HTML: from rows where the site has some for the compact layout, else from the page's blocks."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from webdojo.sites.kinds import load_site
from webdojo.sites.site import Overlay, Page, Site, href

LAYOUTS = ("auto", "compact")

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=lambda name: name is not None and name.endswith(".html"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(site: Site, page: Page, overlay: Overlay, layout: str) -> str:
    """HTML of a page for a layout of `LAYOUTS`."""
    rows = site.compact(page, overlay) if layout == "compact" else None
    if rows is not None:
        template = _templates.get_template("compact.html")
        css = compact_css(site.kind, site.seed)
        return template.render(title=page.title, look=site.look, css=css, rows=rows)
    template = _templates.get_template("bare.html" if page.data.get("bare") else "page.html")
    values = {**page.data, **site.view(page), "page": page, "layout": layout, "corner": site.corner(overlay)}
    return template.render(look=site.look, words=site.look.words, href=href, **values)


def fill(template: str, **values: Any) -> str:
    """A template with its values, for parts and pages that belong to no kind of site."""
    return _templates.get_template(template).render(**values)


@lru_cache(maxsize=512)
def compact_css(kind: str, seed: int) -> str:
    """Style sheet of the compact pages of the site of a (kind, seed)."""
    return _templates.get_template("compact.css").render(look=load_site(kind, seed, "compact").look)
