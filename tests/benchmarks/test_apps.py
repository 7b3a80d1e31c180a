"""The benchmark of real applications, by the application of the tests."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.benchmarks.conftest import Script
from tests.envs.apps.notes import COLOURS, Notes, installed
from webdojo.envs.apps.application import DATABASE, Home
from webdojo.envs.apps.env import Apps
from webdojo.types import Task

NOTES = "tests.envs.apps.notes:Notes"


def drawn(template: str) -> list[Task]:
    return list(Apps(applications=[NOTES], templates=[template], train_seeds=1).tasks("train", 30, 0))


@pytest.fixture
def written(script: Script, tmp_path: Path) -> tuple[Task, Any]:
    """A task to write a note, and what an episode leaves that has written it."""
    task = drawn("write")[0]
    snapshot, folder = tmp_path / "snapshot", tmp_path / "visit"
    snapshot.mkdir()
    with sqlite3.connect(snapshot / DATABASE) as database:
        database.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, owner TEXT)")
        database.execute("CREATE TABLE hit (id INTEGER PRIMARY KEY, path TEXT)")
        database.executemany("INSERT INTO note (text, owner) VALUES (?, 'seed')", [(colour,) for colour in COLOURS])
    database.close()
    shutil.copytree(snapshot, folder)
    values = task.evaluator["facts"][0]["change"]["values"]
    with sqlite3.connect(folder / DATABASE) as database:
        database.execute("INSERT INTO note (text, owner) VALUES (:text, :owner)", values)
        database.execute("INSERT INTO hit (path) VALUES ('/')")
    database.close()
    return task, script("app_visits").Left(Home(Notes(), tmp_path), snapshot, folder, [])


def tried(script: Script, task: Task, left: Any) -> list[tuple[str, bool]]:
    """Ways of tampering with what a right episode left, and whether each is accepted."""
    endings = script("app_endings")
    ways = endings._tampered(task, left, endings.Databases(Notes.noise), random.Random(0))
    return [(way, wrong.verdict(task, "Done").success) for way, _, wrong in ways]


def test_a_right_database_is_accepted_and_none_that_was_tampered_with(
    script: Script, written: tuple[Task, Any]
) -> None:
    task, left = written
    assert left.verdict(task, "Done").success
    found = tried(script, task, left)
    assert {way for way, _ in found} == {"edited", "deleted", "copied", "twice", "wrong_value", "undone"}
    assert not [way for way, accepted in found if accepted]


def test_a_verdict_that_is_too_lenient_is_found_out(script: Script, written: tuple[Task, Any]) -> None:
    task, left = written
    lenient = {**task.evaluator, "allowed": [{"table": "note", "kind": "added"}]}
    found = tried(script, task.model_copy(update={"evaluator": lenient}), left)
    assert {way for way, accepted in found if accepted} == {"copied", "twice"}


def test_the_change_of_another_record_keeps_the_record_that_was_meant(script: Script, tmp_path: Path) -> None:
    tampering: ModuleType = script("tampering")
    task = drawn("write")[0]
    change = {"table": "note", "kind": "changed", "key": {"id": 1}, "values": {"text": "new"}}
    task = task.model_copy(update={"evaluator": {**task.evaluator, "facts": [{"says": "", "change": change}]}})
    with sqlite3.connect(tmp_path / DATABASE) as database:
        database.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
        database.executemany("INSERT INTO note (text) VALUES (?)", [("one",), ("two",), ("three",)])
    database.close()
    tables = tampering.tables_of(tmp_path / DATABASE, ())
    before = tampering.records(tmp_path / DATABASE, tables)
    with sqlite3.connect(tmp_path / DATABASE) as database:
        database.execute("UPDATE note SET text = 'new' WHERE id = 1")
    database.close()
    after = tampering.records(tmp_path / DATABASE, tables)
    wrong = [
        each
        for each in tampering.tamperings(task, before, after, tables, random.Random(0), 0)
        if each.way == "wrong_record"
    ]
    assert len(wrong) == 1 and wrong[0].apply(tmp_path / DATABASE)
    rows = tampering.records(tmp_path / DATABASE, tables)["note"]
    assert rows[1]["text"] == "one"
    assert [row["text"] for row in rows.values()].count("new") == 1


def test_plans_that_end_wrongly_come_from_other_tasks(script: Script) -> None:
    plans: ModuleType = script("app_plans")
    writes = drawn("write")
    task = writes[0]
    ways = dict(plans.spoiled(task, writes, random.Random(0)))
    assert ways.keys() == {"spoiled", "spoiled_before"}
    for planned in ways.values():
        texts = [step["text"] for step in planned.metadata["plan"] if step["do"] == "write"]
        assert len(set(texts)) == 2 and task.evaluator["facts"][0]["change"]["values"]["text"] in texts
        assert planned.metadata["plan"][-1] == task.metadata["plan"][-1]


def test_an_echo_is_of_what_is_not_so(script: Script) -> None:
    plans: ModuleType = script("app_plans")
    tasks = list(Apps(applications=["trac"], templates=["owner"], train_seeds=1).tasks("train", 20, 0))
    echoes = dict(plans.echoed(tasks[0], tasks, random.Random(0)))
    assert echoes.keys() == {"echoed_in_address", "echoed_in_search"}
    summary, owned = tasks[0].evaluator["facts"][0]["shown"]
    for echo in echoes.values():
        answer = echo.metadata["plan"][-1]["answer"]
        assert echo.evaluator["facts"][0]["shown"] == [summary, f"Owned by: {answer}"]
        assert echo.evaluator["facts"][1]["answer"]["value"] == answer
        assert owned != f"Owned by: {answer}"
    assert echoes["echoed_in_search"].metadata["plan"][0]["text"] == f"{summary} Owned by: {answer}"


@pytest.mark.slow
def test_all_parts_run_on_an_application(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(tmp_path)
    apps: ModuleType = script("apps")
    monkeypatch.setattr(script("record"), "RESULTS", tmp_path / "results")
    given = ["--apps", NOTES, "--folder", str(tmp_path), "--tasks", "4", "--played", "2", "--worlds", "1"]
    monkeypatch.setattr("sys.argv", ["apps.py", *given])
    apps.main()
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    headline = printed["headline"]
    assert (headline["apps"], headline["tasks"], headline["oracle_min"]) == (1, 4, 1.0)
    assert (headline["null_agent"], headline["random_clicker"], headline["false_accepts"]) == (0, 0, 0)
    assert headline["endings"] > 50
    assert 0 < headline["reset_s_median"] <= headline["reset_s_p95"] < 5
    assert 0 < headline["mb_per_slot"] < 50
    assert {row["part"] for row in printed["rows"]} == set(apps.PARTS)
    apps.main()
    again = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert again == printed, "what is there is not measured again"
