"""Whole runs on a random small model: what is measured, kept and refused when a run goes on."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from pathlib import Path

import pytest

from tests.loops.conftest import SmallRecipe
from webdojo.browser.session import BrowserSession
from webdojo.errors import EngineError, ModelError, TaskError
from webdojo.loops.episodes import open_episodes
from webdojo.loops.log import RunLog
from webdojo.loops.models import open_engine
from webdojo.loops.pipeline import Pipeline
from webdojo.loops.run_folder import is_unfinished
from webdojo.loops.start import train
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.processor import Processor
from webdojo.policy.scripted import ScriptedActor
from webdojo.progress import Progress
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.sites.oracle import Oracle, OracleStep
from webdojo.store.run import DATABASE, RunStore
from webdojo.types import Termination, ToolCall


@pytest.mark.parametrize("key", ["pool", "unsettled"])  # the second is that of version 0.1
def test_an_extended_run_measures_its_new_policy_on_the_tasks_it_is_asked_for(
    tmp_path: Path, small_recipe: SmallRecipe, key: str
) -> None:
    run = tmp_path / "run"
    first = train(small_recipe(), run, resume=False)
    assert first["success_rl"]["n"] == 2

    # As if killed between the checkpoint and the figures, with a group that waits.
    rewards: dict[str, set[float | None]] = {}
    with RunStore.open(run, readonly=True) as store:
        (figures,) = store.metrics("rl")
        for row in store.rows("rl"):
            rewards.setdefault(row.group_id, set()).add(row.reward)
    with sqlite3.connect(run / DATABASE) as database:
        database.execute("DELETE FROM metrics WHERE phase = 'rl'")
    file = run / "checkpoints" / "rl-0001" / "checkpoint.json"
    record = json.loads(file.read_text())
    waiting = next(group for group, values in rewards.items() if len(values) > 1)
    del record["meta"]["pool"]
    record["meta"][key] = {"waiting": [int(waiting.rpartition("-")[2])], "running": []}
    file.write_text(json.dumps(record))
    with RunStore.open(run) as store:
        demos = [row.id for row in store.rows("demo")]
        store.discard_trajectory(demos.pop())

    second = train(small_recipe("train.iterations=2", "evaluate.tasks=3"), run, resume=True)
    assert [second[f"success_{stage}"]["n"] for stage in ("base", "sft", "rl")] == [3, 3, 3]
    with RunStore.open(run, readonly=True) as store:
        assert [row.id for row in store.rows("demo")] == demos, "the oracle showed what no warm start needs any more"
        assert len(store.rows("eval_base")) == 3, "the base was measured again"
        assert len(store.rows("eval_rl", 2)) == 3, "the new policy was not measured"
        assert store.metrics("rl")[0] == figures, "the figures of a finished iteration are lost"
        assert len(store.metrics("rl")) == 2
        assert store.metrics("rl")[1]["episodes"] == 0, "the group that waited was not trained on"
        assert store.get("trained groups 2") == [waiting]
        assert (store.metrics("rl")[1]["staleness_mean"], store.metrics("rl")[1]["staleness_1"]) == (1, 1)
        assert "reward" not in store.metrics("rl")[1], "a mean over no episodes was made up"
        assert load_recipe(str(run / "recipe.yaml")).train.iterations == 2
        assert len(store.info["resumed"]) == 1

    weights = run / "checkpoints" / "sft" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\xff")
    with pytest.raises(ModelError, match=r"checkpoints/sft' is corrupt.*delete that folder"):
        train(small_recipe("train.iterations=3", "evaluate.tasks=3"), run, resume=True)
    assert is_unfinished(run), "it still shows the result of a shorter run"
    with RunStore.open(run, readonly=True) as store:
        assert store.get("result") is None


def test_a_wrong_recipe_leaves_no_run_behind(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    with pytest.raises(TaskError, match="unknown kind of site 'shp'"):
        train(small_recipe("env.kinds=[shp]"), tmp_path / "run", resume=False)
    with pytest.raises(TaskError, match=r"difficulties \[10\]"):
        train(small_recipe("env.difficulties=[10]"), tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()


async def test_a_dead_engine_ends_an_evaluation_that_a_live_one_then_completes(
    tmp_path: Path, small_recipe: SmallRecipe
) -> None:
    recipe = small_recipe("evaluate.tasks=30")
    with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store, RunLog(store) as log:
        tasks = Pipeline(recipe, store, log).heldout
        async with open_episodes(recipe, store, Processor.load(recipe.model.path)) as runner:

            async def evaluate(closed: bool, count: int) -> list[Termination]:
                async with open_engine(recipe, store.images, recipe.model.path) as engine:
                    if closed:
                        assert isinstance(engine, HFEngine)
                        engine.close()
                    config = recipe.evaluate.model_copy(update={"max_steps": 1})
                    episodes = await runner.run_tasks(
                        tasks[:count], lambda task, session: engine, "eval", 0, config, bar
                    )
                return [episode.termination for episode in episodes]

            bar = Progress("eval", None)
            with pytest.raises(EngineError, match=r"one after the other.*the engine was closed"):
                await evaluate(closed=True, count=30)
            assert len(store.rows("eval")) < 20, "all tasks were burnt on a dead engine"
            with pytest.raises(EngineError, match="2 of 2 episodes"):
                await evaluate(closed=True, count=2)
            terminations = await evaluate(closed=False, count=2)
    assert len(terminations) == 2
    assert Termination.ABORTED not in terminations


async def test_an_interrupted_warm_start_ends_within_a_step(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    recipe = small_recipe("sft.epochs=100000", "rollout.sampling.max_tokens=400")
    with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store, RunLog(store) as log:
        pipeline = Pipeline(recipe, store, log)
        async with open_episodes(recipe, store, Processor.load(recipe.model.path)) as runner:
            demos = await runner.run_tasks(
                pipeline.tasks[:2],
                ScriptedActor(runner.harness, Oracle),
                "demo",
                0,
                recipe.rollout.model_copy(update={"max_steps": 12}),
                Progress("demo", None),
            )
        warm_start = asyncio.create_task(pipeline.warm_start(demos, recipe.model.path))
        while not store.metrics("sft"):
            assert not warm_start.done()
            await asyncio.sleep(0.1)
        warm_start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await warm_start
        for thread in threading.enumerate():
            if thread.name.startswith("learner"):  # what Ctrl-C waits for
                await asyncio.to_thread(thread.join, 20)
                assert not thread.is_alive()
        assert not store.checkpoints.all(), "an interrupted warm start was kept as if it were complete"


async def test_every_phase_meets_a_task_under_the_same_perturbations(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    recipe = small_recipe("env.perturbations=2", "rollout.sampling.max_tokens=400", "rollout.max_context_tokens=20000")
    met = []
    with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store, RunLog(store) as log:
        tasks = Pipeline(recipe, store, log).tasks[:3]
        async with open_episodes(recipe, store, Processor.load(recipe.model.path)) as runner:
            actor, config = ScriptedActor(runner.harness, Oracle), recipe.rollout.model_copy(update={"max_steps": 20})
            for phase in ("eval_before", "eval_after"):
                bar = Progress(phase, None)
                episodes = await runner.run_tasks(tasks, actor, phase, 0, config, bar)
                assert all(episode.reward is not None and episode.reward.value == 1 for episode in episodes)
                perturbations = {e.task.id: e.state[e.task.website].get("perturbations", []) for e in episodes}
                assert set(perturbations) == {task.id for task in tasks}
                met.append(perturbations)
    assert any(met[0].values())
    assert met[0] == met[1]


class Waits:
    """A script that never gets anywhere."""

    async def step(self, session: BrowserSession) -> OracleStep:
        return OracleStep("Nothing yet.", [ToolCall(name="wait", arguments={"seconds": 0})])


async def test_harder_tasks_get_more_steps(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    overrides = ["rollout.max_steps=3", "rollout.max_steps_by_difficulty={1: 1, 2: 2}", "env.difficulties=[1,2,3]"]
    recipe = small_recipe(*overrides, "rollout.sampling.max_tokens=400", "evaluate.tasks=12")
    with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store, RunLog(store) as log:
        tasks = {task.difficulty: task for task in Pipeline(recipe, store, log).heldout}
        async with open_episodes(recipe, store, Processor.load(recipe.model.path)) as runner:
            shown = await runner.run_tasks(
                list(tasks.values()),
                ScriptedActor(runner.harness, lambda task: Waits()),
                "demo",
                0,
                recipe.rollout,
                Progress("demo", None),
            )
    assert {each.task.difficulty: each.steps for each in shown} == {1: 1, 2: 2, 3: 3}
