"""Does the quickstart train on a cluster as it does on one machine, whatever dies meanwhile?

    python benchmarks/cluster.py [--kills 20] [--seed 0] [--runs runs/cluster] [KEY=VALUE …]

Trains it here, and then on a real Ray cluster of three nodes on this machine with two engines, two rollout workers and
two ranks of the learner, of which at random times one is killed: an engine, a worker, a rank, or a whole node, which
another one replaces. Neither run is resumed. What is finished is not done again.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from ray.cluster_utils import Cluster
from record import record

from webdojo.loops.resume import latest, trained_key
from webdojo.loops.run_folder import RL
from webdojo.rollout.groups import is_settled, number_of
from webdojo.store.run import RunStore

NODES = 3
STORE_BYTES = 200 * 2**20
"""Of a node's object store: a version of the tiny model has some 10 MB."""
PAUSE_S = (20.0, 60.0)
"""Between two kills."""
VICTIMS = ("EngineServer", "RolloutServer", "RankServer", "node")
ROLES = [
    *("cluster.engines.replicas=2", "cluster.rollouts.replicas=2", "cluster.rollouts.num_cpus=1", "train.ranks=2"),
    *("cluster.heartbeat_timeout_s=30", "rollout.max_staleness=1"),
]


class Killer:
    """Kills a process or a node of a cluster now and then while its block runs, `most` times."""

    def __init__(self, cluster: Cluster, most: int, seed: int) -> None:
        self.killed: Counter[str] = Counter()
        self._cluster, self._most, self._draw = cluster, most, random.Random(seed)
        self._over = threading.Event()
        self._joined: list[subprocess.Popen[bytes]] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            for node in self._joined:
                node.terminate()
                node.wait()

    def _run(self) -> None:
        while self.killed.total() < self._most and not self._over.wait(self._draw.uniform(*PAUSE_S)):
            victim = VICTIMS[self.killed.total() % len(VICTIMS)]
            if victim == "node":
                self._replace_a_node()
            elif alive := processes(victim):
                self._draw.choice(alive).kill()
            else:
                continue
            self.killed[victim] += 1
            print(f"killed: {victim}", flush=True)

    def _replace_a_node(self) -> None:
        if self._joined:
            self._joined.pop(0).kill()
        else:
            node = next(each for each in self._cluster.list_all_nodes() if each is not self._cluster.head_node)
            self._cluster.remove_node(node, allow_graceful=False)
        join = ["start", f"--address={self._cluster.address}", "--num-cpus=4", f"--object-store-memory={STORE_BYTES}"]
        command = [sys.executable, "-m", "ray.scripts.scripts", *join, "--block"]
        self._joined.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))


def processes(role: str) -> list[psutil.Process]:
    running = psutil.process_iter(["cmdline"])
    return [each for each in running if f"ray::{role}" in " ".join(each.info["cmdline"] or ())]


def train(run: Path, seed: int, overrides: list[str]) -> None:
    if (run / "result.json").exists():
        return
    command = [sys.executable, "-m", "webdojo", "train", "quickstart", f"seed={seed}", *overrides, "--run", str(run)]
    if code := subprocess.run(command).returncode:
        raise SystemExit(f"{run.name} ended with exit code {code}: {' '.join(command)}")


def accounted(run: Path) -> dict[str, Any]:
    """What became of the groups of a run: `lost`, those that could have trained and did not, without having become too
    old; and `used_twice`."""
    with RunStore.open(run, readonly=True) as store:
        last = latest(store)
        assert last is not None
        iterations = range(1, last.meta["iteration"] + 1)
        used = [number_of(group) for each in iterations for group in store.get(trained_key(each))]
        members: defaultdict[int, list[float]] = defaultdict(list)
        cut: Counter[str] = Counter()
        for each in store.trajectories(RL):
            cut.update(each.cut)
            if each.reward is not None and each.reward.valid:
                members[number_of(each.group)].append(each.reward.value)
        stale = sum(row["groups_too_stale"] for row in store.metrics(RL))
        success = json.loads((run / "result.json").read_text())["success_rl"]
    drawn = {number for number in members if number < last.meta["position"]}
    could = {number for number in drawn if len(members[number]) > 1 and not is_settled(members[number])}
    waiting = {*last.meta["pool"]["waiting"], *last.meta["pool"]["running"]}
    return {
        "success": success["rate"],
        "ci95": success["ci95"],
        "lost": max(0, len(could - set(used) - waiting) - int(stale)),
        "used_twice": len(used) - len(set(used)),
        "ran_again": dict(cut),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=Path("runs/cluster"))
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    given = parser.parse_args()
    here, there = given.runs / f"here-{given.seed}", given.runs / f"cluster-{given.seed}"
    note = given.runs / f"killed-{given.seed}.json"
    train(here, given.seed, given.overrides)
    if not (there / "result.json").exists():
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": STORE_BYTES}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(NODES - 1):
            cluster.add_node(num_cpus=4, object_store_memory=STORE_BYTES)
        killer = Killer(cluster, given.kills, given.seed)
        try:
            with killer.running():
                train(there, given.seed, [*ROLES, f"cluster.address={cluster.address}", *given.overrides])
        finally:
            cluster.shutdown()
        note.write_text(json.dumps(killer.killed))
    killed = json.loads(note.read_text())
    local, spread = accounted(here), accounted(there)
    headline = {
        "nodes": NODES,
        "kills": sum(killed.values()),
        "lost": spread["lost"],
        "used_twice": spread["used_twice"],
        "success_local": local["success"],
        "success_cluster": spread["success"],
    }
    record("cluster", headline, [{"arm": "here", **local}, {"arm": "cluster", "killed": killed, **spread}])


if __name__ == "__main__":
    main()
