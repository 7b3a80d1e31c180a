"""A wiki's pages.

| path | page |
|---|---|
| `/` | home: topics and search |
| `/t/<topic>` | list; query: region, sort=year, page |
| `/a/<article>` | article |
| `/search?q=` | articles whose name holds every word of q |
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites.compact import Row
from webdojo.sites.content import words
from webdojo.sites.full import wiki_view
from webdojo.sites.site import Overlay, Page, Redirect, Request, href
from webdojo.sites.sized import SizedSite
from webdojo.sites.wiki import compact
from webdojo.sites.wiki.content import Article, WikiContent, make_content, make_large_content


class Wiki(SizedSite):
    """One wiki."""

    kind = "wiki"

    @cached_property
    def content(self) -> WikiContent:
        return make_large_content(self.seed) if self.large else make_content(self.seed)

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        match request.path.strip("/").split("/"):
            case [""]:
                return Page("home", self.look.heading)
            case ["t", slug] if slug in self.content.topics:
                return self._list(slug, request.values)
            case ["a", slug] if slug in self.content.articles:
                return self._article(self.content.articles[slug])
            case ["search"]:
                return self._search(request.values)
        return Page("missing", "Page not found", status=404)

    def compact(self, page: Page, overlay: Overlay) -> list[Row]:
        return compact.rows(self, page)

    def view(self, page: Page) -> dict[str, Any]:
        return wiki_view(self, page)

    def paths(self) -> Iterator[str]:
        yield "/"
        for slug, topic in self.content.topics.items():
            for sort in ("", "year"):
                for filters in ({}, *({"region": region.lower()} for region in words.REGIONS)):
                    for page in range(1, self.pages(len(self.matching(slug, filters))) + 1):
                        yield href(f"/t/{slug}", page=page, sort=sort, **filters)
            yield href("/search", q=topic.noun.lower())
        for slug, article in self.content.articles.items():
            yield f"/a/{slug}"
            yield href("/search", q=article.name.lower())
        for adjective in sorted({a.name.split()[0] for a in self.content.articles.values()}):
            yield href("/search", q=adjective.lower())

    def way_to(self, path: str) -> tuple[str, str]:
        words = self.look.words
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        match parts.path.strip("/").split("/"):
            case ["t", slug]:
                if "page" in query:
                    return href(parts.path, **{**query, "page": int(query["page"]) - 1}), words["next"]
                if "sort" in query:
                    del query["sort"]
                    return href(parts.path, **query), words["oldest"]
                if "region" in query:
                    return parts.path, query["region"].title()
                return "/", self.content.topics[slug].name
            case ["a", slug]:
                article = self.content.articles[slug]
                place = self.content.topics[article.topic].articles.index(article) // self.per_page
                return href(f"/t/{article.topic}", page=place + 1), article.name
        return "/", words["home"]

    def reason(self, path: str) -> str:
        match urlsplit(path).path.strip("/").split("/"):
            case ["a", slug]:
                article = self.content.articles[slug]
                return f"{article.name} is a {article.noun}."
        return ""

    def matching(self, topic: str, values: dict[str, str]) -> list[Article]:
        """Articles of a topic under the filter and in the order of a query."""
        found = list(self.content.topics[topic].articles)
        if values.get("region"):
            found = [a for a in found if a.region.lower() == values["region"].lower()]
        if values.get("sort") == "year":
            found.sort(key=lambda a: a.year)
        return found

    def _list(self, slug: str, values: dict[str, str]) -> Page:
        topic = self.content.topics[slug]
        found = self.matching(slug, values)
        items, page, pages = self.paged(found, values)
        query = {k: values[k] for k in ("region", "sort") if values.get(k)}
        data = {
            "topic": topic, "items": items, "page": page, "pages": pages, "query": query, "count": len(found),
            "path": f"/t/{slug}",
        }  # fmt: skip
        shows = tuple(f"{a.slug}.Region" for a in items) if "region" in query else ()
        return Page("list", topic.name, data, shows)

    def _article(self, article: Article) -> Page:
        related = [self.content.articles[slug] for slug in article.related]
        data = {"article": article, "topic": self.content.topics[article.topic], "related": related}
        return Page("article", article.name, data, tuple(f"{article.slug}.{label}" for label in article.facts()))

    def _search(self, values: dict[str, str]) -> Page:
        text = values.get("q", "")
        wanted = text.lower().split()
        found = [a for a in self.content.articles.values() if wanted and all(w in a.name.lower() for w in wanted)]
        items, page, pages = self.paged(found, values)
        data = {
            "q": text, "items": items, "page": page, "pages": pages, "count": len(found), "query": {"q": text},
            "path": "/search",
        }  # fmt: skip
        return Page("search", self.look.words["results"], data)
