"""Training on a Ray cluster whose nodes are hosts with networks of their own, one of which is cut off."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cluster.conftest import MEMORY
from tests.hosts import Host, hosts
from tests.loops.conftest import SmallRecipe, small_recipe
from tests.loops.test_kills import all_right, stored
from tests.policy.conftest import model_dir
from webdojo.errors import Failure
from webdojo.loops.run_folder import RL
from webdojo.recipe import dump_recipe
from webdojo.store.run import RunStore

__all__ = ["model_dir", "small_recipe"]

pytestmark = pytest.mark.slow

PORT = 6379
ENVIRONMENT = os.environ | {"RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}
ROLES = [
    *("cluster.engines.replicas=1", "cluster.engines.num_cpus=1", "cluster.engines.resources={engines: 1}"),
    *("cluster.rollouts.replicas=2", "cluster.rollouts.num_cpus=1", "cluster.rollouts.resources={browsers: 1}"),
    *(
        "cluster.ranks.num_cpus=1",
        "cluster.ranks.resources={ranks: 1}",
        "train.ranks=2",
        "cluster.heartbeat_timeout_s=10",
    ),
]


@contextmanager
def ray_on(host: Host, folder: Path, *arguments: str) -> Iterator[None]:
    """A node of a cluster on a host, until the block ends."""
    begin = [sys.executable, "-m", "ray.scripts.scripts", "start", f"--node-ip-address={host.address}", "--block"]
    sizes = [f"--object-store-memory={MEMORY}", f"--temp-dir={folder}"]
    log = folder / f"{host.name}.log"
    command = [*host.inside, *begin, *sizes, *arguments]
    with log.open("w") as out, subprocess.Popen(command, env=ENVIRONMENT, stdout=out, stderr=out) as node:
        try:
            deadline = time.monotonic() + 120
            while "Ray runtime started" not in log.read_text():
                assert node.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)
            yield
        finally:
            host.kill()  # one that is cut off would wait for the others


def test_a_run_goes_on_when_a_host_is_cut_off_and_another_joins(tmp_path: Path, small_recipe: SmallRecipe) -> None:
    sizes = ["train.iterations=6", "train.groups_per_iteration=2", "rollout.max_staleness=1"]
    run, output = tmp_path / "run", tmp_path / "output.txt"
    with hosts(4) as (head, second, third, fourth), ExitStack() as stack:
        # Its sockets need short paths.
        ray = Path(stack.enter_context(TemporaryDirectory(prefix="ray-")))
        address = f"{head.address}:{PORT}"
        join = f"--address={address}"
        whole = [join, "--num-cpus=2", '--resources={"ranks": 1, "browsers": 1}']
        for host, arguments in (
            (
                head,
                ["--head", f"--port={PORT}", "--num-cpus=2", "--include-dashboard=false", '--resources={"ranks": 1}'],
            ),
            (second, [join, "--num-cpus=2", '--resources={"engines": 1, "browsers": 1}']),
            (third, whole),
        ):
            stack.enter_context(ray_on(host, ray, *arguments))
        recipe = small_recipe(*sizes, *ROLES, f"cluster.address={address}")
        (tmp_path / "recipe.yaml").write_text(dump_recipe(recipe))
        train = [sys.executable, "-m", "webdojo", "train", str(tmp_path / "recipe.yaml"), "--run", str(run)]
        with output.open("w") as out:
            process = subprocess.Popen([*head.inside, *train], env=ENVIRONMENT, stdout=out, stderr=out)
        stack.callback(process.kill)
        wait_until(lambda: process.poll() is not None or stored(run) >= 12)
        third.cut()
        stack.enter_context(ray_on(fourth, ray, *whole))
        wait_until(lambda: process.poll() is not None)
    assert process.returncode == 0, output.read_text()
    assert "the learner is made again" in output.read_text()
    all_right(recipe, run)
    with RunStore.open(run, readonly=True) as store:
        assert {name for each in store.trajectories(RL) for name in each.cut} == {Failure.WORKER_LOST}


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
