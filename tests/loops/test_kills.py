"""Kill -9 of each process that a real run is made of, in mid-run: it goes on, and nothing is lost or used twice.

Browsers and engines are started again by the run itself; a dead driver or rank ends the attempt, and the next one goes
on (`--resume`, or by itself with `--max-restarts`). Models are random and small, Chromium and all processes are real.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import cast

import psutil
import pytest
import torch

from tests.browser.test_chaos import role
from tests.browser.test_pool import chromiums, running
from tests.loops.conftest import SMALL, SmallRecipe
from tests.loops.crash import POINTS, AfterSeconds, Arm, Versions, count_killed, trained_groups
from tests.policy.vllm.server_double import CALLS, IMAGE_PAD, STOPS, vllm_package
from webdojo.agent.harness import Harness
from webdojo.envs.task_sets import tasks_of
from webdojo.errors import Failure
from webdojo.loops.episodes import open_episodes
from webdojo.loops.log import RunLog
from webdojo.loops.models import make_learner, open_engine
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.loops.resume import latest
from webdojo.loops.run_folder import RL
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.store.checkpoints import CheckpointFolder
from webdojo.store.run import DATABASE, RunStore
from webdojo.trainer.learner.checkpoint import TRAINER, check_checkpoint
from webdojo.types import FinishReason, Prompt, Response, Sampling, ToolCall, TrainableEngine

ROOT = Path(__file__).parent.parent.parent

Victims = Callable[[], list[psutil.Process]]


class Wanderer(Versions):
    """A policy that scrolls about, gives up now and then and sometimes says nothing that can be read.

    It takes no time, so a run is as long as its browsers take, and no kill of one misses.
    """

    def __init__(self, harness: Harness) -> None:
        self._draw = random.Random(0)
        scroll = ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})
        done = ToolCall(name="done", arguments={"answer": "nothing"})
        said = [harness.render("On.", [call])[0] for call in (scroll, done)]
        self._ids = [harness.codec.encode(text) for text in (*said, "What?")]

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        (ids,) = self._draw.choices(self._ids, [6, 1, 1])
        return Response(
            ids=list(ids),
            logprobs=[-1.0] * len(ids),
            versions=[self.version] * len(ids),
            finish_reason=FinishReason.STOP,
        )


async def learn(recipe: Recipe, folder: Path, wander: bool = False) -> None:
    """The online part of a run, to its end."""
    tasks, path = tasks_of(recipe.env, recipe.tasks, "train", 200, recipe.seed), recipe.model.path
    with RunStore.open(folder) as store, RunLog(store) as log:
        async with open_episodes(recipe, store, Processor.load(path)) as runner:
            await runner.score_left()
            open_policy = nullcontext(Wanderer(runner.harness)) if wander else open_engine(recipe, store.images, path)
            with closing(make_learner(recipe, store.images, path)) as learner:
                async with open_policy as engine:
                    await online(runner, Learning(lambda: learner, store), cast(TrainableEngine, engine), tasks, log)


def stored(folder: Path) -> int:
    """Episodes so far."""
    if not (folder / DATABASE).is_file():
        return 0
    with RunStore.open(folder, readonly=True) as store:
        return len(store.rows(RL))


def all_right(recipe: Recipe, folder: Path) -> None:
    """What every run must be that has ended, whatever was killed meanwhile."""
    trained_groups(recipe, folder)
    with RunStore.open(folder, readonly=True) as store:
        for checkpoint in store.checkpoints.all():
            check_checkpoint(checkpoint.path)
        last = latest(store)
        assert last is not None
        steps = torch.load(last.path / TRAINER, weights_only=True)["steps"]
        assert steps == recipe.train.iterations * recipe.train.ppo_epochs


@contextmanager
def killing(folder: Path, victims: list[Victims], draw: random.Random) -> Iterator[Counter[int]]:
    """Kill one process of each of `victims` in turn, each some moments after two more episodes are stored.

    Yields:
        How many were killed, by the place in `victims`.
    """
    killed: Counter[int] = Counter()
    over = threading.Event()

    def kill() -> None:
        for place, find in enumerate(victims):
            seen = stored(folder)
            while not over.wait(0.02):
                if stored(folder) >= seen + 2 and (alive := find()):
                    over.wait(draw.uniform(0, 0.5))
                    with contextlib.suppress(psutil.NoSuchProcess):
                        draw.choice(alive).kill()
                        killed[place] += 1
                    break

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def of_role(name: str, others: set[int]) -> Victims:
    """Chromium's processes of one kind; not the shell script that some systems start it by."""

    def find() -> list[psutil.Process]:
        own = [process for process in chromiums() if process.pid not in others]
        return [process for process in own if role(process) == name and _words(process)[:1] != ["/bin/sh"]]

    return find


def servers() -> list[psutil.Process]:
    """The vLLM servers of this process."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "webdojo.policy.vllm.launch" in _words(child)]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def test_a_run_goes_on_while_its_browsers_are_killed(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    kills = POINTS or 5
    sizes = [f"train.iterations={max(3, kills)}", "train.groups_per_iteration=2", "rollout.max_steps=6"]
    recipe = small_recipe(*sizes, "browser.browsers=1")
    folder = tmp_path / "run"
    RunStore.create(folder, dump_recipe(recipe), {}).close()
    others = {process.pid for process in chromiums()}
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    victims = [of_role(("browser", "renderer")[n % 2], others) for n in range(kills)]
    with killing(folder, victims, random.Random(1)) as killed:
        asyncio.run(learn(recipe, folder, wander=True))
    # On a busy machine the run may be over before a renderer's turn comes.
    assert killed[0], "the run was over before a browser could be killed"
    all_right(recipe, folder)
    with RunStore.open(folder, readonly=True) as store:
        found = store.trajectories(RL)
        counted = sum(row["cut"] for row in store.metrics(RL))
    names = Counter(name for each in found for name in each.cut)
    assert set(names) <= {Failure.BROWSER_DIED, Failure.TAB_CRASHED}
    assert names[Failure.BROWSER_DIED], "no episode was cut by the death of its browser"
    assert 0 < counted <= names.total()
    assert all(each.error for each in found if each.termination.is_infra)
    left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    assert not any(running(process) for process in left)


def test_a_run_goes_on_while_its_engine_is_killed(
    tmp_path: Path, small_recipe: SmallRecipe, model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is a server that speaks vLLM's API, in processes of its own."""
    vllm_package(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), str(ROOT), str(ROOT / "src")]))
    monkeypatch.setenv(CALLS, str(tmp_path / "calls.jsonl"))
    monkeypatch.setenv(IMAGE_PAD, str(Processor.load(model_dir).image_token_id))
    monkeypatch.setenv(STOPS, "1")
    kills = POINTS or 2
    recipe = small_recipe(f"train.iterations={max(3, kills)}", "engine.name=vllm", "rollout.sampling.max_tokens=30")
    folder = tmp_path / "run"
    RunStore.create(folder, dump_recipe(recipe), {}).close()
    with killing(folder, [servers] * kills, random.Random(2)) as killed:
        asyncio.run(learn(recipe, folder))
    assert killed[0], "the run was over before its engine could be killed"
    all_right(recipe, folder)
    pids = {json.loads(line)["pid"] for line in (tmp_path / "calls.jsonl").read_text().splitlines()}
    assert len(pids) > 1, "an engine that was killed was not started again"
    with RunStore.open(folder, readonly=True) as store:
        names = {name for each in store.trajectories(RL) for name in each.cut}
        assert all(row.valid for row in store.rows(RL)), "an episode of a killed engine was given up"
    assert names <= {Failure.ENGINE_LOST}
    assert not servers()


class At:
    """Death some moments after a part of the loop is reached."""

    def __init__(self, part: str, seconds: float) -> None:
        self.part, self.seconds = part, seconds

    def __call__(self, folder: Path) -> None:
        from webdojo.policy.hf.engine import HFEngine
        from webdojo.rollout.pool import RolloutPool

        parts = {
            "rollout": (RolloutPool, "next_batch", 1),
            "update": (sys.modules[online.__module__], "learn", 1),
            "save": (CheckpointFolder, "save", 1),
            "publish": (HFEngine, "update_weights", 2),  # the first is what the attempt begins with
        }
        owner, name, call = parts[self.part]
        real = getattr(owner, name)
        left = itertools.count(call - 1, -1)

        @functools.wraps(real)
        def armed(*given, **named):
            if next(left) == 0:
                AfterSeconds(self.seconds)(folder)
            return real(*given, **named)

        setattr(owner, name, armed)


def drive(recipe: Recipe, folder: Path, arm: Arm | None) -> None:
    """An attempt at a run of real parts."""
    if arm is not None:
        arm(folder)
    asyncio.run(learn(recipe, folder))


def test_a_run_whose_driver_is_killed_in_each_of_its_parts_goes_on(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    draw = random.Random(3)
    parts = {"rollout": 1.0, "update": 0.3, "save": 0.1, "publish": 0.05}
    kills = POINTS or 5
    recipe = small_recipe(f"train.iterations={max(4, kills)}", "rollout.max_staleness=1", "train.ppo_epochs=2")
    folder = tmp_path / "run"
    RunStore.create(folder, dump_recipe(recipe), {}).close()
    # A server that has torch and the rest loaded, and no thread, forks each attempt in a moment.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    deaths = [At(part, draw.uniform(0, parts[part])) for part in [*parts, *draw.choices(list(parts), k=kills)][:kills]]
    attempts = [functools.partial(drive, recipe, folder, arm) for arm in [*deaths, None]]
    assert count_killed(context, attempts) > kills / 2, "the run was over before its driver could be killed"
    all_right(recipe, folder)


def ranks(leader: psutil.Process) -> list[psutil.Process]:
    """The followers of a learner."""
    return [child for child in leader.children() if "--multiprocessing-fork" in _words(child)]


def test_a_run_whose_rank_and_driver_are_killed_finishes_by_itself(tmp_path: Path, model_dir: Path) -> None:
    folder = tmp_path / "run"
    overrides = [*SMALL, f"model.path={model_dir}", "sft.demos=0", "train.iterations=3", "train.ranks=2"]
    recipe = load_recipe("quickstart", overrides)
    words = [sys.executable, "-m", "webdojo.cli", "train", "quickstart", *overrides, "--run", str(folder)]
    with subprocess.Popen(
        [*words, "--max-restarts", "2"], env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE, text=True
    ) as process:
        parent = psutil.Process(process.pid)

        def until(reached: Callable[[], bool]) -> None:
            while not reached():
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.05)

        until(lambda: stored(folder) > 0)
        (driver,) = parent.children()
        (follower,) = ranks(driver)
        follower.kill()
        until(lambda: any(each.pid != follower.pid for each in ranks(driver)))
        seen = stored(folder)
        until(lambda: stored(folder) > seen)
        (driver,) = parent.children()
        family = driver.children(recursive=True)
        driver.kill()
        _, errors = process.communicate()
    assert process.returncode == 0, errors
    all_right(recipe, folder)
    assert json.loads((folder / "result.json").read_text())["success_rl"]["n"] == 2
    with RunStore.open(folder, readonly=True) as store:
        restarts = [restart["because"] for restart in store.info["restarted"]]
    assert restarts == ["the training was killed by SIGKILL"]
    assert "its process was killed by SIGKILL" in errors
    assert "the learner is made again" in errors
    assert "restart 1 of 2 in 1 s" in errors
    assert not any(running(each) for each in family), "something outlived the driver that was killed"
