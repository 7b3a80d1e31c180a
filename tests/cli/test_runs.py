"""`webdojo runs …` as a user runs it."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.cli.commands import one_line_error, webdojo
from tests.store.fabricate import trajectory
from tests.view.demo_run import create, fill
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.reward.function import invalid
from webdojo.reward.gate import Scorer
from webdojo.reward.registry import REWARDS
from webdojo.store.run import RunStore
from webdojo.types import Judgement, Reward, Termination


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, one that was killed, one that was stopped, and no run."""
    folder = tmp_path_factory.mktemp("clone") / "runs"
    with create(folder / "done") as store:
        fill(store, iterations=24)
    recipe = dump_recipe(load_recipe("quickstart"))
    for name in ("killed", "stopped"):
        with RunStore.create(folder / name, recipe, {"seed": 0, "created": "2026-01-02T03:04:05+0000"}) as store:
            store.add_metrics("rl", 3, {"success": 0.25, "grad_norm": float("nan")})
            lost = trajectory("t", store.images, success=False, valid=False, termination=Termination.TIMEOUT)
            store.add_trajectory(lost, "rl", 3)
            for number, cause in enumerate(("unreadable", "unreadable", "reward_failed")):
                unjudged = trajectory(f"u{number}", store.images)
                unjudged.reward = invalid(cause, "nobody could say")
                store.add_trajectory(unjudged, "rl", 3)
            store.checkpoints.save("rl-0003", lambda folder: None, {"phase": "rl", "iteration": 3})
    (folder / "killed" / "run.lock").write_text("12345")
    shutil.copytree(folder / "stopped", folder / "newer")
    with RunStore.open(folder / "newer") as store:
        store._database.write("PRAGMA user_version=99", ())
    (folder / "notes").mkdir()
    return folder


def test_the_list_tells_what_became_of_each_run(runs: Path) -> None:
    with RunStore.open(runs / "stopped"):  # while it is written
        found = {Path(run["run"]).name: run for run in json.loads(webdojo("runs", "list", runs, "--json").stdout)}
        table = webdojo("runs", "list", cwd=runs.parent)
    states = {name: run["state"] for name, run in found.items()}
    assert states == {"done": "finished", "killed": "killed", "stopped": "running", "newer": "unreadable"}
    assert found["done"]["measured"] is True
    assert (found["killed"]["iteration"], found["killed"]["success"], found["killed"]["measured"]) == (3, 0.25, False)
    assert found["killed"]["iterations"] == load_recipe("quickstart").train.iterations
    assert found["done"]["episodes"] == 144
    assert "25.0%*" in table.stdout and "* of the episodes that it trains on" in table.stdout
    assert all(name in table.stdout for name in states), "a name is cut where the terminal is narrow"
    assert "schema 99" in table.stderr
    one = json.loads(webdojo("runs", "list", runs / "stopped", "--json").stdout)
    assert [run["state"] for run in one] == ["stopped"]


def test_show_tells_what_a_run_is_and_how_it_went(runs: Path) -> None:
    done = webdojo("runs", "show", runs / "done").stdout
    for text in ("quickstart", "After RL", "95 % interval", "the last 12 of 24 iterations", "eval_rl"):
        assert text in done
    assert "…" not in done, "a figure is cut where the terminal is narrow"
    shown = json.loads(webdojo("runs", "show", runs / "killed", "--json").stdout)
    assert (shown["state"], shown["pid"], shown["iteration"]) == ("killed", "12345", 3)
    assert shown["invalid"] == {"rl": {"timeout": 1, "unreadable": 2, "reward_failed": 1}}
    assert shown["metrics"] == [{"step": 3, "success": 0.25, "grad_norm": None}]
    (checkpoint,) = shown["checkpoints"]
    assert (checkpoint["name"], checkpoint["latest"], checkpoint["best"]) == ("rl-0003", True, False)
    told = " ".join(webdojo("runs", "show", runs / "killed").stdout.split())
    assert "4 unreadable 2, timeout 1, reward failed 1" in told


def test_failed_episodes_are_listed_with_their_reasons_and_each_has_a_film(runs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(runs / "done", run)
    with RunStore.open(run, readonly=True) as store:
        lost = [row.id for row in store.rows("eval_rl") if not row.success]
    found = json.loads(webdojo("runs", "episodes", run, "--failed", "--phase", "eval_rl", "--json").stdout)
    assert [episode["id"] for episode in found["episodes"]] == lost
    assert found["failures"] == [
        {"reason": "max steps", "episodes": len(lost), "example": found["episodes"][-1]["name"]}
    ]
    shown = webdojo("runs", "episodes", run, "--failed", "--phase", "eval_rl", "--limit", "2").stdout
    assert f"the last 2 of {len(lost)} episodes" in shown
    assert "max steps: The cart is empty." in shown
    film = webdojo("runs", "film", run, found["episodes"][0]["name"])
    page = Path(film.stdout.splitlines()[-1].removeprefix("film: "))
    assert "format error: unknown tool 'clik'" in film.stdout
    assert "max steps, reward 0: The cart is empty." in film.stdout
    assert lost[0] in page.read_text()
    both = [each["name"] for each in found["episodes"][:2]]
    several = webdojo("runs", "film", run, *both, "--out", tmp_path / "both.html")
    assert several.stdout.splitlines()[-1] == f"film: {tmp_path / 'both.html'}"
    assert (tmp_path / "both.html").read_text().count("<article") == 2
    assert "no episode in" in one_line_error(webdojo("runs", "film", run, "nothing-like-it"))


def test_an_invalid_episode_has_no_reward_and_the_judge_explains_itself(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with RunStore.create(run, "name: x", {"seed": 0}) as store:
        judged, invalid = trajectory("t-0", store.images), trajectory("t-1", store.images)
        answer = Judgement(step="verdict", prompt="Did it?", answer="The <cart> of swordfish-9 is empty.\nNOT SUCCESS")
        judged.secrets = ["swordfish-9"]
        judged.reward = Reward(value=0.0, success=False, reason="judged unsuccessful", judgements=[answer])
        invalid.reward = Reward(value=0.0, success=False, valid=False, cause="dead_page", reason="nothing loads")
        unjudged = trajectory("t-2", store.images)
        unjudged.reward = None
        for episode in (judged, invalid, unjudged, invalid.model_copy(update={"id": "t-3"})):
            store.add_trajectory(episode, "eval", 0)
    film = webdojo("runs", "film", run, "t-0", "t-1", "t-2").stdout
    assert "reward 0: judged unsuccessful\nthe judge's answer:\nThe <cart> of *** is empty.\nNOT SUCCESS\n" in film
    assert ", invalid: nothing loads\n" in film
    assert film.count("reward 0") == 1
    page = Path(film.splitlines()[-1].removeprefix("film: ")).read_text()
    assert "The &lt;cart&gt; of *** is empty." in page and "swordfish" not in page
    assert page.count("reward 0") == 1 and "invalid: dead page" in page
    # What the web failed is commoner, and says nothing of the agent.
    assert f"See one step by step: webdojo runs film {run} 0" in webdojo("runs", "episodes", run).stdout


FORGETFUL = """
from webdojo import RewardFunction

def page_of(task):
    return task.evaluator["page"]

class Forgetful(RewardFunction):
    async def score(self, trajectory, images):
        return page_of(trajectory.task)
"""


def test_what_code_raised_is_shown_in_short_and_the_film_has_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    reward = REWARDS.get(f"{tmp_path}/forgetful.py:Forgetful")()
    run = tmp_path / "run"
    with RunStore.create(run, "name: x", {"seed": 0}) as store:
        for number in range(3):
            episode = trajectory(f"t-{number}", store.images)
            if number:
                asyncio.run(Scorer(reward, store.images).score(episode))
            store.add_trajectory(episode, "eval", 0)
    listed, film = webdojo("runs", "episodes", run).stdout, webdojo("runs", "film", run, "t-1").stdout
    for told in (listed, film):
        assert f'{tmp_path}/forgetful.py", line 5, in page_of' in told
        assert "\nKeyError: 'page'\n" in told
        assert "gate.py" not in told, "webdojo's own calls stand before those of the user"
    assert "raised in 2 episodes:" in listed
    assert f"the whole traceback: webdojo runs film {run} 2" in listed
    page = Path(film.splitlines()[-1].removeprefix("film: ")).read_text()
    assert "gate.py" in page and "in page_of" in page


def test_gc_leaves_a_run_alone_that_is_written(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for name in ("killed", "stopped"):
        shutil.copytree(runs / name, folder / name)
        (folder / name / ".half.tmp").write_bytes(bytes(20_000))
    dry = webdojo("runs", "gc", folder, "--dry-run")
    assert "41.0 kB can be freed" in dry.stdout
    with RunStore.open(folder / "stopped"):
        assert "is writing the run" in one_line_error(webdojo("runs", "gc", folder / "stopped"))
        done = webdojo("runs", "gc", folder)
    assert "left alone" in done.stderr and "20.5 kB freed" in done.stdout
    assert [(folder / name / ".half.tmp").exists() for name in ("killed", "stopped")] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "nowhere"], "nowhere does not exist"),
        (["list", "."], "there is no run in ."),
        (["export", "nowhere"], "nowhere does not exist"),
    ],
)
def test_a_wrong_folder_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    assert message in one_line_error(webdojo("runs", *arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_evaluations_are_compared_by_task(runs: Path, tmp_path: Path) -> None:
    recipe = dump_recipe(load_recipe("quickstart"))
    for name, wins in (("a", 4), ("b", 13)):
        with RunStore.create(tmp_path / name, recipe, {"seed": 0}) as store:
            for number in range(16):
                episode = trajectory(f"{name}{number}", store.images, success=number < wins)
                task = episode.task.model_copy(update={"id": f"t{number}"})
                store.add_trajectory(episode.model_copy(update={"task": task}), "eval", 0)
    told = webdojo("compare", tmp_path / "a", tmp_path / "b").stdout
    assert "25.0%" in told and "81.2%" in told and "+56.2%" in told and "0.0039" in told
    assert "b won: t4, t5, t6, t7, t8, t9, t10, t11, t12" in " ".join(told.split())
    found = json.loads(webdojo("compare", tmp_path / "a", tmp_path / "b", "--json").stdout)
    assert found["comparisons"][0]["official"]["lost"] == []
    assert "name at least two" in webdojo("compare", tmp_path / "a").stderr
    assert "holds no evaluation" in one_line_error(webdojo("compare", tmp_path / "a", runs / "killed"))
