"""A distillation from stored episodes to a judge that a run takes for its reward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.loops.distillation.conftest import OF_A_SITE, TERSE, Distilled, distilled, student
from webdojo.errors import ConfigError, StoreError, TaskError
from webdojo.loops.collection import Format
from webdojo.loops.collection.dataset import read_manifest
from webdojo.loops.collection.exchange import export_dataset
from webdojo.loops.distillation import distill as module
from webdojo.loops.judging.audit import Choice, audit
from webdojo.loops.judging.verdicts import named_judge
from webdojo.loops.run_folder import COLLECT, HELDOUT, RL
from webdojo.loops.start import train
from webdojo.recipe import load_recipe
from webdojo.store.run import RunStore
from webdojo.view.judging import distillation_tables


def silent(total: int) -> Any:
    return lambda: None


async def test_a_student_learns_the_verdicts_and_is_measured_on_other_sites(done: Distilled) -> None:
    report, manifest = done.report, read_manifest(done.out)
    assert manifest.judge is not None and manifest.judge["name"] == "webvoyager"
    assert (manifest.counts.trajectories, manifest.counts.successes) == (28, 14)
    assert report["left_out"] == {"about which no judge is asked": 1}
    with RunStore.open(done.out, readonly=True) as store:
        learnt = {row.website for row in store.rows(COLLECT)}
        held = store.rows(HELDOUT)
        assert len(learnt) == 7 and learnt.isdisjoint(row.website for row in held)
        assert len(held) == 3 * OF_A_SITE == sum(report["heldout"]["counts"].values())
        assert len(store.metrics("sft")) == 12 * 14, "as many steps as 28 examples make in twos, 12 times"
        assert store.get("result") == report
    (source,) = manifest.lineage
    assert source["judge"]["name"] == TERSE and source["runs"] == [str(done.run)]
    assert source["split"]["parts"][HELDOUT]["sites"] == sorted({row.website for row in held})
    # The labels are the truth here, so that the truth says the same of it.
    by_truth = await audit(done.out, str(done.out / "judge.yaml"), [], Choice([HELDOUT]), silent)
    assert by_truth["overall"]["counts"] == report["heldout"]["counts"]
    shown = "".join(map(str, distillation_tables(report)))
    assert "28 examples, 14 of them successes" in shown and f"reward.path={report['path']}" in shown
    counts = report["heldout"]["counts"]
    assert counts["invalid"] <= 3, "it has not learnt how an answer ends"
    assert counts["tp"] + counts["tn"] > counts["fp"] + counts["fn"], "it cannot tell a right answer from a wrong one"


async def test_a_distilled_judge_is_named_by_its_folder_wherever_that_lies(
    done: Distilled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(done.out.parent)
    recipe = load_recipe("quickstart", ["reward=distilled", "reward.path=judge", "reward.format_reward=false"])
    judge: Any = recipe.reward_function
    assert (judge.name, judge.engine.name, judge.max_images, judge.format_reward) == ("webvoyager", "hf", 1, False)
    assert judge.model.path == "judge/checkpoints/sft"
    by_recipe: Any = named_judge("judge/judge.yaml", [], recipe)
    assert by_recipe.model.path == str(done.out / "checkpoints/sft")
    with pytest.raises(ConfigError, match=r"reward\.path 'nowhere' holds no distilled judge"):
        load_recipe("quickstart", ["reward=distilled", "reward.path=nowhere"]).check(trains=False, demonstrates=False)


def test_a_run_is_trained_by_it(done: Distilled, tmp_path: Path) -> None:
    brief = [
        *("sft.demos=0", "train.iterations=1", "train.groups_per_iteration=1", "train.dynamic_sampling=false"),
        *("rollout.group_size=4", "rollout.concurrency=4", "rollout.max_steps=3", "env.difficulties=[1]"),
        *("evaluate.tasks=3", "evaluate.max_steps=2", "evaluate.max_invalid=1", "train.threads=1"),
    ]
    recipe = load_recipe("quickstart", [*brief, "reward=distilled", f"reward.path={done.out}"])
    result = train(recipe, tmp_path / "trained", resume=False)
    assert result["success_rl"]["n"] == 3
    with RunStore.open(tmp_path / "trained", readonly=True) as store:
        assert len(store.trajectories(RL)) >= 4
        rewards = [each.reward for each in store.trajectories() if each.reward is not None]
    judged = [reward for reward in rewards if reward.judgements and reward.valid]
    assert judged, "the judge has given no verdict"
    for reward in judged:
        assert reward.judgements[-1].answer == ("SUCCESS" if reward.success else "NOT SUCCESS")


# --- going on ---------------------------------------------------------------------------------


async def test_what_has_ended_is_not_done_again(done: Distilled, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> None:
        raise AssertionError("it was done before")

    for name in ("labels", "fine_tune", "store_examples"):
        monkeypatch.setattr(module, name, never)
    again = await distilled(done.run, done.recipe, done.out, TERSE)
    here = {"path": str(done.out), "heldout": {**again["heldout"], "second": done.report["heldout"]["second"]}}
    assert {**done.report, **here} == {**again, **here}


# --- what does not fit ------------------------------------------------------------------------


async def test_another_distillation_is_not_mixed_into_a_folder(done: Distilled, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"was begun with other student than these"):
        await distilled(done.run, student("reward.max_images=2"), done.out, TERSE)
    with pytest.raises(ConfigError, match=r"was begun with other limit and heldout than these"):
        await distilled(done.run, done.recipe, done.out, TERSE, choice=Choice(limit=20, seed=3), held_out=0.4)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(StoreError, match="holds other files and no run"):
        await distilled(done.run, done.recipe, tmp_path / "notes")


async def test_what_teaches_nothing_is_said_before_anything_is_trained(run: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"all 28 examples have the same verdict"):
        await distilled(run, student(), tmp_path / "judge", judge="tests.loops.judging.known:Credulous")
    assert not (tmp_path / "judge" / "dataset.json").exists()
    with pytest.raises(TaskError, match=r"no site fits into the part 'heldout'"):
        await distilled(run, student(), tmp_path / "other", held_out=0.01)
    assert not (tmp_path / "other").exists()


def test_an_agent_does_not_imitate_it_and_other_trainers_may_learn_it(done: Distilled, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="teaches a judge, not an agent"):
        train(load_recipe("quickstart", [f"sft.data={done.out}"]), tmp_path / "run", resume=False)
    assert export_dataset(done.out, tmp_path / "rows", Format.llamafactory) == {"": 28}
    row = json.loads((tmp_path / "rows" / "train.jsonl").read_text().splitlines()[0])
    question, answer = row["messages"][-2:]
    assert "Final answer of the agent" in question["content"] and question["content"].count("<image>") == 1
    assert answer["content"].splitlines()[-1] in ("SUCCESS", "NOT SUCCESS")
