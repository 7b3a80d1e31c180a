"""What does not fit together is one line before anything starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.rollout.records import task
from webdojo.errors import ConfigError, EngineError, Missing, ModelError, TaskError
from webdojo.loops.start import train
from webdojo.recipe import load_recipe

STAGE = "{iterations: 1, max_steps: 9, difficulty_sampling: {1: 0, 2: 0}}"
"""Of the quickstart's levels it draws none."""
WEB = ["env={name: web}", "sft.demos=0", "browser.guard.private_hosts=[localhost]"]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Overrides for the web with a file of tasks and a reward that scores whatever it gets."""
    monkeypatch.chdir(tmp_path)
    rows = [task(name).model_dump(mode="json", exclude_defaults=True) for name in "ab"]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "judge.py").write_text(
        "from webdojo.reward.function import RewardFunction\nfrom webdojo.types import Reward\n\n\n"
        "class Kind(RewardFunction):\n"
        "    async def score(self, trajectory, images):\n"
        "        return Reward(value=1.0, success=True)\n"
    )
    return [*WEB, "tasks.path=tasks.jsonl", "reward.name=./judge.py:Kind"]


def check(*overrides: str, trains: bool = True, demonstrates: bool = True) -> None:
    load_recipe("quickstart", list(overrides)).check(trains=trains, demonstrates=demonstrates)


def test_the_quickstart_and_ones_own_web_fit_together(mine: list[str]) -> None:
    check()
    check(*mine)
    check(*mine, trains=False)


@pytest.mark.parametrize("trains", [True, False])
def test_an_environment_without_a_verdict_needs_another_reward(mine: list[str], trains: bool) -> None:
    with pytest.raises(ConfigError, match=r"the environment 'web' has no verdict of its own: name a reward, such as"):
        check(*WEB, "tasks.path=tasks.jsonl", trains=trains)


@pytest.mark.parametrize("trains", [True, False])
def test_tasks_that_the_reward_cannot_score_are_refused(mine: list[str], trains: bool) -> None:
    with pytest.raises(TaskError, match="task 'a' has no evaluator, so rules cannot score it: name another reward"):
        check(*WEB, "tasks.path=tasks.jsonl", "reward.name=rules", trains=trains)


def test_tasks_that_the_environment_does_not_have_are_refused(tmp_path: Path) -> None:
    row = task("a").model_copy(update={"kind": "bank", "evaluator": {"facts": []}}).model_dump(mode="json")
    (tmp_path / "tasks.json").write_text(json.dumps([row]))
    with pytest.raises(TaskError, match="is of kind 'bank', and the embedded web has"):
        check(f"tasks.eval_path={tmp_path / 'tasks.json'}")


def test_an_engine_that_cannot_train_is_refused_for_training_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = ["engine={name: chat, base_url: 'http://127.0.0.1:9/v1', model: m}"]
    with pytest.raises(ConfigError, match=r"engine 'chat' serves a model that cannot be trained: set engine\.name=hf"):
        check(*chat)
    check(*chat, trains=False)


@pytest.mark.parametrize("trains", [True, False])
def test_an_engine_whose_options_do_not_fit_is_refused(trains: bool) -> None:
    with pytest.raises(ConfigError, match=r"engine\.base_url is ''"):
        check("engine={name: chat}", trains=trains)
    native = "engine={name: chat, base_url: 'http://127.0.0.1:9/v1', model: m, tool_calls: native}"
    with pytest.raises(ConfigError, match=r"engine\.tool_calls is 'native', but the harness 'webgym'"):
        check(native, "harness={name: webgym}", trains=trains)


def test_demonstrations_need_an_oracle(mine: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"sft\.demos = 5: the environment 'web' has no oracle.*: set sft\.demos=0"):
        check(*mine, "sft.demos=5")
    check(*mine, "sft.demos=5", demonstrates=False)
    check(*mine, "sft.demos=5", trains=False)


def test_demonstrations_need_browsers_of_this_machine() -> None:
    servers = ["browser.servers=[http://10.0.0.7:8400]", "env.port=8123"]
    with pytest.raises(ConfigError, match=r"sft\.demos = 300: demonstrations need browsers of this machine"):
        check(*servers)
    check(*servers, demonstrates=False)
    check(*servers, "sft.demos=0")
    check(*servers, trains=False)


@pytest.mark.parametrize("trains", [True, False])
def test_servers_elsewhere_need_a_port_that_stays(trains: bool) -> None:
    with pytest.raises(ConfigError, match=r"env\.port is 0, a port that changes"):
        check("browser.servers=[http://10.0.0.7:8400]", "sft.demos=0", trains=trains)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["env.difficulty_sampling={1: 0, 2: 0}"], r"difficulties \[\]: each kind needs one"),
        (["env.difficulties=[10]"], r"difficulties \[10\]: each kind needs one"),
        (
            ["env.difficulties=[1,2,10]", f"train.stages=[{STAGE}]"],
            r"train\.stages\.0\.difficulty_sampling .* leaves none of the difficulties \[1, 2\]",
        ),
    ],
)
def test_a_recipe_without_tasks_is_told_before_it_runs(overrides: list[str], message: str) -> None:
    check()
    with pytest.raises(TaskError, match=message):
        check(*overrides)


def test_a_stage_must_draw_some_task_of_a_file(mine: list[str]) -> None:
    stage = "train.stages=[{iterations: 1, max_steps: 9, difficulty_sampling: {1: 0}}]"
    with pytest.raises(TaskError, match=r"leaves none of the difficulties \[1\] of the training tasks"):
        check(*mine, stage)


def test_a_file_of_tasks_that_cannot_be_read_is_told_before_it_runs(mine: list[str]) -> None:
    with pytest.raises(TaskError, match=r"tasks\.path: task file 'none\.jsonl' does not exist in /"):
        check(*mine, "tasks.path=none.jsonl")
    with pytest.raises(TaskError, match=r"tasks\.eval_path: task file 'none\.jsonl' does not exist in /"):
        check(*mine, "tasks.eval_path=none.jsonl", trains=False)
    Path("empty.jsonl").write_text("")
    with pytest.raises(TaskError, match="holds no tasks"):
        check(*mine, "tasks.path=empty.jsonl", "tasks.eval_path=tasks.jsonl")


KEY = "engine={name: chat, model: m, base_url: 'http://127.0.0.1:9/v1', api_key_env: NO_SUCH_KEY, price_input: 1}"
JUDGED = f"reward={{name: openwebrl, {KEY.replace('engine=', 'engine: ')}}}"


def test_all_that_a_user_must_bring_is_told_at_once(mine: list[str]) -> None:
    with pytest.raises(Missing) as caught:
        check(*WEB, JUDGED)
    key, tasks, otherwise = caught.value.lines
    assert key.startswith(
        "the judge 'openwebrl' (section reward): reward.engine.api_key_env names NO_SUCH_KEY, which is not in"
    )
    assert "tasks.path=my-tasks.jsonl" in tasks
    assert otherwise == "or take the embedded web, which needs none of this: env=dojo reward=rules"
    with pytest.raises(Missing) as caught:
        check(*WEB, JUDGED, "tasks.path=tasks.jsonl")
    assert caught.value.lines == [key, otherwise]
    with pytest.raises(Missing) as caught:
        load_recipe("openwebrl", ["tasks.path=tasks.jsonl"]).check(trains=True, demonstrates=True)
    assert caught.value.lines[-1].endswith(": webdojo train openwebrl-dojo")
    check(*WEB, JUDGED, "env=dojo", "reward=rules")


def test_who_has_brought_an_environment_is_told_of_no_other(mine: list[str]) -> None:
    Path("mine.py").write_text("from webdojo.envs.web import Web\n\n\nclass Mine(Web):\n    pass\n")
    with pytest.raises(Missing) as caught:
        check(*mine, JUDGED, "env={name: ./mine.py:Mine}")
    assert len(caught.value.lines) == 1 and "NO_SUCH_KEY" in caught.value.lines[0]


def test_a_host_that_is_not_public_is_told_before_anything_starts(mine: list[str]) -> None:
    said = (
        r"task 'a' begins at http://site\.localhost/: 127.* is not a public .*private_hosts=\[site\.localhost\] allows"
    )
    with pytest.raises(ConfigError, match=said):
        check(*mine, "browser.guard.private_hosts=[]")
    check(*mine, "browser.guard.private_hosts=[]", "browser.servers=[http://10.0.0.7:8400]")


def test_what_does_not_fit_together_comes_before_what_is_missing(mine: list[str]) -> None:
    with pytest.raises(ConfigError, match="no oracle that could demonstrate"):
        check(*WEB, JUDGED, "sft.demos=5")


def test_a_judges_checkpoint_must_be_there(mine: list[str]) -> None:
    with pytest.raises(ModelError, match="model folder 'judges/mine' does not exist"):
        check(*mine[:-1], "reward={name: openwebrl, engine: hf, model: {path: ./judges/mine}}")


def test_training_tasks_are_checked_too(mine: list[str]) -> None:
    row = task("c").model_copy(update={"storage_state": "me.json"}).model_dump(mode="json")
    Path("login.json").write_text(json.dumps([row]))
    files = ["tasks.path=login.json", "tasks.eval_path=tasks.jsonl"]
    with pytest.raises(TaskError, match=r"task 'c' begins logged in .* env\.allow_login=true"):
        check(*mine, *files)
    check(*mine, *files, "env.allow_login=true")
    check(*mine, *files, trains=False)


def test_a_training_whose_judge_does_not_answer_does_not_begin(mine: list[str], tmp_path: Path) -> None:
    silent = JUDGED.replace("NO_SUCH_KEY", "''")
    recipe = load_recipe("quickstart", [*WEB, silent, "tasks.path=tasks.jsonl"])
    with pytest.raises(EngineError, match=r"judge at http://127\.0\.0\.1:9/v1 \(section reward\.engine\) does not"):
        train(recipe, tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()
