"""The magazine inside: settings of Wagtail, the views beside its pages, its WSGI application."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.apps import AppConfig
from django_site import log_in, make_base, served, set_up

MIGRATIONS = "magazine_migrations"
urlpatterns: list[Any] = []


class Magazine(AppConfig):
    name = __name__
    label = "magazine"
    default_auto_field = "django.db.models.AutoField"


def _set_up(**more: Any) -> None:
    set_up(
        **more,
        DATA_UPLOAD_MAX_NUMBER_FIELDS=10_000,
        INSTALLED_APPS=[
            f"{__name__}.Magazine",
            "wagtail.contrib.forms",
            "wagtail.contrib.redirects",
            "wagtail.embeds",
            "wagtail.sites",
            "wagtail.users",
            "wagtail.snippets",
            "wagtail.documents",
            "wagtail.images",
            "wagtail.search",
            "wagtail.admin",
            "wagtail",
            "modelcluster",
            "taggit",
            "django_filters",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "django.contrib.staticfiles",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "wagtail.contrib.redirects.middleware.RedirectMiddleware",
        ],
        MIGRATION_MODULES={"magazine": MIGRATIONS},
        ROOT_URLCONF=__name__,
        WAGTAILADMIN_BASE_URL="",
        WAGTAILSEARCH_BACKENDS={"default": {"BACKEND": "wagtail.search.backends.database"}},
        WAGTAIL_AUTOSAVE_INTERVAL=0,  # a draft is saved when somebody saves it, not half a second after a key
        WAGTAIL_ENABLE_UPDATE_CHECK=False,
        WAGTAIL_ENABLE_WHATS_NEW_BANNER=False,
        WAGTAIL_GRAVATAR_PROVIDER_URL=None,
        WAGTAIL_SITE_NAME="Magazine",
        context_processors=[
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
            f"{__name__}.views.sections",
        ],
    )
    from django.urls import include, path
    from wagtail import urls as wagtail_urls
    from wagtail.admin import urls as admin_urls
    from webdojo_application import views

    urlpatterns[:] = [
        path("admin/", include(admin_urls)),
        path("authors/<slug>/", views.by_author),
        path("categories/<slug>/", views.in_category),
        path("search/", views.search),
        path("", include(wagtail_urls)),
    ]


def install() -> None:
    """Make an empty database and gather the static files; the models need migrations only to be made."""
    _set_up()
    from django.core.management import call_command

    with TemporaryDirectory() as folder:
        package = Path(folder) / MIGRATIONS
        package.mkdir()
        (package / "__init__.py").touch()
        sys.path.append(folder)
        call_command("makemigrations", "magazine", verbosity=0)
        make_base()


def application() -> Any:
    """The WSGI application, all of whose code and templates of common pages are loaded."""
    _set_up()
    return served("/admin/login/", "/search/?query=a")


def seed(world: dict[str, Any]) -> dict[str, Any]:
    """Write a world into the empty database, and return the cookies of its log-ins by role."""
    _set_up(
        TASKS={"default": {"BACKEND": "django_tasks.backends.dummy.DummyBackend"}}
    )  # it is indexed once, at the end
    from django.db import transaction
    from webdojo_application.seeding import write_world

    with transaction.atomic():
        write_world(world)
        return {"editor": log_in(world["editors"][0]["id"])}
