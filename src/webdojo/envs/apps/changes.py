"""What an episode changed in the database of an application: the rows that differ from the copy that it began with."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

Change = dict[str, Any]
"""A row that differs, as plain JSON: `table`; `kind` (`added`, `changed`, `removed`); `key`, its primary key by column;
`values`, what it has now; `before`, what it had. A row that is `changed` has the columns that differ alone."""
_BUSY_S = 20


def changes(before: Path, after: Path, noise: Collection[str] = ()) -> list[Change]:
    """The rows of the SQLite database `after` that are not those of `before`, by table and key.

    A view counts as a table, whose key is its column `id` if it has one.

    Args:
        noise: tables (`django_session`) and columns (`auth_user.last_login`) that do not count.
    """
    with closing(sqlite3.connect(f"file:{after}?mode=ro", uri=True, timeout=_BUSY_S)) as database:
        database.execute("ATTACH ? AS old", (f"file:{before}?mode=ro",))
        listed = database.execute(
            "SELECT name, type FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        )
        tables = [(str(name), "id" if kind == "view" else "") for name, kind in listed if name not in noise]
        return [change for table, key in sorted(tables) for change in _of_table(database, table, key, noise)]


def _of_table(database: sqlite3.Connection, table: str, key: str, noise: Collection[str]) -> Iterator[Change]:
    columns = [(str(name), pk) for _, name, *_, pk in database.execute(f'PRAGMA main.table_info("{table}")')]
    names = [name for name, _ in columns if f"{table}.{name}" not in noise]
    keys = [name for name, pk in columns if pk] or [name for name in names if name == key] or names
    listed = ", ".join(f'"{name}"' for name in names)
    new, old = (
        {
            tuple(row[name] for name in keys): row
            for values in database.execute(
                f'SELECT {listed} FROM {one}."{table}" EXCEPT SELECT {listed} FROM {other}."{table}"'
            )
            for row in [dict(zip(names, map(_plain, values), strict=True))]
        }
        for one, other in (("main", "old"), ("old", "main"))
    )
    for row_key in sorted(new.keys() | old.keys(), key=repr):
        now, then = new.get(row_key, {}), old.get(row_key, {})
        change: Change = {"table": table, "kind": "changed", "key": dict(zip(keys, row_key, strict=True))}
        if not then:
            yield {**change, "kind": "added", "values": now}
        elif not now:
            yield {**change, "kind": "removed", "before": then}
        else:
            differ = [name for name in names if now[name] != then[name]]
            yield {
                **change,
                "values": {name: now[name] for name in differ},
                "before": {name: then[name] for name in differ},
            }


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value
