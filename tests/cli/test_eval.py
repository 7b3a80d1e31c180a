"""`webdojo eval` against an endpoint that ends early, refuses, or is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import one_line_error, webdojo
from tests.policy.chat.endpoint import Endpoint, refuse, replying
from webdojo.store.run import RunStore

pytestmark = pytest.mark.integration
DONE = '<think>So.</think>\n<tool_call>\n{"name": "done", "arguments": {"answer": "x"}}\n</tool_call>'


def evaluate(endpoint: Endpoint, run: Path, *given: str):
    return webdojo("eval", "quickstart", "--model", "m", "--endpoint", endpoint.url, "--run", run, *given)


def test_a_spent_budget_ends_an_evaluation_and_a_larger_one_goes_on_with_the_same_tasks(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with Endpoint(default=replying(lambda messages: DONE)) as endpoint:
        ended = evaluate(endpoint, run, "evaluate.tasks=6", "rollout.concurrency=2", "engine.budget_requests=4")
        assert "raise engine.budget_requests" in one_line_error(ended)
        assert f"--run {run} --resume" in ended.stderr
        assert ended.returncode == 2
        with RunStore.open(run, readonly=True) as store:
            assert 0 < len(rows := store.rows("eval")) < 6
            assert all(row.valid for row in rows), "a task that the budget cut off is no failure of the agent"
        done = evaluate(endpoint, run, "engine.budget_requests=400", "--resume", "--json")
    assert json.loads(done.stdout)["success_eval"]["n"] == 6


def test_an_endpoint_that_refuses_everything_ends_an_evaluation_at_once(tmp_path: Path) -> None:
    with Endpoint(default=refuse(404, "no such model")) as endpoint:
        ended = evaluate(endpoint, tmp_path / "run", "evaluate.tasks=30", "rollout.concurrency=2")
        assert "404: no such model; check engine.base_url and engine.model; nothing was measured" in one_line_error(
            ended
        )
        assert ended.returncode == 2
        assert len(endpoint.bodies) <= 2


def test_an_endpoint_that_is_down_is_said_before_anything_starts(tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        pass
    ended = evaluate(endpoint, tmp_path / "run")
    assert f"error: the endpoint at {endpoint.url} (section engine) does not answer" in ended.stderr
    assert ended.returncode == 75, "another try may find it"
    assert not (tmp_path / "run").exists()


def test_a_message_about_a_judge_names_the_keys_of_the_judge(tmp_path: Path) -> None:
    judge = ["--judge", "openwebrl", "reward.engine.model=j"]
    with Endpoint(default=replying(lambda messages: DONE)) as endpoint, Endpoint(default=refuse(401)) as other:
        where = f"reward.engine.base_url={other.url}"
        ended = evaluate(endpoint, tmp_path / "run", *judge, where, "evaluate.tasks=30", "rollout.concurrency=2")
    assert "check reward.engine.api_key_env, which is empty" in one_line_error(ended)
    assert ended.returncode == 2


def test_a_dry_run_says_what_would_be_measured_and_asks_nothing(tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        named = evaluate(endpoint, tmp_path / "run", "evaluate.tasks=4", "--runs", "2", "--dry-run")
        alone = webdojo("eval", "quickstart", "--model", endpoint.url, "evaluate.tasks=4", "--dry-run", cwd=tmp_path)
        assert endpoint.bodies == []
    assert named.returncode == alone.returncode == 0, named.stderr + alone.stderr
    assert named.stdout.startswith("# m on 4 tasks of dojo, 2 episodes each, judged by rules\n")
    assert "# evaluation         8 " in named.stdout
    assert f"# asking {endpoint.url}, at most: 64 requests" in named.stdout
    assert list(tmp_path.iterdir()) == []
