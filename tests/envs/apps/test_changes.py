"""Rows that differ between two databases, and whether they are those that a task asks for."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from webdojo.envs.apps.changes import changes
from webdojo.envs.apps.goal import added, changed, removed
from webdojo.envs.apps.verdict import fits

_SCHEMA = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price NUMERIC, seen TEXT);
CREATE TABLE pair (a INTEGER, b INTEGER, note TEXT, PRIMARY KEY (a, b));
CREATE TABLE log (line TEXT);
INSERT INTO item VALUES (1, 'cup', 2.5, 'never'), (2, 'jug', 9, 'never');
INSERT INTO pair VALUES (1, 2, 'x'), (2, 1, 'y');
INSERT INTO log VALUES ('made');
"""


def database(path: Path, *more: str) -> Path:
    with closing(sqlite3.connect(path)) as made:
        made.executescript(_SCHEMA)
        for statement in more:
            made.execute(statement)
        made.commit()
    return path


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return database(tmp_path / "before.sqlite3")


def test_views_are_compared_as_tables_by_their_column_id_or_as_whole_rows(tmp_path: Path) -> None:
    views = (
        "CREATE VIEW named AS SELECT id, upper(name) AS shouted FROM item",
        "CREATE VIEW said AS SELECT line FROM log",
    )
    before = database(tmp_path / "before.sqlite3", *views)
    change = ("UPDATE item SET name = 'mug', seen = 'now' WHERE id = 1", "INSERT INTO log VALUES ('sold')")
    after = database(tmp_path / "after.sqlite3", *views, *change)
    assert changes(before, after, ("item", "log")) == [
        {
            "table": "named",
            "kind": "changed",
            "key": {"id": 1},
            "values": {"shouted": "MUG"},
            "before": {"shouted": "CUP"},
        },
        {"table": "said", "kind": "added", "key": {"line": "sold"}, "values": {"line": "sold"}},
    ]


def test_equal_databases_have_no_changes(before: Path, tmp_path: Path) -> None:
    assert changes(before, database(tmp_path / "after.sqlite3")) == []


def test_rows_are_added_changed_and_removed_by_their_keys(before: Path, tmp_path: Path) -> None:
    after = database(
        tmp_path / "after.sqlite3",
        "UPDATE item SET price = 3 WHERE id = 1",
        "DELETE FROM item WHERE id = 2",
        "INSERT INTO item VALUES (3, 'pot', 4, 'never')",
        "UPDATE pair SET note = 'z' WHERE a = 2",
    )
    assert changes(before, after) == [
        {"table": "item", "kind": "changed", "key": {"id": 1}, "values": {"price": 3}, "before": {"price": 2.5}},
        {
            "table": "item", "kind": "removed", "key": {"id": 2},
            "before": {"id": 2, "name": "jug", "price": 9, "seen": "never"},
        },
        {
            "table": "item", "kind": "added", "key": {"id": 3},
            "values": {"id": 3, "name": "pot", "price": 4, "seen": "never"},
        },
        {"table": "pair", "kind": "changed", "key": {"a": 2, "b": 1}, "values": {"note": "z"}, "before": {"note": "y"}},
    ]  # fmt: skip


def test_noise_does_not_count(before: Path, tmp_path: Path) -> None:
    after = database(tmp_path / "after.sqlite3", "UPDATE item SET seen = 'today'", "INSERT INTO log VALUES ('opened')")
    assert changes(before, after, ("log", "item.seen")) == []
    assert len(changes(before, after)) == 3


CHANGE = {"table": "item", "kind": "changed", "key": {"id": 1}, "values": {"price": 3}, "before": {"price": 2.5}}
ADDED = {"table": "item", "kind": "added", "key": {"id": 3}, "values": {"id": 3, "name": "Pot", "price": 4}}
NOTED: dict[str, Any] = {
    **ADDED,
    "values": {"note": '<p id="a">old &amp; <b>round</b></p>', "data": '{"lid": null, "size": 3, "id": 7}'},
}
REMOVED = {"table": "item", "kind": "removed", "key": {"id": 2}, "before": {"id": 2}}


@pytest.mark.parametrize(
    ("fact", "change", "fit"),
    [
        (changed("", "item", 1, price=3.0), CHANGE, True),
        (changed("", "item", 2, price=3), CHANGE, False),
        (changed("", "item", 1, price=4), CHANGE, False),
        (changed("", "item", 1, price=3, name="cup"), CHANGE, False),
        (changed("", "item", 1, price={"type": "any"}), CHANGE, True),
        (added("", "item", name="Pot"), ADDED, True),
        (added("", "item", name={"type": "text", "value": "pot "}), ADDED, True),
        (added("", "item", name="Pan"), ADDED, False),
        (added("", "item", name="Pot", owner=1), ADDED, False),
        (added("", "other", name="Pot"), ADDED, False),
        (added("", "item", note={"type": "html", "text": "old & round"}), NOTED, True),
        (added("", "item", note={"type": "html", "text": "old"}), NOTED, False),
        (added("", "item", data={"type": "json", "values": {"size": 3, "lid": None}}), NOTED, True),
        (added("", "item", data={"type": "json", "values": {"size": 4}}), NOTED, False),
        (added("", "item", data={"type": "json", "values": {"colour": None}}), NOTED, False),
        (removed("", "item", 2), REMOVED, True),
        (removed("", "item", 1), REMOVED, False),
        (removed("", "item", 3), ADDED, False),
    ],
)
def test_a_pattern_fits_the_change_that_was_asked_for(fact: dict[str, Any], change: dict[str, Any], fit: bool) -> None:
    assert fits(change, fact["change"]) is fit
