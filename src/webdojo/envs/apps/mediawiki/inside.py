"""The wiki inside: MediaWiki of Debian by `php-cgi`, its world written through MediaWiki's own classes."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webdojo.envs.apps import php
else:
    import php

ROOT = Path("/usr/share/mediawiki")
HERE = Path(__file__).parent
SCRIPTS = ("index.php", "load.php", "api.php", "rest.php", "opensearch_desc.php")
FILES = ("/w/resources/", "/w/skins/")
VIEWS = """
CREATE VIEW article AS
SELECT page_id AS id, page_namespace AS namespace, CAST(page_title AS TEXT) AS title, page_is_redirect AS redirect,
    CAST(old_text AS TEXT) AS text
FROM page
JOIN slots ON slot_revision_id = page_latest
JOIN content ON content_id = slot_content_id
JOIN text ON old_id = CAST(SUBSTR(CAST(content_address AS TEXT), 4) AS INTEGER);

CREATE VIEW edit AS
SELECT rev_id AS revision, rev_page AS page, CAST(actor_name AS TEXT) AS user, rev_minor_edit AS minor,
    CAST(comment_text AS TEXT) AS summary, rev_deleted AS hidden
FROM revision
JOIN actor ON actor_id = rev_actor
JOIN revision_comment_temp ON revcomment_rev = rev_id
JOIN comment ON comment_id = revcomment_comment_id;

CREATE VIEW event AS
SELECT log_id AS event, CAST(log_type AS TEXT) AS type, CAST(log_action AS TEXT) AS action,
    CAST(actor_name AS TEXT) AS user, log_namespace AS namespace, CAST(log_title AS TEXT) AS title,
    CAST(comment_text AS TEXT) AS summary, log_deleted AS hidden
FROM logging
JOIN actor ON actor_id = log_actor
JOIN comment ON comment_id = log_comment_id;
"""
"""What an editor sees of the database: pages as they are now, every edit, and the log."""


def _php(shared: Path) -> php.Php:
    environment = {
        "MW_CONFIG_FILE": str(HERE / "LocalSettings.php"),
        "MW_INSTALL_PATH": str(ROOT),
        "WEBDOJO_SHARED": str(shared.resolve()),
        "WEBDOJO_VISIT": os.getcwd(),
    }
    return php.Php(shared.resolve(), environment)


def install() -> None:
    """Make an empty wiki; its page ids begin at 1."""
    php.seal()
    inside = _php(Path("shared"))
    installer = php.Php(Path("shared"), {})
    options = {"confpath": ".", "dbtype": "sqlite", "dbpath": ".", "dbname": "db", "pass": "none-to-log-in-by"}
    installer.run(ROOT / "maintenance" / "install.php", *(f"--{key}={value}" for key, value in options.items()),
        "Wiki", "Installer")  # fmt: skip
    os.rename("db.sqlite", "db.sqlite3")
    for file in ("LocalSettings.php", "db_jobqueue.sqlite", "db_l10n_cache.sqlite"):
        os.remove(file)
    os.rename("wikicache.sqlite", "cache.sqlite")
    with closing(sqlite3.connect("db.sqlite3", isolation_level=None)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        kept = ("content_models", "slot_roles", "interwiki", "updatelog", "site_stats", "sqlite_sequence")
        for table in tables:
            if table not in kept and not table.startswith("searchindex_"):
                database.execute(f'DELETE FROM "{table}"')
        database.execute("DELETE FROM sqlite_sequence WHERE name NOT IN ('content_models', 'slot_roles')")
        database.executescript(VIEWS)
        database.execute("VACUUM")
    inside.run(ROOT / "maintenance" / "rebuildLocalisationCache.php", "--lang=en", "--quiet")


def seed(world: dict[str, Any]) -> dict[str, Any]:
    """Write a world into the wiki, and return the cookies of its log-ins by role."""
    php.seal()
    _php(Path("../base/shared")).run(HERE / "seed.php", given=json.dumps(world))
    return {
        role: [
            {"name": "wikiUserID", "value": str(person["id"])},
            {"name": "wikiUserName", "value": person["name"].replace(" ", "%20")},
            {"name": "wikiToken", "value": person["token"]},
        ]
        for role, person in zip(("admin", "editor"), world["people"], strict=False)
    }


def application() -> Callable[..., Iterable[bytes]]:
    """The WSGI application; it works in the directory that is the current one when a request comes."""
    php.seal()
    shared = Path("shared").resolve()

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        script = "index.php" if path.startswith("/wiki/") else path.removeprefix("/w/").partition("/")[0]
        if path == "/":
            start_response("302 Found", [("Location", "/wiki/Main_Page")])
            return []
        if path.startswith(FILES):
            return _file(ROOT / path.removeprefix("/w/"), start_response)
        if script not in SCRIPTS:
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [b"there is no such page\n"]

        def by_php(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            return _php(shared).answer(ROOT / script, f"/w/{script}", environ, start_response)

        if script == "load.php" and environ["REQUEST_METHOD"] == "GET":
            return _kept(shared / "load", by_php, environ, start_response)
        return by_php(environ, start_response)

    return answer


def _file(file: Path, start_response: Callable[..., Any]) -> list[bytes]:
    """A picture, style or script of MediaWiki."""
    kind = mimetypes.guess_type(file.name)[0]
    if ".." in file.parts or kind is None or not kind.startswith(("image/", "text/css", "text/javascript", "font/")):
        start_response("404 Not Found", [("Content-Type", "text/plain")])
        return [b"there is no such file\n"]
    start_response("200 OK", [("Content-Type", kind), ("Cache-Control", "max-age=86400")])
    return [file.read_bytes()]


def _kept(
    folder: Path,
    application: Callable[..., Iterable[bytes]],
    environ: dict[str, Any],
    start_response: Callable[..., Any],
) -> Iterable[bytes]:
    """Answer by what was answered at the same address before, in whichever visit: what it gives is code alone."""
    address = f"{environ.get('HTTP_HOST', '')}?{environ.get('QUERY_STRING', '')}"
    file = folder / hashlib.sha256(address.encode()).hexdigest()
    if file.exists():
        head, _, body = file.read_bytes().partition(b"\n")
        status, headers = json.loads(head)
        start_response(status, [(name, value) for name, value in headers])
        return [body]
    started: list[Any] = []
    parts = application(environ, lambda status, headers: started.extend((status, headers)))
    body = b"".join(parts)
    if started[0].startswith("200"):
        folder.mkdir(exist_ok=True)
        made = folder / f"{file.name}.{os.getpid()}"
        made.write_bytes(json.dumps(started).encode() + b"\n" + body)
        made.rename(file)
    start_response(*started)
    return [body]
