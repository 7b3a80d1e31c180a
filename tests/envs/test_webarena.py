"""WebArena's tasks as an environment: rows of a file, on sites that the user hosts."""

import json
from pathlib import Path

import pytest

from webdojo.envs.web import WebArena, load
from webdojo.errors import Missing, TaskError
from webdojo.reward.rules import Rules
from webdojo.reward.webarena.reward import WebArenaReward

FILE = str(Path(__file__).parent.parent / "data" / "webarena.json")
SITES = {"__SHOPPING__": "http://localhost:7770", "__MAP__": "http://localhost:3000"}


def test_its_tasks_are_those_of_the_file_that_its_sites_have() -> None:
    env = WebArena(path=FILE, sites=SITES)
    assert list(env.tasks("train", 100, 0)) == load(FILE, SITES)
    assert list(env.tasks("eval", 2, 0)) == load(FILE, SITES)[:2]


def test_its_verdict_is_webarenas_and_rules_cannot_score_it() -> None:
    env = WebArena(path=FILE, sites=SITES)
    assert env.reward == WebArenaReward()
    with pytest.raises(TaskError, match="has an evaluator of type 'webarena', so rules cannot score it"):
        Rules().check(env.tasks("eval", 1, 0)[0])


def test_tasks_that_need_a_language_model_are_left_out_on_request() -> None:
    env = WebArena(path=FILE, sites=SITES, graded=False)
    left = env.tasks("train", 100, 0)
    assert 0 < len(left) < len(load(FILE, SITES))
    for task in load(FILE, SITES):
        if task in left:
            env.reward.check(task)
        else:
            with pytest.raises(TaskError, match=r"asks a language model, and none is set.*env.graded=false"):
                env.reward.check(task)


def test_a_task_knows_the_addresses_of_its_sites() -> None:
    by_id = {task.id: task for task in load(FILE, {**SITES, "__SHOPPING__": "http://localhost:7770/"})}
    assert by_id["webarena:22"].evaluator["sites"] == {"__SHOPPING__": "http://localhost:7770"}


async def test_a_visit_brings_the_log_in_of_its_task(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"cookies": [], "origins": []}')
    env = WebArena(path=FILE, sites=SITES)
    task = env.tasks("eval", 1, 0)[0].model_copy(update={"storage_state": str(file)})
    visit = await env.visit(task)
    assert (visit.start_url, visit.storage_state) == (task.start_url, {"cookies": [], "origins": []})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(TaskError, match="does not exist"):
        WebArena(path="none.json", sites=SITES).tasks("train", 1, 0)
    with pytest.raises(Missing, match=r"no file of WebArena's tasks is named: env\.path="):
        WebArena(sites=SITES).tasks("train", 1, 0)
    with pytest.raises(Missing, match=r"no site of WebArena is named: .* 'env\.sites="):
        WebArena(path=FILE).tasks("train", 1, 0)


def test_policies_may_be_measured_on_another_file(tmp_path: Path) -> None:
    rows = json.loads(Path(FILE).read_text())
    (tmp_path / "eval.json").write_text(json.dumps(rows[1:4]))
    env = WebArena(path=FILE, eval_path=str(tmp_path / "eval.json"), sites=SITES)
    assert [task.id for task in env.tasks("eval", 9, 0)] == [f"webarena:{row['task_id']}" for row in rows[1:4]]
    assert list(env.tasks("train", 9, 0)) == load(FILE, SITES)
