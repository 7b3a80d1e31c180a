"""Writes a world into the empty database through Wagtail's models, as if each thing had been saved on its own day."""

from __future__ import annotations

import io
from datetime import date
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.files.images import ImageFile
from django.core.management import call_command
from django.utils import timezone
from django_site import at, write
from PIL import Image as Picture
from wagtail.contrib.forms.models import FormSubmission
from wagtail.contrib.redirects.models import Redirect
from wagtail.images.models import Image
from wagtail.log_actions import log
from wagtail.models import Page, Site, Workflow
from wagtail.users.models import UserProfile
from webdojo_application.models import (
    ArticlePage,
    Author,
    Category,
    EventPage,
    FormField,
    FormPage,
    HomePage,
    SectionPage,
)

_PICTURE_PX = (240, 160)
_FIELDS = (("Name", "singleline"), ("Email", "email"), ("Day", "dropdown"), ("Message", "multiline"))


def write_world(world: dict[str, Any]) -> None:
    with at(world["today"]):
        editors = _people(world)
        for each in world["authors"]:
            Author.objects.create(
                id=each["id"], name=each["name"], slug=f"author-{each['id']}", job=each["job"], email=each["email"]
            )
        for each in world["categories"]:
            Category.objects.create(id=each["id"], name=each["name"], slug=each["name"].lower())
        for each in world["images"]:
            image = Image(id=each["id"], title=each["title"], file=_picture(each), uploaded_by_user=editors[1])
            image._set_image_file_metadata()  # as the upload form does
            image.save()
        parents = _frame(world, editors[1])
    for each in world["articles"]:
        with at(each["date"]):
            _article(each, parents[each["section"]], editors)
    for each in world["events"]:
        with at(each["date"]):
            event = EventPage(
                title=each["title"], slug=each["slug"], date=date.fromisoformat(each["day"]),
                place=each["place"], fee=each["fee"], owner=editors[each["editor"]],
            )  # fmt: skip
            _add(parents["events"], event, editors[each["editor"]], each["id"])
    write(Redirect, (Redirect(id=r["id"], old_path=r["path"], redirect_page_id=r["page"]) for r in world["redirects"]))
    for each in world["submissions"]:
        with at(each["date"]):
            data = {name.lower(): each[name.lower()] for name, _ in _FIELDS}
            FormSubmission.objects.create(id=each["id"], page=parents["form"].page_ptr, form_data=data)
    call_command("rebuild_references_index", verbosity=0)
    call_command("update_index", verbosity=0)


def _people(world: dict[str, Any]) -> dict[int, Any]:
    """The users of the admin by id, each of whom may do everything."""
    password = make_password(world["password"], salt="webdojo")
    users = [
        User(
            id=each["id"], username=each["login"], email=f"{each['login']}@magazine.example", first_name=each["first"],
            last_name=each["last"], password=password, is_staff=True, is_superuser=True,
        )
        for each in world["editors"]
    ]  # fmt: skip
    write(User, users)
    write(UserProfile, (UserProfile(user=user) for user in users))
    return {user.id: user for user in users}


def _picture(image: dict[str, Any]) -> Any:
    """A small picture whose colours follow from the title."""
    red, green, blue = (sum(map(ord, image["title"][at::3])) % 256 for at in range(3))
    picture = Picture.new("RGB", _PICTURE_PX, (red, green, blue))
    picture.paste((blue, red, green), (40 + red // 4, 30, 160 + red // 4, 120))
    file = io.BytesIO()
    picture.save(file, "PNG")
    file.seek(0)
    return ImageFile(file, name=f"picture-{image['id']}.png")


def _add(parent: Any, page: Any, user: Any, id: int) -> None:
    """Add a page, which gets this id, with its first revision, which is the published one if the page is live."""
    page.draft_title = page.title
    page.has_unpublished_changes = not page.live
    if page.live:
        page.first_published_at = page.last_published_at = timezone.now()
    parent.add_child(instance=page)
    assert page.id == id, (page.title, page.id, id)
    revision = page.save_revision(user=user, log_action=True, changed=not page.live, clean=False)
    if page.live:
        Page.objects.filter(id=id).update(live_revision=revision)
        log(page, "wagtail.publish", user=user, revision=revision)


def _frame(world: dict[str, Any], owner: Any) -> dict[Any, Any]:
    """The home page, what is below it, and the site; returns the parents of other pages by their ids and uses."""
    Page.objects.get(depth=2).delete()
    root = Page.objects.get(depth=1)
    home = HomePage(title="Magazine", slug="home", owner=owner)
    _add(root, home, owner, 3)
    Site.objects.update_or_create(
        id=1,
        defaults={
            "hostname": world["host"],
            "port": 80,
            "site_name": "Magazine",
            "root_page": home.page_ptr,
            "is_default_site": True,
        },
    )
    parents: dict[Any, Any] = {}
    for each in world["sections"]:
        parents[each["id"]] = SectionPage(title=each["title"], slug=each["slug"], owner=owner)
        _add(home, parents[each["id"]], owner, each["id"])
    parents["events"] = SectionPage(title="Events", slug="events", owner=owner)
    _add(home, parents["events"], owner, 9)
    days = ",".join(world["days"])
    parents["form"] = FormPage(title="Volunteer", slug="volunteer", owner=owner)
    parents["form"].form_fields = [
        FormField(sort_order=at, label=name, field_type=kind, choices=days if kind == "dropdown" else "")
        for at, (name, kind) in enumerate(_FIELDS)
    ]
    _add(home, parents["form"], owner, 10)
    return parents


def _article(each: dict[str, Any], parent: Any, editors: dict[int, Any]) -> None:
    editor = editors[each["editor"]]
    body = f'<p data-block-key="k{each["id"]:04d}">{each["intro"]}</p>'  # with a key, as the editor saves it
    article = ArticlePage(
        title=each["title"], slug=each["slug"], intro=each["intro"], body=body,
        author_id=each["author"], category_id=each["category"], minutes=each["minutes"], image_id=each["image"],
        owner=editors[each["creator"]], live=each["status"] in ("live", "changed"),
    )  # fmt: skip
    _add(parent, article, editor, each["id"])
    if each["status"] == "changed":
        article.title = each["draft_title"]
        article.save_revision(user=editor, log_action=True, clean=False)
    if each["status"] == "moderation":
        Workflow.objects.get().start(article, editor)
