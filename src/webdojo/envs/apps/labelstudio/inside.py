"""Label Studio inside: its settings, its world written through its own models, its WSGI application."""

from __future__ import annotations

import importlib.util
import os
import sys
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

ZONE = timezone.utc  # noqa: UP017 -- the Python of an application may be older
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "core.settings.label_studio",
    "SECRET_KEY": "not secret: the application is reached from its own machine alone",
    "LABEL_STUDIO_BASE_DATA_DIR": ".",
    "LABEL_STUDIO_DATABASE_NAME": "db.sqlite3",
    "LABEL_STUDIO_LOG_LEVEL": "ERROR",
    # Nothing is sent to, or asked of, its makers:
    "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
    "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
    "LABEL_STUDIO_SENTRY_DSN": "",
    "LABEL_STUDIO_FRONTEND_SENTRY_DSN": "",
    # A log-in of a snapshot may be of any age:
    "LABEL_STUDIO_INACTIVITY_SESSION_TIMEOUT_ENABLED": "0",
}
"""The environment that its settings are read from."""
CONFIG = """<View>
  <Text name="text" value="$text"/>
  <Choices name="label" toName="text" choice="single">
{}
  </Choices>
</View>"""


def _set_up() -> None:
    os.environ.update(SETTINGS)
    package = importlib.util.find_spec("label_studio")
    assert package is not None and package.submodule_search_locations is not None
    sys.path.insert(0, package.submodule_search_locations[0])  # its modules import one another by these names
    import django

    django.setup()
    from django.conf import settings

    settings.SESSION_COOKIE_AGE = 100 * 365 * 24 * 3600


def install() -> None:
    """Make an empty database, and point to the static files of the package."""
    _set_up()
    from django.conf import settings
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    os.symlink(settings.STATIC_ROOT, "static")


def application() -> Any:
    """The WSGI application, all of whose code and the page that starts the scripts are loaded."""
    _set_up()
    from django.core.wsgi import get_wsgi_application
    from django.db import connections
    from django.test import RequestFactory

    served = get_wsgi_application()
    for path in ("/user/login/", "/api/projects", "/api/tasks"):
        response = served(RequestFactory().get(path).environ, lambda *_: None)
        response.close()
    connections.close_all()
    return served


def seed(world: dict[str, Any]) -> dict[str, Any]:
    """Write a world into the empty database, and return the cookies of its log-ins by role."""
    _set_up()
    from django.db import transaction

    with transaction.atomic():
        _people(world)
        _projects(world)
        _tasks(world)
    return {"manager": _log_in(world["people"][0]["id"])}


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZONE)


def _people(world: dict[str, Any]) -> None:
    from django.contrib.auth.hashers import make_password
    from organizations.models import Organization
    from users.models import User

    password = make_password(world["password"], salt="webdojo")
    joined = _time(world["projects"][0]["made"])
    users = [
        User.objects.create(
            email=each["email"], username=each["email"], first_name=each["first"], last_name=each["last"],
            password=password, date_joined=joined, last_activity=joined,
        )
        for each in world["people"]
    ]  # fmt: skip
    assert [user.id for user in users] == [each["id"] for each in world["people"]]
    organization = Organization.create_organization(created_by=users[0], title="Team")
    for user in users:
        organization.add_user(user)
    User.objects.update(active_organization=organization, activity_at=joined)


def _projects(world: dict[str, Any]) -> None:
    from projects.models import Project

    for each in world["projects"]:
        choices = "\n".join(f'    <Choice value="{label}"/>' for label in each["labels"])
        project = Project.objects.create(
            title=each["title"], description=each["description"], expert_instruction=each["instructions"],
            label_config=CONFIG.format(choices), organization_id=1, created_by_id=1, is_published=True,
        )  # fmt: skip
        assert project.id == each["id"]
        Project.objects.filter(id=project.id).update(created_at=_time(each["made"]), updated_at=_time(each["made"]))


def _tasks(world: dict[str, Any]) -> None:
    from projects.models import Project
    from tasks.models import Annotation, Task

    tasks, annotations = [], []
    for each in world["tasks"]:
        labelled, skipped, by = each["state"] == "labelled", each["state"] == "skipped", each["by"] or None
        tasks.append(
            Task(
                id=each["id"], inner_id=each["inner"], project_id=each["project"], updated_by_id=by,
                data={key: each[key] for key in ("text", "customer", "order")},
                is_labeled=labelled, total_annotations=labelled, cancelled_annotations=skipped,
            )
        )  # fmt: skip
        if by:
            # An annotation has the id of its task, so that a world names both by one number.
            annotations.append(
                Annotation(
                    id=each["id"], task_id=each["id"], project_id=each["project"], completed_by_id=by,
                    updated_by_id=by, was_cancelled=skipped, result=[_choice(each)] if labelled else [],
                    result_count=labelled, lead_time=10 + each["id"] % 30, unique_id=UUID(int=each["id"]),
                )
            )  # fmt: skip
    for model, rows in ((Task, tasks), (Annotation, annotations)):
        model.objects.bulk_create(rows, batch_size=100)
        for row in rows:
            row.created_at = row.updated_at = _time(world["tasks"][row.id - 1]["made"])
        model.objects.bulk_update(rows, ["created_at", "updated_at"], batch_size=100)
    for project in Project.objects.all():
        project.summary.update_data_columns(project.tasks.all())
        project.summary.update_created_annotations_and_labels(project.annotations.all())


def _choice(task: dict[str, Any]) -> dict[str, Any]:
    """A label that was chosen, as the editor saves it."""
    return {
        "id": f"r{task['id']}", "type": "choices", "from_name": "label", "to_name": "text", "origin": "manual",
        "value": {"choices": [task["label"]]},
    }  # fmt: skip


def _log_in(user_id: int) -> list[dict[str, str]]:
    """The cookies of somebody who has logged in."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.signed_cookies import SessionStore
    from users.models import User

    user = User.objects.get(id=user_id)
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store["organization_pk"] = user.active_organization_id
    store.save()
    return [{"name": settings.SESSION_COOKIE_NAME, "value": str(store.session_key)}]
