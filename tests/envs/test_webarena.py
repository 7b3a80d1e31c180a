"""WebArena's tasks as an environment: rows of a file, on sites that the user hosts."""

from pathlib import Path

import pytest

from webdojo.envs.web import WebArena, load
from webdojo.errors import TaskError
from webdojo.reward import Rules

FILE = str(Path(__file__).parent.parent / "data" / "webarena.json")
SITES = {"__SHOPPING__": "http://localhost:7770", "__MAP__": "http://localhost:3000"}


def test_its_tasks_are_those_of_the_file_that_its_sites_have() -> None:
    env = WebArena(path=FILE, sites=SITES)
    assert list(env.tasks("train", 100, 0)) == load(FILE, SITES)
    assert list(env.tasks("eval", 2, 0)) == load(FILE, SITES)[:2]


def test_it_has_no_verdict_of_its_own_and_rules_cannot_score_it() -> None:
    env = WebArena(path=FILE, sites=SITES)
    assert env.reward is None
    with pytest.raises(TaskError, match="has an evaluator of type 'webarena', so rules cannot score it"):
        Rules().check(env.tasks("eval", 1, 0)[0])


async def test_a_visit_brings_the_log_in_of_its_task(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"cookies": [], "origins": []}')
    env = WebArena(path=FILE, sites=SITES)
    task = env.tasks("eval", 1, 0)[0].model_copy(update={"storage_state": str(file)})
    visit = await env.visit(task)
    assert (visit.start_url, visit.storage_state) == (task.start_url, {"cookies": [], "origins": []})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(TaskError, match="cannot be read"):
        WebArena(path="none.json", sites=SITES).tasks("train", 1, 0)
    with pytest.raises(TaskError, match="is on no site alone; its sites are __"):
        WebArena(path=FILE).tasks("train", 1, 0)
