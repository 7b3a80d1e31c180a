"""Training on a real Ray cluster of three nodes, while each kind of process and a whole node are killed."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from ray.cluster_utils import Cluster

from tests.cluster.conftest import MEMORY
from tests.loops.conftest import SmallRecipe, small_recipe
from tests.loops.test_kills import all_right, killing
from tests.policy.conftest import model_dir
from webdojo.cluster.connect import connected
from webdojo.envs.task_sets import tasks_of
from webdojo.errors import Failure
from webdojo.loops.episodes import open_episodes
from webdojo.loops.log import RunLog
from webdojo.loops.online.learning import Learning
from webdojo.loops.online.loop import online
from webdojo.loops.parts import Parts
from webdojo.loops.run_folder import RL
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, dump_recipe
from webdojo.store.run import RunStore
from webdojo.types import TrainableEngine

__all__ = ["model_dir", "small_recipe"]

pytestmark = pytest.mark.slow

ROLES = ["cluster.engines.replicas=2", "cluster.engines.num_cpus=1", "cluster.rollouts.replicas=2"]
ROLES += ["cluster.rollouts.num_cpus=1", "cluster.ranks.num_cpus=1", "cluster.heartbeat_timeout_s=10"]


async def learn(recipe: Recipe, folder: Path, parts: Parts) -> None:
    """The online part of a run, to its end."""
    tasks, path = tasks_of(recipe.env, recipe.tasks, "train", 200, recipe.seed), recipe.model.path
    with RunStore.open(folder) as store, RunLog(store) as log:
        make = partial(parts.make_learner, recipe, store.images, path)
        with closing(Learning(make, store)) as learning:
            async with (
                open_episodes(recipe, store, Processor.load(path), open_rollouts=parts.open_rollouts) as runner,
                parts.open_engine(recipe, store.images, path) as engine,
            ):
                await online(runner, learning, cast(TrainableEngine, engine), tasks, log)


def of_role(name: str) -> Callable[[], list[psutil.Process]]:
    """The processes of one role."""

    def find() -> list[psutil.Process]:
        return [
            each for each in psutil.process_iter(["cmdline"]) if f"ray::{name}" in " ".join(each.info["cmdline"] or ())
        ]

    return find


@dataclass
class Node:
    """A node of the cluster that can be killed; another one joins right after."""

    cluster: Cluster
    joined: list[subprocess.Popen[bytes]]

    def kill(self) -> None:
        node = next(each for each in self.cluster.list_all_nodes() if each is not self.cluster.head_node)
        self.cluster.remove_node(node, allow_graceful=False)
        join = ["start", f"--address={self.cluster.address}", "--num-cpus=4", f"--object-store-memory={MEMORY}"]
        command = [sys.executable, "-m", "ray.scripts.scripts", *join, "--block"]
        self.joined.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))


def test_a_run_goes_on_while_processes_and_a_node_are_killed(
    cluster: Cluster, tmp_path: Path, small_recipe: SmallRecipe, caplog: pytest.LogCaptureFixture
) -> None:
    sizes = ["train.iterations=8", "train.groups_per_iteration=2", "rollout.max_staleness=1", "train.ranks=2"]
    recipe = small_recipe(*sizes, *ROLES, f"cluster.address={cluster.address}")
    folder = tmp_path / "run"
    RunStore.create(folder, dump_recipe(recipe), {}).close()
    joined: list[subprocess.Popen[bytes]] = []
    node: Any = lambda: [Node(cluster, joined)]  # noqa: E731
    victims = [of_role("RolloutServer"), of_role("EngineServer"), node, of_role("RankServer"), of_role("RolloutServer")]
    try:
        with connected(recipe) as parts, killing(folder, victims, random.Random(1)) as killed:
            asyncio.run(learn(recipe, folder, parts))
    finally:
        for process in joined:
            process.terminate()
            process.wait()
    assert killed[0]
    assert killed[1]
    assert killed[2]
    assert killed[3]
    all_right(recipe, folder)
    with RunStore.open(folder, readonly=True) as store:
        names = Counter(name for each in store.trajectories(RL) for name in each.cut)
        assert all(row.valid for row in store.rows(RL)), "an episode was given up"
    assert set(names) <= {Failure.WORKER_LOST, Failure.ENGINE_LOST}
    assert names[Failure.WORKER_LOST], "no episode was cut by the death of its worker"
    assert not of_role("EngineServer")()
    assert "the learner is made again" in caplog.text
