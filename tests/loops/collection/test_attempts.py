"""Attempts at tasks in real browsers: how many, in which order, and what becomes of those that fail."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loops.collection.comparing import timeless
from tests.loops.conftest import SmallRecipe
from webdojo.browser.interface import Session
from webdojo.errors import BudgetError, EngineError
from webdojo.loops.collection.attempts import Collection
from webdojo.loops.collection.teachers import Teacher, oracle_teacher
from webdojo.loops.episodes import FAILURES_IN_A_ROW, EpisodeRunner, open_episodes
from webdojo.policy.model.processor import Processor
from webdojo.policy.scripted import ScriptedActor
from webdojo.progress import Progress
from webdojo.recipe import Recipe, dump_recipe
from webdojo.reward.function import invalid
from webdojo.reward.rules import Rules
from webdojo.rollout.episode import Actor
from webdojo.sites.oracle import Oracle, OracleStep
from webdojo.store.run import RunStore
from webdojo.types import Engine, ImageSource, Prompt, Response, Reward, Sampling, Task, ToolCall, Trajectory

AT_ONCE = 3
ROOM = ["rollout.max_steps=8", "rollout.sampling.max_tokens=400", f"rollout.concurrency={AT_ONCE}"]


class Quits:
    """A script that gives up at once."""

    async def step(self, session: Session) -> OracleStep:
        return OracleStep("I give up.", [ToolCall(name="done", arguments={"answer": "none"})])


class Fails:
    """An engine that is not there."""

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        raise EngineError("the engine is gone")


def teaching(runner: EpisodeRunner, fate: Callable[[str], str]) -> Teacher:
    """Does, quits or fails, as `fate` says of an attempt: `TASK/NUMBER`."""

    def teacher(seed: str) -> Actor[Session]:
        def actor(task: Task, session: Session) -> Engine:
            became = fate(seed.partition("/")[2])
            if became == "fail":
                return Fails()
            script = Oracle(task) if became == "do" else Quits()
            return ScriptedActor(runner.harness, lambda task: script)(task, session)

        return actor

    return teacher


def collect(recipe: Recipe, folder: Path, fate: Callable[[str], str], tasks: int) -> list[str]:
    """What `Collection.run` returns, in a run folder that may be there."""

    async def work() -> list[str]:
        there = (folder / "run.sqlite").is_file()
        with RunStore.open(folder) if there else RunStore.create(folder, dump_recipe(recipe), {}) as store:
            async with open_episodes(recipe, store, Processor.load(recipe.model.path)) as runner:
                bar = Progress("collect", tasks)
                collection = Collection(runner, teaching(runner, fate), "collect", recipe.collect, bar)
                ids = await collection.run(recipe.training_tasks()[:tasks])
        assert bar.done == tasks
        return ids

    return asyncio.run(work())


def ids(recipe: Recipe, *wanted: tuple[int, int]) -> list[str]:
    """The ids of attempts, by the place of their task and their number."""
    tasks = recipe.training_tasks()
    return [f"collect-{tasks[task].id}-{number}" for task, number in wanted]


def test_a_task_is_tried_until_it_succeeds_and_not_more_often(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    recipe = small_recipe(*ROOM, "collect.max_attempts=3")
    tasks = [task.id for task in recipe.training_tasks()[:3]]
    does = {f"{tasks[0]}/3", f"{tasks[1]}/1"}
    asked = Counter[str]()

    def fate(attempt: str) -> str:
        asked[attempt] += 1
        return "do" if attempt in does else "quit"

    wanted = ids(recipe, (0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (2, 2), (2, 3))
    assert collect(recipe, tmp_path / "run", fate, 3) == wanted
    assert collect(recipe, tmp_path / "run", fate, 3) == wanted, "it goes on where nothing is left"
    assert set(asked.values()) == {1}

    more = small_recipe(*ROOM, "collect.attempts=2", "collect.max_attempts=3")
    assert collect(more, tmp_path / "run", fate, 3) == sorted({*wanted, *ids(recipe, (1, 2))}, key=_as(recipe))
    assert asked[f"{tasks[1]}/2"] == 1


def test_an_attempt_that_finished_is_enough_where_it_need_not_succeed(
    tmp_path: Path, small_recipe: SmallRecipe
) -> None:
    short = ["rollout.max_steps_by_difficulty={1: 1}", "collect.max_attempts=3", "collect.until=finished"]
    recipe = small_recipe(*ROOM, *short)
    tasks = [task.id for task in recipe.training_tasks()[:2]]
    found = collect(recipe, tmp_path / "run", lambda attempt: "quit" if attempt.startswith(tasks[0]) else "do", 2)
    assert found == ids(recipe, (0, 1), (1, 1), (1, 2), (1, 3)), "the oracle needs more than the one step that it has"


def _as(recipe: Recipe) -> Callable[[str], tuple[int, str]]:
    places = {task.id: place for place, task in enumerate(recipe.training_tasks()[:3])}
    return lambda id: (places[id.removeprefix("collect-")[:-2]], id)


def test_what_failed_for_no_fault_of_the_teacher_is_tried_once_more_in_its_place(
    tmp_path: Path, small_recipe: SmallRecipe
) -> None:
    recipe = small_recipe(*ROOM)
    tasks = [task.id for task in recipe.training_tasks()[:4]]
    asked = Counter[str]()

    def fate(attempt: str) -> str:
        asked[attempt] += 1
        once, always = f"{tasks[0]}/1", f"{tasks[1]}/1"
        return "fail" if attempt == always or (attempt == once and asked[attempt] == 1) else "do"

    folder = tmp_path / "run"
    assert collect(recipe, folder, fate, 4) == ids(recipe, (0, 1), (2, 1), (3, 1))
    assert asked == {f"{tasks[0]}/1": 2, f"{tasks[1]}/1": 2, f"{tasks[2]}/1": 1, f"{tasks[3]}/1": 1}
    with RunStore.open(folder) as store:
        assert len(store.rows("collect")) == 4
        (unfinished,) = [row for row in store.rows("collect") if not row.valid]
        assert unfinished.task_id == tasks[1]
        Collection.try_again(store, "collect")
    collect(recipe, folder, fate, 4)
    assert asked[f"{tasks[1]}/1"] == 4 and asked.total() == 8
    with RunStore.open(folder) as store:
        Collection.try_again(store, "collect")
    assert collect(recipe, folder, lambda attempt: "do", 4) == ids(recipe, (0, 1), (1, 1), (2, 1), (3, 1))


def test_hopeless_tasks_end_unfinished_however_many_they_are(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    recipe, folder = small_recipe(*ROOM), tmp_path / "run"
    hopeless = {task.id for task in recipe.training_tasks()[: 2 * FAILURES_IN_A_ROW : 2]}

    def fate(attempt: str) -> str:
        return "fail" if attempt.rpartition("/")[0] in hopeless else "quit"

    rest = ids(recipe, *((place, 1) for place in range(1, 2 * FAILURES_IN_A_ROW, 2)))
    assert collect(recipe, folder, fate, 2 * FAILURES_IN_A_ROW) == rest
    with RunStore.open(folder) as store:
        assert {row.task_id for row in store.rows("collect") if not row.valid} == hopeless
        Collection.try_again(store, "collect")
    assert collect(recipe, folder, fate, 2 * FAILURES_IN_A_ROW) == rest


class Blocked(Rules):
    """A judge who sees that the site has turned the agent away from one task."""

    task: str = ""

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        if trajectory.task.id == self.task:
            return invalid("blocked", "the site has turned the agent away")
        return await super().score(trajectory, images)


def test_an_unfinished_task_tells_what_failed_it(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    recipe = small_recipe(*ROOM)
    done, blocked, lost, never = recipe.training_tasks()[:4]

    async def work() -> dict[str, str]:
        with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store:
            async with open_episodes(recipe, store, Processor.load(recipe.model.path)) as runner:
                runner.scorer.function = Blocked(task=blocked.id)
                teacher = teaching(runner, lambda attempt: "fail" if attempt.startswith(lost.id) else "quit")
                collection = Collection(runner, teacher, "collect", recipe.collect, Progress("collect", 3))
                await collection.run([done, blocked, lost])
                return collection.unfinished([done, blocked, lost, never])

    assert asyncio.run(work()) == {blocked.id: "blocked", lost.id: "aborted", never.id: "not begun"}


def test_a_dead_engine_is_an_error_and_its_tasks_are_tried_again(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    recipe, folder = small_recipe(*ROOM), tmp_path / "run"
    with pytest.raises(EngineError, match=r"one after the other in phase 'collect'.*the engine is gone"):
        collect(recipe, folder, lambda attempt: "fail", 30)
    with RunStore.open(folder) as store:
        failed = len(store.rows("collect"))
    assert failed < 15, "all tasks were burnt on a dead engine"
    assert len(collect(recipe, folder, lambda attempt: "quit", 12)) == 12


def test_a_budget_of_tokens_ends_it_and_a_larger_one_goes_on(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    folder = tmp_path / "run"
    with pytest.raises(BudgetError, match=r"has said \d+ tokens, and collect.budget_tokens is 60: .*--resume"):
        collect(small_recipe(*ROOM, "collect.budget_tokens=60"), folder, lambda attempt: "quit", 12)
    with RunStore.open(folder) as store:
        said = [row.response_tokens for row in store.rows("collect")]
    assert sum(said) >= 60 and sum(sorted(said)[:-AT_ONCE]) < 60
    assert len(collect(small_recipe(*ROOM), folder, lambda attempt: "quit", 12)) == 12


def test_a_budget_of_tokens_counts_what_replaced_attempts_have_said(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    """One task, whose every attempt ends on a site that is said to have turned the agent away."""
    folder, recipe = tmp_path / "run", small_recipe(*ROOM)
    tasks = recipe.training_tasks()[:2]

    async def work(budget: int) -> int:
        limited = small_recipe(*ROOM, f"collect.budget_tokens={budget}")
        with RunStore.open(folder) if folder.exists() else RunStore.create(folder, dump_recipe(recipe), {}) as store:
            async with open_episodes(limited, store, Processor.load(recipe.model.path)) as runner:
                runner.scorer.function = Blocked(task=tasks[0].id)
                teacher = teaching(runner, lambda attempt: "quit")
                collection = Collection(runner, teacher, "collect", limited.collect, Progress("collect", 2))
                await collection.run(tasks)
            return sum(row.response_tokens for row in store.rows("collect"))

    there = asyncio.run(work(0))
    with RunStore.open(folder) as store:
        Collection.try_again(store, "collect")
    with pytest.raises(BudgetError, match=r"has said \d+ tokens"):
        asyncio.run(work(there + 1))


def test_a_collection_that_is_stopped_at_random_moments_makes_the_same_episodes(
    tmp_path: Path, small_recipe: SmallRecipe
) -> None:
    recipe = small_recipe(*ROOM, "collect.attempts=2", "collect.max_attempts=3", "collect.noise=0.4")
    tasks, draw = recipe.training_tasks()[:4], random.Random(3)

    async def run(folder: Path, stops: int) -> int:
        """Make the collection, stopped at most ``stops`` times, each after one more attempt; returns the stops."""
        stopped = 0
        RunStore.create(folder, dump_recipe(recipe), {}).close()
        while folder.name not in found:
            with RunStore.open(folder) as store:
                async with open_episodes(recipe, store, Processor.load(recipe.model.path)) as runner:
                    assert recipe.env.oracle is not None
                    teacher = oracle_teacher(runner.harness, recipe.env.oracle, recipe.collect.noise)
                    collection = Collection(runner, teacher, "collect", recipe.collect, Progress("collect", 4))
                    work = asyncio.create_task(collection.run(tasks))
                    if stopped < stops:
                        before = len(store.rows("collect"))
                        while len(store.rows("collect")) == before and not work.done():
                            await asyncio.wait([work], timeout=0.02)
                        await asyncio.sleep(draw.uniform(0, 0.1))
                        work.cancel()
                    try:
                        found[folder.name] = [timeless(store.trajectory(id)) for id in await work]
                    except asyncio.CancelledError:
                        stopped += 1
        return stopped

    found: dict[str, list[dict[str, Any]]] = {}
    assert asyncio.run(run(tmp_path / "whole", 0)) == 0
    assert asyncio.run(run(tmp_path / "stopped", 4)) >= 2
    assert len(found["whole"]) >= 8
    assert found["stopped"] == found["whole"]
    said = [turn["text"] for trajectory in found["whole"] for turn in trajectory["turns"]]
    assert any("is not the page" in text for text in said), "the oracle did not err"
