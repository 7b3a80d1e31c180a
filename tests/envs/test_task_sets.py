"""Task sets by name, and which tasks a run has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from tests.rollout.records import task
from webdojo.envs import web
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Environment, Split
from webdojo.envs.registry import ENVIRONMENTS, TasksConfig
from webdojo.envs.task_sets import load_tasks, tasks_of
from webdojo.envs.web import Web
from webdojo.errors import ConfigError, Missing, TaskError
from webdojo.tasks import miniwob, records
from webdojo.types import Task

WEBARENA = Path(__file__).parent.parent / "data" / "webarena.json"
SITES = {"__MAP__": "http://localhost:3000"}


def written(file: Path, *names: str) -> str:
    rows = [task(name).model_dump(mode="json", exclude_defaults=True) for name in names]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


# --- by name ----------------------------------------------------------------------------------


def test_a_name_gives_what_its_source_gives(tmp_path: Path) -> None:
    file = written(tmp_path / "tasks.jsonl", "a", "b")
    assert list(load_tasks("records", path=file)) == list(records.load(file))
    assert load_tasks("webarena", path=WEBARENA, sites=SITES) == web.load(WEBARENA, SITES)
    assert load_tasks("miniwob", seeds=[3]) == miniwob.load([3])
    shops = list(islice(load_tasks("dojo:valid", kinds=["shop"], difficulties=[2], seed=4), 5))
    assert {(each.kind, each.difficulty) for each in shops} == {("shop", 2)}


@pytest.mark.parametrize(
    ("name", "options", "error", "says"),
    [
        ("miniwb", {}, ConfigError, "unknown task set 'miniwb'; did you mean 'miniwob'"),
        ("miniwob", {"path": "tasks.json"}, TaskError, "task set 'miniwob' takes no path; leave it out"),
        ("webarena", {"path": WEBARENA}, TaskError, "task set 'webarena' needs sites=…"),
        ("records", {}, TaskError, "task set 'records' needs path=…"),
        ("dojo", {}, TaskError, "task set 'dojo' needs a split, as in 'dojo:train'"),
        ("miniwob:train", {}, TaskError, "task set 'miniwob' has no splits; leave ':train' out"),
        ("dojo:tran", {}, TaskError, "did you mean 'train'"),
    ],
)
def test_an_unknown_name_or_a_wrong_option_is_one_clear_line(name, options, error, says) -> None:
    with pytest.raises(error, match=says):
        load_tasks(name, **options)


def test_a_source_of_ones_own_takes_options_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_tasks.py").write_text(
        "from webdojo.types import Task\n\n\n"
        "def numbered(n=2, *, host):\n"
        "    return [Task(id=str(i), instruction='', start_url=f'http://{host}/', website=host) for i in range(n)]\n"
    )
    assert [each.id for each in load_tasks("./my_tasks.py:numbered", host="a", n=3)] == ["0", "1", "2"]
    with pytest.raises(TaskError, match=r"'\./my_tasks\.py:numbered' needs host=…"):
        load_tasks("./my_tasks.py:numbered")


# --- of a run ---------------------------------------------------------------------------------


def ids(tasks: Sequence[Task]) -> list[str]:
    return [each.id for each in tasks]


def test_without_a_file_the_tasks_are_those_of_the_environment() -> None:
    env, config = Dojo(layout="compact"), TasksConfig()
    assert tasks_of(env, config, "train", 30, 4) == env.tasks("train", 30, 4)
    assert tasks_of(env, config, "eval", 30, 4) == env.tasks("eval", 30, 4)


def test_a_file_stands_in_their_place_for_both_splits(tmp_path: Path) -> None:
    config = TasksConfig(path=written(tmp_path / "tasks.jsonl", *"abc"))
    for split in ("train", "eval"):
        assert ids(tasks_of(Dojo(), config, split, 100, 0)) == ["a", "b", "c"]  # type: ignore[arg-type]


def test_evaluation_may_have_a_file_of_its_own(tmp_path: Path) -> None:
    path, eval_path = written(tmp_path / "tasks.jsonl", *"abc"), written(tmp_path / "held-out.jsonl", *"de")
    config = TasksConfig(path=path, eval_path=eval_path)
    assert ids(tasks_of(Web(), config, "train", 100, 0)) == ["a", "b", "c"]
    assert ids(tasks_of(Web(), config, "eval", 100, 0)) == ["d", "e"]
    only_eval = TasksConfig(eval_path=eval_path)
    assert ids(tasks_of(Dojo(), only_eval, "eval", 100, 0)) == ["d", "e"]
    assert {each.kind for each in tasks_of(Dojo(), only_eval, "train", 4, 0)} == {"shop", "wiki"}


def test_of_a_longer_file_the_seed_chooses_in_the_order_of_the_file(tmp_path: Path) -> None:
    names = [f"t{number:02}" for number in range(40)]
    config = TasksConfig(path=written(tmp_path / "tasks.jsonl", *names))
    chosen = ids(tasks_of(Web(), config, "eval", 10, 3))
    assert len(set(chosen)) == 10 and chosen == sorted(chosen)
    assert chosen == ids(tasks_of(Web(), config, "eval", 10, 3))
    assert chosen != ids(tasks_of(Web(), config, "eval", 10, 4))
    assert chosen != ids(tasks_of(Web(), config, "train", 10, 3))
    assert chosen != names[:10]
    assert ids(tasks_of(Web(), config, "eval", 40, 3)) == names


def test_a_file_is_read_by_the_source_that_the_recipe_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_format.py").write_text(
        "from pathlib import Path\n\nfrom webdojo.types import Task\n\n\n"
        "def lines(path):\n"
        "    for line in Path(path).read_text().split():\n"
        "        yield Task(id=line, instruction=line, start_url='http://a/', website='a')\n"
    )
    (tmp_path / "tasks.txt").write_text("buy sell\n")
    config = TasksConfig(path="tasks.txt", source="./my_format.py:lines")
    assert ids(tasks_of(Web(), config, "train", 100, 0)) == ["buy", "sell"]


class Empty(Environment):
    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return []


def test_no_tasks_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"the environment '.*Empty' has no tasks to train"):
        tasks_of(Empty(), TasksConfig(), "train", 1, 0)
    with pytest.raises(Missing, match=r"name a file of them, tasks\.path="):
        tasks_of(Web(), TasksConfig(), "eval", 1, 0)
    nothing = written(tmp_path / "none.jsonl")
    with pytest.raises(TaskError, match=r"none\.jsonl' holds no tasks \(tasks\.path\)"):
        tasks_of(Web(), TasksConfig(path=nothing), "train", 1, 0)
    with pytest.raises(TaskError, match=r"none\.jsonl' holds no tasks \(tasks\.eval_path\)"):
        tasks_of(Web(), TasksConfig(eval_path=nothing), "eval", 1, 0)
    with pytest.raises(TaskError, match=r"^tasks\.path: task file '.*missing\.jsonl' does not exist$"):
        tasks_of(Web(), TasksConfig(path=str(tmp_path / "missing.jsonl")), "train", 1, 0)
    twice = written(tmp_path / "twice.jsonl", "a", "a")
    with pytest.raises(TaskError, match="id 'a' stands there already"):
        tasks_of(Web(), TasksConfig(path=twice), "train", 1, 0)


ROWS = """
from webdojo import Environment

class Rows(Environment):
    def tasks(self, split, n, seed):
        return [{"id": "a", "instruction": "Go"}]

class Broken(Environment):
    def tasks(self, split, n, seed):
        return {}[split]
"""


def test_what_the_tasks_of_ones_own_environment_have_wrong_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ROWS)
    environment = {name: ENVIRONMENTS.get(f"{tmp_path}/mine.py:{name}")() for name in ("Rows", "Broken")}
    with pytest.raises(
        TaskError, match=r"mine\.py:Rows': tasks must give webdojo\.Task records, and gave a dict: {'id"
    ):
        tasks_of(environment["Rows"], TasksConfig(), "train", 1, 0)
    with pytest.raises(
        ConfigError, match=r"mine\.py:Broken' failed in tasks \(mine\.py, line 10\): KeyError: 'train'$"
    ):
        tasks_of(environment["Broken"], TasksConfig(), "train", 1, 0)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"instruction": " "}, "instruction is empty: say what is to be done"),
        ({"start_url": "a.example/"}, "start_url 'a.example/' begins with neither http:// nor https://"),
    ],
)
def test_a_row_that_nobody_could_begin_is_refused(tmp_path: Path, wrong: dict[str, str], says: str) -> None:
    file = tmp_path / "tasks.json"
    rows = [task("a"), task("b").model_copy(update=wrong)]
    file.write_text(json.dumps([row.model_dump(mode="json", exclude_defaults=True) for row in rows]))
    with pytest.raises(TaskError, match=rf"^task 2 of '.*tasks\.json' \(tasks\.path\), 'b': {says}$"):
        tasks_of(Web(), TasksConfig(path=str(file)), "eval", 1, 0)
