"""The reward `webarena_verified` without its library; `tests/verified` has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reward.webarena.test_reward import episode
from webdojo.envs.web import WebArena
from webdojo.errors import TaskError
from webdojo.reward.webarena.reward import WebArenaReward
from webdojo.reward.webarena.verified import WebArenaVerified

ROW = {
    "task_id": 21,
    "intent": "x",
    "start_urls": ["__MAP__/a", "__MAP__/b"],
    "sites": ["map"],
    "eval": [{"evaluator": "X"}],
}


def test_its_rows_are_tasks_that_name_their_number(tmp_path: Path) -> None:
    file = tmp_path / "verified.json"
    file.write_text(json.dumps([ROW]))
    env = WebArena(path=str(file), sites={"__MAP__": "http://map/"}, graded=False)
    (task,) = env.tasks("eval", 9, 0)
    assert (task.id, task.start_url) == ("webarena:21", "http://map/a")
    assert task.metadata["more_start_urls"] == ["http://map/b"]
    assert task.evaluator == {"type": "webarena_verified", "task_id": 21, "sites": {"__MAP__": "http://map"}}
    with pytest.raises(TaskError, match="has no evaluators of WebArena: name another reward"):
        WebArenaReward().check(task)


def test_a_task_of_another_kind_is_refused() -> None:
    with pytest.raises(TaskError, match="task '7' is none of WebArena-Verified: name another reward"):
        WebArenaVerified().check(episode("x", reference_url="http://shop/").task)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webdojo.reward.webarena.verified.find_spec", lambda name: None)
    task = episode("x").task.model_copy(update={"evaluator": {"type": "webarena_verified", "task_id": 21, "sites": {}}})
    with pytest.raises(TaskError, match=r"pip install 'webdojo\[webarena-verified\]'"):
        WebArenaVerified().check(task)
