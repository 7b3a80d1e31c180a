"""Databases of applications that no right episode leaves behind: what its own database holds, with one thing wrong.

A tampering is made from the database before and after an episode that did its task. It says nothing of how a verdict
finds it; of a verdict it takes for granted what `docs/apps.md` says, that nothing may have changed but what the task
asks for, and that tables and columns of `Application.noise` do not count.

| way | what is wrong |
|---|---|
| `edited`, `deleted`, `copied` | a record that the episode left alone has another value, is gone, or is there twice |
| `edited_too` | a record that the episode changed has another value in a further column |
| `twice` | a record that the episode added is there twice |
| `wrong_value` | a value that the task names is another one |
| `wrong_record` | the change was made, to another record |
| `undone` | one change that the task asks for was not made |
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from webdojo.types import Task

Row = dict[str, Any]
Statement = tuple[str, Sequence[Any]]
Records = dict[str, dict[int, Row]]
"""By table, the rows by their rowid."""


@dataclass(frozen=True)
class Tampering:
    """Statements that make a right database wrong."""

    way: str
    about: str
    statements: Sequence[Statement]

    def apply(self, database: Path) -> bool:
        """Whether every statement changed something: a constraint of the database may not allow it."""
        connection = sqlite3.connect(database)
        try:
            with connection:
                changed = [connection.execute(text, values).rowcount for text, values in self.statements]
            return all(count > 0 for count in changed)
        finally:
            connection.close()


@dataclass(frozen=True)
class Table:
    """A table that counts, with those of its columns that do."""

    name: str
    columns: Sequence[str]
    key: Collection[str]
    """Columns of its primary key."""
    unique: Collection[str]
    """Columns of which two rows may not have the same, with those of the key."""


@dataclass(frozen=True)
class Edit:
    """What an episode did to one record; `before` is None where it added it, `after` where it removed it."""

    table: Table
    rowid: int
    before: Row | None
    after: Row | None

    @property
    def kind(self) -> str:
        return "added" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def columns(self) -> list[str]:
        """Columns that it changed."""
        before, after = self.before or {}, self.after or {}
        return [column for column in self.table.columns if before.get(column) != after.get(column)]


def tables_of(database: Path, noise: Collection[str]) -> list[Table]:
    """Tables whose content counts: neither noise, nor SQLite's own, nor those of a full-text index."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        found = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
        indexes = [name for name, sql in found.items() if sql.upper().startswith("CREATE VIRTUAL")]
        tables = []
        for name, sql in found.items():
            of_index = any(name == index or name.startswith(f"{index}_") for index in indexes)
            if of_index or name.startswith("sqlite_") or "WITHOUT ROWID" in sql.upper() or _is_noise(name, noise):
                continue
            about = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
            key = {column[1] for column in about if column[5]}
            unique = set(key)
            for index in connection.execute(f'PRAGMA index_list("{name}")').fetchall():
                if index[2]:
                    unique |= {each[2] for each in connection.execute(f'PRAGMA index_info("{index[1]}")').fetchall()}
            columns = [column[1] for column in about if not _is_noise(f"{name}.{column[1]}", noise)]
            tables.append(Table(name, columns, key, unique))
        return tables
    finally:
        connection.close()


def _is_noise(name: str, noise: Collection[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in noise)


def records(database: Path, tables: Collection[Table]) -> Records:
    """All rows of the tables."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.text_factory = lambda data: data.decode(errors="replace")
    connection.row_factory = sqlite3.Row
    try:
        found: Records = {}
        for table in tables:
            rows = connection.execute(f'SELECT rowid AS "the rowid", * FROM "{table.name}"')
            found[table.name] = {row["the rowid"]: {key: row[key] for key in row.keys()[1:]} for row in rows}
        return found
    finally:
        connection.close()


def edits(before: Records, after: Records, tables: Collection[Table]) -> list[Edit]:
    """What differs between two states of a database, in columns that count."""
    found = []
    for table in tables:
        old, new = before[table.name], after[table.name]
        for rowid in sorted(old.keys() | new.keys()):
            edit = Edit(table, rowid, old.get(rowid), new.get(rowid))
            if edit.kind != "changed" or edit.columns:
                found.append(edit)
    return found


def near(value: Any) -> Any:
    """Another value of the same type."""
    if value is None:
        return 1
    return f"{value} x" if isinstance(value, str) else value + (b"x" if isinstance(value, bytes) else 1)


def tamperings(
    task: Task, before: Records, after: Records, tables: Sequence[Table], rng: random.Random, each: int
) -> Iterator[Tampering]:
    """What goes wrong with the database that a right episode of a task leaves; `each` of those ways that take any
    record, and one of every other way for every record that it can take."""
    done = edits(before, after, tables)
    touched = {(edit.table.name, edit.rowid) for edit in done}
    idle = [
        (table, rowid) for table in tables for rowid in after[table.name] if (table.name, rowid) not in touched
    ]  # fmt: skip
    of_tables = {table.name: [one for one in idle if one[0] is table] for table in tables}
    filled = [name for name, ones in of_tables.items() if ones]
    for make in (_edited, _deleted, _copied):
        for name in rng.sample(filled, min(each, len(filled))):  # or the largest table would be all there is
            table, rowid = rng.choice(of_tables[name])
            if made := make(table, rowid, after, rng):
                yield made
    for edit in done:
        free = [column for column in edit.table.columns if column not in {*edit.columns, *edit.table.key}]
        if edit.kind == "changed" and free:
            assert edit.after is not None
            column = rng.choice(free)
            yield _with("edited_too", edit.table, edit.rowid, {column: near(edit.after[column])})
        if edit.kind == "added":
            yield _again("twice", edit.table, edit.rowid, after)
    for fact in task.evaluator["facts"]:
        if "change" in fact:
            for edit in done:
                if _is_of(edit, fact["change"]):
                    yield from _not_quite(edit, fact["change"], before, after, rng)


def _is_of(edit: Edit, change: dict[str, Any]) -> bool:
    """Whether an edit is what a fact asks for; values that a fact describes, and does not name, are left aside."""
    row = edit.after or edit.before or {}
    named = {**change.get("key", {}), **_named(change)}
    return (edit.table.name, edit.kind) == (change["table"], change["kind"]) and all(
        row.get(column) == value or str(row.get(column)) == str(value) for column, value in named.items()
    )


def _named(change: dict[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in change.get("values", {}).items() if not isinstance(value, dict)}


def _not_quite(
    edit: Edit, change: dict[str, Any], before: Records, after: Records, rng: random.Random
) -> Iterator[Tampering]:
    """The change that a task asks for, with another value, on another record, or not at all."""
    table, name = edit.table, edit.table.name
    yield Tampering("undone", f"{name} {edit.rowid}", [_back(edit)])
    for column, value in _named(change).items():
        others = {row[column] for row in before[name].values()} - {value, None}
        for other in {near(value), *rng.sample(sorted(others, key=repr), min(1, len(others)))}:
            if edit.after is not None and str(other) != str(value):
                yield _with("wrong_value", table, edit.rowid, {column: other})
    rows = [rowid for rowid in before[name] if rowid != edit.rowid and rowid in after[name]]
    if edit.kind == "added" or not rows:
        return
    other = rng.choice(rows)
    if edit.kind == "removed":
        gone: Statement = (f'DELETE FROM "{name}" WHERE rowid = ?', [other])
        yield Tampering("wrong_record", f"{name} {other} for {edit.rowid}", [_back(edit), gone])
        return
    assert edit.after is not None
    values = {column: edit.after[column] for column in edit.columns}
    if any(before[name][other][column] != value for column, value in values.items()):
        moved = _with("wrong_record", table, other, values)
        yield Tampering(moved.way, f"{moved.about} for {edit.rowid}", [_back(edit), *moved.statements])


def _back(edit: Edit) -> Statement:
    """Undoes an edit."""
    if edit.before is None:
        return f'DELETE FROM "{edit.table.name}" WHERE rowid = ?', [edit.rowid]
    if edit.after is None:
        return _insert(edit.table, edit.before | ({} if edit.table.key else {"rowid": edit.rowid}))
    values = {column: edit.before[column] for column in edit.columns}
    return _with("", edit.table, edit.rowid, values).statements[0]


def _insert(table: Table, row: Row) -> Statement:
    columns = ", ".join(f'"{column}"' for column in row)
    marks = ", ".join("?" * len(row))
    return f'INSERT OR IGNORE INTO "{table.name}" ({columns}) VALUES ({marks})', list(row.values())


def _with(way: str, table: Table, rowid: int, values: dict[str, Any]) -> Tampering:
    """A record with other values."""
    text = ", ".join(f'"{column}" = ?' for column in values)
    statement = f'UPDATE OR IGNORE "{table.name}" SET {text} WHERE rowid = ?'
    return Tampering(way, f"{table.name} {rowid}: {values!r}"[:200], [(statement, [*values.values(), rowid])])


def _edited(table: Table, rowid: int, after: Records, rng: random.Random) -> Tampering | None:
    free = [column for column in table.columns if column not in table.key]
    if not free:
        return None
    column = rng.choice(free)
    return _with("edited", table, rowid, {column: near(after[table.name][rowid][column])})


def _deleted(table: Table, rowid: int, after: Records, rng: random.Random) -> Tampering:
    return Tampering("deleted", f"{table.name} {rowid}", [(f'DELETE FROM "{table.name}" WHERE rowid = ?', [rowid])])


def _copied(table: Table, rowid: int, after: Records, rng: random.Random) -> Tampering:
    return _again("copied", table, rowid, after)


def _again(way: str, table: Table, rowid: int, after: Records) -> Tampering:
    """A record once more, with other values where no two may have the same."""
    row = dict(after[table.name][rowid])
    for column in table.unique:
        values = [each[column] for each in after[table.name].values() if isinstance(each[column], int | float)]
        row[column] = max(values) + 1 if isinstance(row[column], int | float) else near(row[column])
    return Tampering(way, f"{table.name} {rowid}", [_insert(table, row)])
