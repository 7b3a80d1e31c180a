"""What applications on Django have in common, run by their own Python.

The settings that are the same for all, such as the database and where uploads go; what `install` and `application` of
their `inside` do; and how a world is written through models.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any
from unittest import mock

import django
from django.apps import apps
from django.conf import settings
from django.core.files.storage import FileSystemStorage

ZONE = timezone.utc  # noqa: UP017 -- the Python of an application may be older
MEMORY = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
"""A cache that a visit has for itself."""


class VisitStorage(FileSystemStorage):
    """Uploads go to the folder of the visit, which is the working directory of its process."""

    @property
    def base_location(self) -> str:
        return "media"

    @property
    def location(self) -> str:
        return os.path.abspath("media")


def set_up(context_processors: Sequence[str] = (), **own: Any) -> None:
    """Set Django up.

    Args:
        context_processors: what templates get their values from.
        own: settings of the application, in place of these or besides them.
    """
    common = {
        "ALLOWED_HOSTS": ["*"],
        "CACHES": {"default": MEMORY},
        "DATABASES": {
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": "db.sqlite3",
                "ATOMIC_REQUESTS": True,
                "OPTIONS": {"init_command": "PRAGMA synchronous = OFF"},
            }
        },
        "DEFAULT_AUTO_FIELD": "django.db.models.AutoField",
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
        "LANGUAGE_CODE": "en-gb",
        "MEDIA_URL": "/media/",
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
        "SECRET_KEY": "not secret: the application is reached from its own machine alone",
        "SESSION_COOKIE_AGE": 10 * 365 * 24 * 3600,
        "STATIC_ROOT": "static",
        "STATIC_URL": "/static/",
        "STORAGES": {
            "default": {"BACKEND": "django_site.VisitStorage"},
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        },
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": context_processors},
            }
        ],
        "TIME_ZONE": "UTC",
        "USE_TZ": True,
    }
    settings.configure(**common | own)
    django.setup()


def make_base() -> None:
    """Make an empty database and gather the static files."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def served(*paths: str) -> Any:
    """The WSGI application, with the code and templates of these pages loaded."""
    from django.core.wsgi import get_wsgi_application
    from django.test import RequestFactory

    application = get_wsgi_application()
    for path in paths:
        response = application(RequestFactory().get(path).environ, lambda *_: None)
        response.close()
    return application


def model(name: str) -> Any:
    return apps.get_model(name)


def time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZONE)


def at(text: str) -> Any:
    """Let the models take a time for the present one."""
    return mock.patch("django.utils.timezone.now", return_value=time(text))


def write(kind: Any, rows: Iterable[Any]) -> None:
    """Write rows of a model at once."""
    kind.objects.bulk_create(list(rows), batch_size=100)


def log_in(user_id: int) -> list[dict[str, str]]:
    """The cookies of somebody who has logged in."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    user = model("auth.User").objects.get(id=user_id)
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return [{"name": settings.SESSION_COOKIE_NAME, "value": str(store.session_key)}]
