"""Runs are read in one pass, while they are written too, and each trajectory is in memory alone."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import pytest

from tests.loops.analysis.made import episode, step
from tests.loops.judging.known import known
from webdojo.errors import ConfigError, StoreError
from webdojo.loops.analysis.analyze import analyze, chosen, number_of_episodes, setting_of
from webdojo.loops.analysis.parquet import write_parquet
from webdojo.loops.analysis.questions import QUESTIONS
from webdojo.loops.analysis.table import Kind
from webdojo.loops.judging.audit import Choice
from webdojo.loops.judging.compare import rejudge
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.types import Trajectory

RECIPE = dump_recipe(load_recipe("quickstart"))


def create(path: Path, recipe: str = RECIPE) -> RunStore:
    return RunStore.create(path, recipe, {"seed": 0})


def fill(store: RunStore, phase: str, iteration: int, number: int) -> None:
    for n in range(number):
        made = episode(f"{phase}-{iteration}-{n}", step("So far so good."), step(), success=n % 2 == 0)
        store.add_trajectory(made, phase, iteration)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with create(tmp_path / "one") as store:
        fill(store, "eval_base", 0, 4)
        fill(store, "rl", 1, 6)
        fill(store, "rl", 2, 6)
    return tmp_path / "one"


def test_every_question_is_answered_or_says_in_a_line_why_not(run: Path) -> None:
    tables = analyze([run])
    assert [table.name for table in tables] == [question.name for question in QUESTIONS]
    for table in tables:
        assert bool(table.rows) != bool(table.missing)
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(line.startswith("one: ") and "\n" not in line for line in table.missing)
    assert {table.name for table in tables if table.missing} == {"memory_keys", "judges", "model_errors"}


def test_a_run_without_an_episode_has_no_data_for_any_question(tmp_path: Path) -> None:
    create(tmp_path / "empty").close()
    assert all(table.missing and not table.rows for table in analyze([tmp_path / "empty"]))


def test_phases_questions_and_several_runs_are_chosen(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "two"
    with create(other) as store:
        fill(store, "rl", 1, 3)
    (table,) = analyze([run, other], ["rl"], chosen(["lengths"]))
    assert [(row[0], *row[1:4]) for row in table.rows] == [
        ("one", "rl", 1, 6),
        ("one", "rl", 2, 6),
        ("two", "rl", 1, 3),
    ]
    assert table.column("run") == ["one", "one", "two"]
    assert (number_of_episodes([run, other]), number_of_episodes([run, other], ["rl"])) == (19, 15)
    (tmp_path / "again").mkdir()
    copy = shutil.copytree(run, tmp_path / "again" / "one")
    (table,) = analyze([run, copy], ["eval_base"], chosen(["lengths"]))
    assert set(table.column("run")) == {str(run), str(copy)}


def test_wrong_names_say_which_there_are(run: Path) -> None:
    with pytest.raises(ConfigError, match="no question 'length': choose among lengths, lexical_proxies"):
        chosen(["length"])
    with pytest.raises(StoreError, match=r"no phase 'sft' in .* \(there: eval_base, rl\)"):
        number_of_episodes([run], ["sft"])


def test_a_run_is_read_while_it_is_written(tmp_path: Path) -> None:
    with create(tmp_path / "run") as store:
        fill(store, "rl", 1, 3)
        (table,) = analyze([tmp_path / "run"], questions=chosen(["lengths"]))
        assert table.column("episodes") == [3]
        fill(store, "rl", 2, 2)
        (table,) = analyze([tmp_path / "run"], questions=chosen(["lengths"]))
        assert table.column("episodes") == [3, 2]


def test_trajectories_are_not_kept(run: Path) -> None:
    gc.collect()
    before = sum(isinstance(each, Trajectory) for each in gc.get_objects())
    most = 0

    def count() -> None:
        nonlocal most
        most = max(most, sum(isinstance(each, Trajectory) for each in gc.get_objects()) - before)

    analyze([run], on_episode=count)
    assert most <= 2, "one that is read, and the one before it"


async def test_judges_that_judged_the_run_again_are_compared(tmp_path: Path) -> None:
    with create(tmp_path / "run") as store:
        for n in range(4):
            store.add_trajectory(known(f"wiki-{n}", store.images), "eval", 0)
    await rejudge(tmp_path / "run", ["rules"], [], Choice(), lambda total: lambda: None)
    (log,) = (tmp_path / "run" / "judgements").glob("*-verdicts.jsonl")
    for purpose in ("stress", "replay-01234567"):
        shutil.copy(log, log.with_name(log.name.replace("-verdicts", f"-{purpose}-verdicts")))
    with log.open("a") as file:
        file.write('{"id": "half a li')  # a judge is writing it
    (table,) = analyze([tmp_path / "run"], questions=chosen(["judges"]))
    assert table.column("episodes") == [4]
    assert table.column("agree") == [1]
    assert str(table.column("second")[0]).startswith("rules-")
    assert log.read_text().endswith("half a li"), "reading a run changed it"


def test_the_recipe_says_how_its_memory_and_its_restart_are_meant(tmp_path: Path) -> None:
    harness = "harness:\n  name: webgym\n  memory_delta: true\n"
    with create(tmp_path / "a", harness) as store:
        assert setting_of(store).memory_delta
    with create(tmp_path / "b", "harness:\n  name: openwebvoyager\n  restart_url: http://s.test/\n") as store:
        assert (setting_of(store).restart_url, setting_of(store).memory_delta) == ("http://s.test/", False)


def test_parquet_holds_every_row_by_type(run: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    types = {Kind.TEXT: "string", Kind.COUNT: "int64", Kind.NUMBER: "double", Kind.SHARE: "double"}
    for table in analyze([run]):
        write_parquet(table, tmp_path / "t.parquet")
        read = parquet.read_table(tmp_path / "t.parquet")
        assert [tuple(row.values()) for row in read.to_pylist()] == list(table.rows)
        assert [str(each.type) for each in read.schema] == [types[column.kind] for column in table.columns]
