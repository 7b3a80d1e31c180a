"""A wiki's pages in the compact layout; the look decides order, wording and shape of the blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.sites.compact import Row, choice_row, paragraph, search_row, text_row, title_row
from webdojo.sites.content.words import REGIONS
from webdojo.sites.frame import fact_row, frame, item_rows, pager_rows
from webdojo.sites.site import Page, href

if TYPE_CHECKING:
    from webdojo.sites.wiki.content import Article
    from webdojo.sites.wiki.pages import Wiki


def rows(wiki: Wiki, page: Page) -> list[Row]:
    """All rows of a page, header and search included."""
    look = wiki.look
    body = {"home": _home, "list": _list, "search": _search, "article": _article, "missing": _home}[page.name](
        wiki, page
    )
    search = search_row(look.words["search"], look.words["go"], page.data.get("q", ""), look.compact.go_left)
    return frame(look, body, search, None)


def _home(wiki: Wiki, page: Page) -> list[Row]:
    topics = [(t.name, f"/t/{t.slug}", "") for t in wiki.content.topics.values()]
    return [title_row(page.title, wiki.look.compact.title), *item_rows(wiki.look, topics)]


def _articles(wiki: Wiki, items: list[Article]) -> list[Row]:
    found = item_rows(wiki.look, [(a.name, f"/a/{a.slug}", "") for a in items])
    return found or [text_row(wiki.look.words["none"], indent=wiki.look.compact.indent)]


def _list(wiki: Wiki, page: Page) -> list[Row]:
    look, data = wiki.look, page.data
    title = title_row(page.title, look.compact.title, f"{data['page']} of {data['pages']}")
    pager = pager_rows(look, data["path"], data["query"], data["page"], data["pages"])
    filters = _filters(wiki, data["path"], data["query"])
    found = _articles(wiki, data["items"])
    if look.compact.filters == "above":
        return [title, *filters, *found, *pager]
    return [title, *found, *pager, *filters]


def _filters(wiki: Wiki, path: str, query: dict[str, str]) -> list[Row]:
    """Blocks that switch a filter on, or off again where it is on."""

    def choice(text: str, key: str, value: str) -> tuple[str, str, bool]:
        on = query.get(key) == value
        return text, href(path, **{**query, key: "" if on else value}), on

    regions = [choice(region, "region", region.lower()) for region in REGIONS]
    return [
        choice_row([choice(wiki.look.words["oldest"], "sort", "year")]),
        choice_row(regions[:2]),
        choice_row(regions[2:]),
    ]


def _search(wiki: Wiki, page: Page) -> list[Row]:
    look, data = wiki.look, page.data
    pager = pager_rows(look, data["path"], data["query"], data["page"], data["pages"])
    return [title_row(page.title, look.compact.title, str(data["count"])), *_articles(wiki, data["items"]), *pager]


def _article(wiki: Wiki, page: Page) -> list[Row]:
    look, article = wiki.look, page.data["article"]
    facts = [fact_row(look, label, value) for label, value in article.facts().items()]
    text = paragraph(article.text, look.compact.indent)
    topic = page.data["topic"]
    return [
        title_row(article.name, look.compact.title),
        *([*text, *facts] if look.compact.button_first else [*facts, *text]),
        *item_rows(look, [(topic.name, f"/t/{topic.slug}", "")]),
        text_row(look.words["related"], style="heading", tag="h2"),
        *item_rows(look, [(a.name, f"/a/{a.slug}", "") for a in page.data["related"]]),
    ]
