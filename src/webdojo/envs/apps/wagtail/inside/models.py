"""What a magazine is made of: sections with articles, events, a form to sign up with, authors and categories."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.db import models
from modelcluster.fields import ParentalKey
from wagtail.admin.panels import FieldPanel, InlinePanel
from wagtail.contrib.forms.models import AbstractForm, AbstractFormField
from wagtail.fields import RichTextField
from wagtail.models import Page
from wagtail.search import index
from wagtail.snippets.models import register_snippet

PAGE_SIZE = 20


@register_snippet
class Author(index.Indexed, models.Model):
    """Somebody who writes articles."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(unique=True)
    job = models.CharField(max_length=100)
    email = models.EmailField()

    panels = (FieldPanel("name"), FieldPanel("slug"), FieldPanel("job"), FieldPanel("email"))
    search_fields = (index.SearchField("name"), index.AutocompleteField("name"))

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return str(self.name)


@register_snippet
class Category(index.Indexed, models.Model):
    """What articles are about."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(unique=True)

    panels = (FieldPanel("name"), FieldPanel("slug"))
    search_fields = (index.SearchField("name"), index.AutocompleteField("name"))

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "categories"

    def __str__(self) -> str:
        return str(self.name)


class MagazinePage(Page):
    """What all pages of the magazine have in common."""

    preview_modes = ()

    class Meta:
        abstract = True

    def get_context(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Its children that are public, the latest first, a page at a time."""
        children = self.get_children().live().order_by("-first_published_at", "id").specific()
        listed = Paginator(children, PAGE_SIZE).get_page(request.GET.get("page"))
        return {**super().get_context(request, *args, **kwargs), "listed": listed}


class HomePage(MagazinePage):
    max_count = 1
    template = "magazine/list_page.html"


class SectionPage(MagazinePage):
    """A section, or the list of events."""

    parent_page_types = ("magazine.HomePage",)
    template = "magazine/list_page.html"


class ArticlePage(MagazinePage):
    intro = models.TextField(max_length=300)
    body = RichTextField(features=["bold", "italic", "link", "ul"], blank=True)
    author = models.ForeignKey(Author, on_delete=models.PROTECT, related_name="articles")
    category = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="articles")
    minutes = models.PositiveIntegerField("reading time (min)")
    image = models.ForeignKey(
        "wagtailimages.Image", null=True, blank=True, on_delete=models.SET_NULL, related_name="articles"
    )

    parent_page_types = ("magazine.SectionPage",)
    subpage_types = ()
    content_panels = (
        *Page.content_panels,
        *(FieldPanel(field) for field in ("intro", "body", "author", "category", "minutes", "image")),
    )
    search_fields = (*Page.search_fields, index.RelatedFields("author", [index.SearchField("name")]))


class EventPage(MagazinePage):
    date = models.DateField()
    place = models.CharField(max_length=100)
    fee = models.PositiveIntegerField("fee (£)")

    parent_page_types = ("magazine.SectionPage",)
    subpage_types = ()
    content_panels = (*Page.content_panels, FieldPanel("date"), FieldPanel("place"), FieldPanel("fee"))
    search_fields = (*Page.search_fields, index.SearchField("place"))


class FormField(AbstractFormField):
    page = ParentalKey("FormPage", on_delete=models.CASCADE, related_name="form_fields")


class FormPage(MagazinePage, AbstractForm):
    parent_page_types = ("magazine.HomePage",)
    subpage_types = ()
    content_panels = (*Page.content_panels, InlinePanel("form_fields"))
    landing_page_template = "magazine/thanks.html"
