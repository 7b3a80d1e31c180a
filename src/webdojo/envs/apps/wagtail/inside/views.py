"""Pages of the magazine that are no pages of Wagtail's tree: lists by author and category, and the search."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.core.paginator import Paginator
from django.shortcuts import get_object_or_404, render
from wagtail.models import Page
from webdojo_application.models import PAGE_SIZE, ArticlePage, Author, Category, HomePage


def sections(request: Any) -> dict[str, Any]:
    """The pages below the home page, for the menu."""
    home = HomePage.objects.first()
    return {"sections": home.get_children().live() if home and not request.path.startswith("/admin/") else []}


def by_author(request: Any, slug: str) -> Any:
    author = get_object_or_404(Author, slug=slug)
    articles = ArticlePage.objects.live().filter(author=author).order_by("title")
    return _list(request, f"Articles by {author}", articles, about=author.job)


def in_category(request: Any, slug: str) -> Any:
    category = get_object_or_404(Category, slug=slug)
    articles = ArticlePage.objects.live().filter(category=category).order_by("title")
    return _list(request, f"Articles about {category}", articles)


def search(request: Any) -> Any:
    query = request.GET.get("query", "")
    found = Page.objects.live().specific().search(query, operator="and") if query else Page.objects.none()
    return _list(request, "Search results", found, query=query, kept=f"query={quote(query)}&")


def _list(request: Any, heading: str, pages: Any, **more: Any) -> Any:
    listed = Paginator(pages, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(
        request,
        "magazine/found.html",
        {"heading": heading, "listed": listed, "count": listed.paginator.count, **more},
    )
