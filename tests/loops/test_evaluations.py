"""Evaluation during online training: what trains is the same, each token is of its version, and kills cost nothing.

But for the last test the browsers, the engine and the learner are stand-ins: episodes end in milliseconds, and what an
engine says follows from its version, the prompt and how often it was asked that, as with `HFEngine`. Runner, pool, loop
and store are the real ones.
"""

from __future__ import annotations

import asyncio
import pickle
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.loops.conftest import SmallRecipe
from tests.rollout.records import screen
from tests.trainer.records import turn
from webdojo.envs.miniwob import PageReward
from webdojo.errors import BrowserError
from webdojo.evaluation.metrics import wilson95
from webdojo.loops.episodes import EpisodeRunner
from webdojo.loops.log import RunLog
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.loops.results.by_version import stored_evaluations
from webdojo.loops.rollouts import EpisodeSpec
from webdojo.loops.run_folder import EVALUATION, RL
from webdojo.loops.start import train
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.reward.gate import Scorer
from webdojo.store.run import RunStore
from webdojo.tasks.miniwob import HOST, KIND
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.learner import OnScored
from webdojo.types import (
    EngineHealth,
    FinishReason,
    Prompt,
    Response,
    Sampling,
    Task,
    Termination,
    TextSegment,
    Trajectory,
    Turn,
)

ITERATIONS = 5
SLOTS = 5


def task(name: str) -> Task:
    return Task(id=name, instruction="Do it", start_url="http://a/", website=HOST, kind=KIND, evaluator={"type": KIND})


TASKS = [task(f"t{n}") for n in range(40)]
HELDOUT = [task(f"h{n}") for n in range(6)]


class Notebook:
    """A learner that writes down what it trained on."""

    def __init__(self, recipe: Recipe) -> None:
        self.trained: list[list[Sample]] = []
        self.config = recipe.train
        self.stop = threading.Event()
        self.thread = ThreadPoolExecutor(1)

    def state_dict(self) -> dict[str, Any]:
        return {}

    def train_policy(
        self, samples: list[Sample], temperature: float, version: int, on_scored: OnScored | None = None
    ) -> dict[str, float]:
        self.trained.append(samples)
        return {"samples": len(samples)}

    def save(self, folder: Path) -> None:
        (folder / "trained").write_bytes(pickle.dumps(self.trained))

    def load(self, folder: Path) -> None:
        self.trained = pickle.loads((folder / "trained").read_bytes())


class Engine:
    """Says something else under every version."""

    sleeps_during_update = updates_asleep = False

    def __init__(self) -> None:
        self.version = 0
        self.asked: Counter[tuple[int, ...]] = Counter()

    async def update_weights(self, source: object, version: int) -> None:
        await asyncio.sleep(0.002)
        self.version = version
        self.asked.clear()

    def health(self) -> EngineHealth:
        return EngineHealth(alive=True, version=self.version)

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        ids = tuple(prompt.ids(0))
        draw = random.Random(f"{self.version}/{ids}/{self.asked[ids]}")
        self.asked[ids] += 1
        return Response(
            ids=[draw.randrange(1_000_000) for _ in range(2)],
            logprobs=[-draw.random() for _ in range(2)],
            versions=[self.version] * 2,
            finish_reason=FinishReason.STOP,
        )


class World:
    """Runs the loop with episodes that end in milliseconds; held-out ones take longer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dead: Callable[[Task], bool] = lambda task: False
        self.running = self.most = 0
        self.begun: Counter[str] = Counter()
        self.loop: asyncio.Task[None]
        self.kill_at = 0
        """Held-out turns until the loop is killed; never at 0."""

    async def episode(self, spec: EpisodeSpec, actor: Any, clock: Any) -> Trajectory:
        """Two turns, with a pause between them in which the weights may change."""
        task = spec.task
        self.running += 1
        self.most = max(self.most, self.running)
        self.begun[task.id] += 1
        engine, said = actor(task, None), b""
        turns: list[Turn] = []
        for _ in range(2):
            self.kill_at -= task in HELDOUT
            if task in HELDOUT and self.kill_at == 0:
                self.loop.cancel()
            prompt = Prompt(segments=(TextSegment(ids=tuple(task.id.encode() + said)),))
            turns.append(turn(prompt, await engine.generate(prompt, spec.sampling)))
            turns[-1].observation.screenshot = self.screen
            said = str(turns[-1].response.ids).encode()
            await asyncio.sleep(0.01 if task in HELDOUT else random.Random(said).uniform(0, 0.004))
        self.running -= 1
        return Trajectory(
            id=spec.trajectory_id,
            task=task,
            group=spec.group,
            turns=turns,
            termination=Termination.START_ERROR if self.dead(task) else Termination.COMPLETED,
            state={HOST: {"done": True, "raw_reward": turns[0].response.ids[0] % 2, "visit_seed": spec.seed}},
        )

    def go(self, *overrides: str) -> list[list[Sample]]:
        """Train, from where an earlier call was killed; what the learner trained on."""
        sizes = [f"train.iterations={ITERATIONS}", "train.groups_per_iteration=2", "rollout.group_size=3"]
        speed = [f"rollout.concurrency={SLOTS}", "train.threads=1"]
        recipe = load_recipe("quickstart", [*sizes, *speed, *overrides])
        learner = Notebook(recipe)

        async def run(store: RunStore, log: RunLog) -> None:
            nothing = cast(Any, None)
            scorer, rollouts = Scorer(PageReward(), store.images), SimpleNamespace(places=100, run=self.episode)
            engine = cast(Any, Engine())
            runner = EpisodeRunner(recipe, store, cast(Any, rollouts), harness=nothing, scorer=scorer)
            self.loop = asyncio.create_task(
                online(runner, Learning(lambda: cast(Any, learner), store), engine, TASKS, log, HELDOUT)
            )
            with suppress(asyncio.CancelledError):
                await self.loop

        self.running = 0
        if not self.folder.exists():
            RunStore.create(self.folder, dump_recipe(recipe), {}).close()
        with RunStore.open(self.folder) as store, RunLog(store) as log:
            self.screen = screen(store.images)
            asyncio.run(run(store, log))
        return learner.trained

    def stored(self, phase: str) -> dict[tuple[str, tuple[int, ...]], dict[str, Any]]:
        """What it has of a phase, by task and versions and without what differs from run to run."""
        with RunStore.open(self.folder, readonly=True) as store:
            return {
                (t.id if phase == "rl" else t.task.id, tuple(t.versions)): t.model_dump(
                    exclude={"id", "group", "seconds"}
                )
                for t in store.trajectories(phase)
            }


def test_on_policy_training_is_the_same_to_the_bit(tmp_path: Path) -> None:
    plain, measured = World(tmp_path / "plain"), World(tmp_path / "measured")
    trained = []
    for world, every in ((plain, 0), (measured, 2)):
        trained.append(world.go("rollout.max_staleness=0", f"evaluate.every={every}"))
    assert trained[0] == trained[1]
    assert len(trained[0]) == ITERATIONS
    assert plain.stored("rl") == measured.stored("rl")
    assert not plain.stored(EVALUATION)
    assert set(measured.stored(EVALUATION)) == {(task.id, (version,)) for task in HELDOUT for version in (2, 4)}


def test_an_evaluation_is_of_one_version_and_shares_the_slots(tmp_path: Path) -> None:
    world = World(tmp_path / "run")
    world.go("rollout.max_staleness=2", "evaluate.every=2")
    assert world.most == SLOTS
    with RunStore.open(world.folder, readonly=True) as store:
        assert max(row["staleness_max"] for row in store.metrics("rl")) in (1, 2), "nothing overlapped"
        rows, evaluations = store.metrics(EVALUATION), stored_evaluations(store)
        for version in (2, 4):
            found = store.trajectories(EVALUATION, version)
            assert {t.task.id: tuple(t.versions) for t in found} == {task.id: (version,) for task in HELDOUT}
    assert [row["step"] for row in rows] == [2, 4]
    for row, evaluation in zip(rows, evaluations, strict=True):
        successes = round(row["success"] * row["n"])
        assert (row["ci95_low"], row["ci95_high"]) == wilson95(successes, len(HELDOUT))
        assert evaluation == {
            "iteration": row["step"],
            "n": 6,
            "rate": successes / 6,
            "ci95": list(wilson95(successes, 6)),
        }
    seeds = {key: each["state"][HOST]["visit_seed"] for key, each in world.stored(EVALUATION).items()}
    assert all(seeds[task.id, (2,)] == seeds[task.id, (4,)] for task in HELDOUT), "not the same perturbations each time"
    assert len(set(seeds.values())) == len(HELDOUT)


def test_whenever_it_is_killed_no_evaluation_is_lost_or_done_twice(tmp_path: Path) -> None:
    world, draw = World(tmp_path / "run"), random.Random(3)
    options = ("rollout.max_staleness=2", "evaluate.every=1")
    for _ in range(8):
        world.kill_at = draw.randint(1, 2 * len(HELDOUT))
        assert len(world.go(*options)) < ITERATIONS
    world.kill_at = 0
    trained = world.go(*options)
    assert len(trained) == ITERATIONS
    with RunStore.open(world.folder, readonly=True) as store:
        assert [row["step"] for row in store.metrics(EVALUATION)] == [1, 2, 3, 4]
        assert {row["n"] for row in store.metrics(EVALUATION)} == {len(HELDOUT)}
        rows = store.rows(EVALUATION)
        for version in (1, 2, 3, 4):
            assert {v for t in store.trajectories(EVALUATION, version) for v in t.versions} == {version}
    times = Counter((row.iteration, row.task_id) for row in rows)
    assert set(times) == {(version, task.id) for version in (1, 2, 3, 4) for task in HELDOUT}
    assert set(times.values()) == {1}, "an episode that was stored ran again"
    assert sum(world.begun[task.id] for task in HELDOUT) > len(rows) + 8, "kills met no evaluation"


def test_a_run_that_was_killed_trains_on_the_same_visits(tmp_path: Path) -> None:
    whole, killed = World(tmp_path / "whole"), World(tmp_path / "killed")
    options = ("rollout.max_staleness=2", "evaluate.every=1")
    seeds: list[dict[str, str]] = []
    for world, kills in ((whole, 0), (killed, 4)):
        for _ in range(kills):
            world.kill_at = 3
            world.go(*options)
        assert len(world.go(*options)) == ITERATIONS
        seeds.append({id: each["state"][HOST]["visit_seed"] for (id, _), each in world.stored(RL).items()})
    both = seeds[0].keys() & seeds[1].keys()
    assert len(both) > ITERATIONS * 2 * 3 / 2
    assert all(seeds[0][id] == seeds[1][id] for id in both)
    assert len(set(seeds[0].values())) == len(seeds[0]), "members of a group meet the same perturbations"


def test_no_version_is_credited_with_what_was_measured_of_weights_that_are_gone(tmp_path: Path) -> None:
    world = World(tmp_path / "run")
    options = ("evaluate.every=2", "train.save_every=1", "train.save_total_limit=0")

    def measured() -> dict[int, set[str]]:
        with RunStore.open(world.folder, readonly=True) as store:
            return {version: {row.id for row in store.rows(EVALUATION, version)} for version in (2, 4)}

    world.go(*options)
    before = measured()
    with RunStore.open(world.folder) as store:
        for iteration in (3, 4, 5):
            store.checkpoints.remove(f"rl-{iteration:04d}")
    world.kill_at = 1
    world.go(*options)
    with RunStore.open(world.folder, readonly=True) as store:
        assert [row["step"] for row in store.metrics(RL)] == [1, 2, 3, 4]
        assert [row["step"] for row in store.metrics(EVALUATION)] == [2]
    world.go(*options)
    after = measured()
    assert after[2] == before[2], "a version whose checkpoint is there was measured again"
    assert len(after[4]) == len(HELDOUT)
    assert not after[4] & before[4]


def test_dead_sites_end_the_run_and_a_resumed_one_measures_the_same_version(tmp_path: Path) -> None:
    world = World(tmp_path / "run")
    world.dead = lambda task: task in HELDOUT[:3]
    with pytest.raises(BrowserError, match=r"3 of 6 episodes of phase 'eval_rl' failed for no fault of the agent"):
        world.go("evaluate.every=3")
    with RunStore.open(world.folder, readonly=True) as store:
        assert not store.metrics(EVALUATION)
        assert len(store.metrics("rl")) == 3, "the version moved on without its evaluation"
    world.dead = lambda task: task is HELDOUT[0]
    assert len(world.go("evaluate.every=3")) == ITERATIONS
    with RunStore.open(world.folder, readonly=True) as store:
        (row,) = store.metrics(EVALUATION)
        tries = Counter(each.task_id for each in store.rows(EVALUATION, 3))
    assert (row["step"], row["n"], row["invalid"]) == (3, 6, 1)
    assert tries == {**{task.id: 2 for task in HELDOUT[:3]}, **{task.id: 1 for task in HELDOUT[3:]}}


def test_a_whole_run_measures_every_version_once(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    """With a real model and real browsers; there are no demonstrations, so RL starts from the base."""
    result = train(small_recipe("train.iterations=2", "sft.demos=0", "evaluate.every=1"), tmp_path / "run", False)
    assert [found["iteration"] for found in result["evaluations"]] == [0, 1, 2]
    for stage, found in zip(("success_base", "success_rl"), result["evaluations"][::2], strict=True):
        assert found == {"iteration": found["iteration"]} | {key: result[stage][key] for key in ("n", "rate", "ci95")}
    assert result["success_sft"] == result["success_base"]
    assert result["best"]["heldout"]
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        evaluated = [row for row in store.rows() if row.phase.startswith("eval")]
        assert Counter((row.phase, row.iteration) for row in evaluated) == {
            ("eval_base", 0): 2,
            (EVALUATION, 1): 2,
            (EVALUATION, 2): 2,
        }
        for version in (1, 2):
            assert [t.versions for t in store.trajectories(EVALUATION, version)] == [[version]] * 2
