import json
import math
import sqlite3
import subprocess
import sys
import threading

import pytest

from tests.store.fabricate import trajectory
from webdojo.errors import StoreError
from webdojo.store.run import RunStore

RECIPE = "name: quickstart\nseed: 3\n"


@pytest.fixture
def store(tmp_path):
    with RunStore.create(tmp_path / "run", RECIPE, {"seed": 3}) as store:
        yield store


def test_what_was_written_is_there_after_reopening(tmp_path):
    path = tmp_path / "runs" / "quickstart"
    with RunStore.create(path, RECIPE, {"seed": 3, "versions": {"torch": "2"}}) as store:
        first = trajectory("a", store.images, difficulty=2)
        second = trajectory("b", store.images, success=False)
        store.add_trajectory(first, "rl", 1)
        store.add_trajectory(second, "rl", 2)
        store.add_metrics("rl", 1, {"reward": 0.5})
        store.set("progress", {"iteration": 2})
    with RunStore.open(path) as store:
        assert store.trajectories() == [first, second]
        assert store.trajectories("rl", 2) == [second]
        assert store.trajectories("eval_rl") == []
        assert store.trajectory("a") == first
        assert store.images.get(first.turns[0].observation.screenshot)
        assert store.metrics("rl") == [{"step": 1, "reward": 0.5}]
        assert store.get("progress") == {"iteration": 2}
        assert store.get("nothing") is None
        assert store.recipe_yaml == RECIPE
        assert store.info["versions"] == {"torch": "2"}


def test_columns_answer_questions_in_plain_sql_while_the_run_goes_on(store):
    store.add_trajectory(trajectory("a", store.images, difficulty=2, kind="wiki"), "rl", 1)
    store.add_trajectory(trajectory("b", store.images, success=False, valid=False), "rl", 1)
    store.add_metrics("rl", 1, {"reward": 0.25})
    other = sqlite3.connect(store.path / "run.sqlite")
    assert other.execute("SELECT id, kind, difficulty, success, valid, steps FROM trajectories").fetchall() == [
        ("a", "wiki", 2, 1, 1, 3),
        ("b", "shop", 1, 0, 0, 3),
    ]
    assert other.execute("SELECT record ->> 'reward' FROM metrics").fetchall() == [(0.25,)]
    other.close()
    row = store.rows("rl")[0]
    assert (row.success, row.website, row.response_tokens) == (True, "wiki-3.localhost", 36)


def test_adding_the_same_again_changes_nothing_and_another_under_its_id_is_an_error(store):
    one = trajectory("a", store.images)
    assert store.add_trajectory(one, "rl", 1) is True
    assert store.add_trajectory(one, "rl", 1) is False
    assert len(store.trajectories()) == 1
    with pytest.raises(StoreError, match=r"'a' is taken .*iteration 1"):
        store.add_trajectory(one, "rl", 2)
    with pytest.raises(StoreError, match="'a' is taken"):
        store.add_trajectory(trajectory("a", store.images, success=False), "rl", 1)


def test_an_unfinished_iteration_can_be_done_again(store):
    for id, iteration in (("a", 1), ("b", 2), ("c", 2)):
        store.add_trajectory(trajectory(id, store.images), "rl", iteration)
    assert store.discard_trajectories("rl", 2) == 2
    assert [row.id for row in store.rows()] == ["a"]
    store.add_metrics("rl", 2, {"reward": 0.1})
    store.add_metrics("rl", 2, {"reward": 0.9})
    assert store.metrics("rl") == [{"step": 2, "reward": 0.9}]
    store.add_metrics("rl", 3, {"reward": 1.0})
    store.add_metrics("sft", 3, {"loss": 1.0})
    store.discard_metrics("rl", after=2)
    assert [row["step"] for row in store.metrics("rl")] == [2]
    assert [row["step"] for row in store.metrics("sft")] == [3]


def test_figures_that_are_not_finite_stay_readable(store):
    store.add_metrics("rl", 1, {"grad_norm": math.inf, "reward": 0.5})
    (row,) = store.metrics("rl")
    assert math.isnan(row["grad_norm"])
    assert row["reward"] == 0.5


def test_result_is_in_the_file_and_in_the_store(store):
    store.write_result({"success_rl": {"n": 4, "rate": 0.5}})
    assert json.loads((store.path / "result.json").read_text()) == store.get("result")
    assert list(store.path.glob("*.tmp")) == []


def test_threads_may_write_at_once(store):
    made = [trajectory(f"{n}", store.images) for n in range(24)]
    threads = [
        threading.Thread(target=lambda part: [store.add_trajectory(t, "rl", 1) for t in part], args=(made[k::4],))
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {t.id for t in store.trajectories()} == {t.id for t in made}


def test_creating_over_a_run_says_what_to_do(store):
    with pytest.raises(StoreError, match=r"already holds a run: .*--resume.*--run"):
        RunStore.create(store.path, RECIPE, {})


def test_creating_among_other_files_leaves_them_alone(tmp_path):
    (tmp_path / "recipe.yaml").write_text("mine")
    with pytest.raises(StoreError, match="other files and no run"):
        RunStore.create(tmp_path, RECIPE, {})
    assert (tmp_path / "recipe.yaml").read_text() == "mine"


def test_creating_goes_on_where_an_earlier_try_was_killed(tmp_path):
    (tmp_path / "run.lock").write_text("1")
    (tmp_path / "info.json").write_text("{}")
    (tmp_path / "run.sqlite.new").write_bytes(b"half a database")
    with RunStore.create(tmp_path, RECIPE, {"seed": 3}) as store:
        assert store.info == {"seed": 3}
        assert store.rows() == []


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot be written .*another with --run") as caught:
        RunStore.create(tmp_path / "file" / "run", RECIPE, {})
    assert "\n" not in str(caught.value)


def test_opening_what_is_no_run(tmp_path):
    with pytest.raises(StoreError, match="does not exist"):
        RunStore.open(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="holds no run"):
        RunStore.open(tmp_path)
    (tmp_path / "run.sqlite").write_text("no database at all, but long enough to be read as one")
    with pytest.raises(StoreError, match="cannot be opened"):
        RunStore.open(tmp_path)


def test_opening_a_run_of_another_schema(store):
    store.close()
    database = sqlite3.connect(store.path / "run.sqlite")
    database.execute("PRAGMA user_version=99")
    database.close()
    with pytest.raises(StoreError, match="schema 99"):
        RunStore.open(store.path)


def test_one_process_writes_and_others_read(store):
    store.set("n", 7)
    with pytest.raises(StoreError, match=r"process \d+ is writing the run"):
        RunStore.open(store.path)
    code = "import sys; from webdojo.store.run import RunStore as R; print(R.open(sys.argv[1], readonly=True).get('n'))"
    done = subprocess.run([sys.executable, "-c", code, store.path], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
    with RunStore.open(store.path, readonly=True) as reader, pytest.raises(StoreError, match="cannot write to the run"):
        reader.set("n", 8)
