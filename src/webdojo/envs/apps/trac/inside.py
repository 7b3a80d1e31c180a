"""The tracker inside: an environment of Trac in the working directory, its world written through Trac's own models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Any

ZONE = timezone.utc  # noqa: UP017 -- the Python of an application may be older
OPTIONS = [
    ("trac", "database", "sqlite:db.sqlite3"),
    ("trac", "default_charset", "utf-8"),
    ("project", "name", "Tracker"),
    ("header_logo", "src", ""),
    ("logging", "log_type", "none"),
    ("notification", "smtp_enabled", "false"),
    ("ticket", "default_component", ""),
    ("ticket", "default_milestone", ""),
    ("ticket", "default_version", ""),
    ("mainnav", "browser", "disabled"),
]


def _open() -> Any:
    from trac.env import open_environment

    return open_environment(os.getcwd(), use_cache=True)


def install() -> None:
    """Make an environment without components, milestones and versions."""
    from trac.env import Environment
    from trac.ticket.model import Component, Milestone, Version

    env = Environment(os.getcwd(), create=True, options=OPTIONS)
    for model in (Component, Milestone, Version):
        for each in list(model.select(env)):
            each.delete()
    env.shutdown()


def application() -> Callable[..., Iterable[bytes]]:
    """The WSGI application, all of whose modules are loaded."""
    from wsgiref.util import setup_testing_defaults

    from trac.web.main import dispatch_request

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ["trac.env_path"] = os.getcwd()
        return dispatch_request(environ, start_response)  # type: ignore[no-any-return]

    for path in ("/query", "/newticket", "/wiki/WikiStart"):
        environ: dict[str, Any] = {"PATH_INFO": path}
        setup_testing_defaults(environ)
        list(answer(environ, lambda *_: lambda data: None))
    _open().shutdown()
    return answer


def seed(world: dict[str, Any]) -> dict[str, Any]:
    """Write a world into an environment, and return the cookies of its log-ins by role."""
    from trac.perm import PermissionSystem
    from trac.ticket.model import Component, Milestone, Ticket, Version
    from trac.wiki.model import WikiPage

    env = _open()
    permissions = PermissionSystem(env)
    for group, actions in (("anonymous", ("TICKET_VIEW", "WIKI_VIEW")), ("authenticated", ("TICKET_ADMIN",))):
        for action in actions:
            if (group, action) not in permissions.get_all_permissions():
                permissions.grant_permission(group, action)
    with env.db_transaction as db:
        for model, key in ((Component, "components"), (Milestone, "milestones"), (Version, "versions")):
            for name in world[key]:
                made = model(env)
                made.name = name
                made.insert()
        for each in world["tickets"]:
            ticket = Ticket(env)
            for field in ("summary", "description", "type", "priority", "component", "milestone", "reporter"):
                ticket[field] = each[field]
            ticket["owner"], ticket["status"], ticket["resolution"] = each["owner"], each["status"], each["resolution"]
            ticket.insert(when=_time(each["date"], 9))
            assert ticket.id == each["id"]
            for hour, (author, text) in enumerate(each["comments"], 10):
                ticket.save_changes(author, text, when=_time(each["date"], hour))
        for each in world["pages"]:
            page = WikiPage(env, each["name"])
            page.text = each["text"]
            page.save(each["author"], "", _time(world["today"], 8))
        for person in world["people"]:
            db("INSERT INTO session (sid, authenticated, last_visit) VALUES (%s, 1, 0)", (person,))
        me = world["people"][0]
        cookie = f"{world['seed']:032x}"
        db("INSERT INTO auth_cookie (cookie, name, ipnr, time) VALUES (%s, %s, '127.0.0.1', 4000000000)", (cookie, me))
    env.shutdown()
    return {"developer": [{"name": "trac_auth", "value": cookie}]}


def _time(day: str, hour: int) -> datetime:
    return datetime.fromisoformat(day).replace(hour=hour, tzinfo=ZONE)
