"""How many episodes does webdojo do in an hour where TRL's GRPO with a synchronous Playwright environment does one?

    python benchmarks/peer_loop.py [--updates 3] [--groups 2] [--group-size 8] [--repeats 2] [KEY=VALUE …]

The same tiny model, the same tasks of the quickstart, the same number of episodes and optimizer steps, on this
machine. On both sides a script says what the model has sampled (`peer_loop_work.py`): the oracle's calls, so that
episodes are as long whatever is learned; the model computes and samples as many tokens all the same. TRL's side is
`peer_loop_trl.py`: `GRPOTrainer(environment_factory=…)` as its documentation has it, with one Chromium and a context an
episode. Ours is the loop of `webdojo train` without its evaluations.

The sides take turns, A B B A. What is measured begins when model and browser are there. `cpu_s_per_turn` is of the
whole process tree, by trained turns; memory is its peak PSS; `seconds_by_kind` says which processes used the CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

from peer_loop_work import Script, write_scripts
from process_tree import cpu_ms_by_kind, tree_bytes
from record import record

from webdojo.loops.episodes import open_episodes
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.policy.scripted import ScriptedActor
from webdojo.progress import progress
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.sites.oracle import Oracle
from webdojo.store.info import run_info
from webdojo.store.run import RunStore

SIDES = {"webdojo": "peer_loop_ours.py", "trl": "peer_loop_trl.py"}


async def scripts_of(recipe: Recipe, folder: Path, count: int) -> list[Script]:
    """What the oracle calls on the first training tasks that it solves in three turns or more."""
    processor = Processor.load(model_folder(recipe.model.path))
    with RunStore.create(folder, dump_recipe(recipe, whole_paths=True), run_info(recipe.seed)) as store:
        async with open_episodes(recipe, store, processor) as runner:
            tasks = recipe.training_tasks()[: 4 * count]
            actor = ScriptedActor(runner.harness, Oracle)
            with progress("scripts", len(tasks)) as bar:
                shown = await runner.run_tasks(tasks, actor, "demo", 0, recipe.rollout, bar)
    solved = {t.task.instruction: t for t in shown if t.reward is not None and t.reward.success and len(t.turns) >= 3}
    return [
        Script(t.task.id, about, [turn.parsed.calls for turn in t.turns]) for about, t in list(solved.items())[:count]
    ]


class Side:
    """A process that works, and waits where it says that something has begun or ended."""

    def __init__(self, script: str, arguments: list[str]) -> None:
        command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.peak = 0
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def until(self, name: str) -> tuple[dict[str, Any], dict[str, float]]:
        """What the process tells with a mark, and CPU milliseconds by kind of process then; it goes on afterwards."""
        assert self._process.stdout is not None and self._process.stdin is not None
        for line in self._process.stdout:
            if line.startswith('{"mark"') and (told := json.loads(line))["mark"] == name:
                used = cpu_ms_by_kind(self._process.pid)
                self._process.stdin.write("\n")
                self._process.stdin.flush()
                return told, used
        raise SystemExit(f"{self._process.args} ended with {self._process.wait()} before its mark {name!r}")

    def end(self) -> None:
        if self._process.wait():
            raise SystemExit(f"{self._process.args} ended with {self._process.returncode}")

    def _watch(self) -> None:
        while self._process.poll() is None:
            self.peak = max(self.peak, tree_bytes(self._process.pid)[1])
            time.sleep(1)


def run(name: str, arguments: list[str]) -> dict[str, Any]:
    """A side's figures."""
    side = Side(SIDES[name], arguments)
    _, before = side.until("begin")
    began = time.perf_counter()
    told, after = side.until("end")
    seconds = time.perf_counter() - began
    side.end()
    del told["mark"]
    by_kind = {kind: (value - before.get(kind, 0.0)) / 1000 for kind, value in after.items()}
    return {
        "side": name,
        **told,
        "seconds": seconds,
        "trajectories_per_hour": told["trajectories"] * 3600 / seconds,
        "cpu_s_per_turn": sum(by_kind.values()) / told["trained"],
        "seconds_by_kind": {kind: round(value, 1) for kind, value in by_kind.items() if value >= 0.05},
        "peak_pss_gb": side.peak / 1e9,
    }


def headline(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Medians of each side."""

    def of(side: str, key: str) -> float:
        return median(row[key] for row in rows if row["side"] == side)

    return {
        "x_trajectories_per_hour": of("webdojo", "trajectories_per_hour") / of("trl", "trajectories_per_hour"),
        "x_cpu_per_turn": of("trl", "cpu_s_per_turn") / of("webdojo", "cpu_s_per_turn"),
        "peak_rss_ratio": of("trl", "peak_pss_gb") / of("webdojo", "peak_pss_gb"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=3)
    parser.add_argument("--groups", type=int, default=2, help="of an update")
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=2, help="of each side")
    arguments, overrides = parser.parse_known_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="webdojo-peer-") as folder_:
        folder = Path(folder_)
        recipe = load_recipe("quickstart", overrides)
        count = arguments.updates * arguments.groups
        scripts = asyncio.run(scripts_of(recipe, folder / "scripts", count))
        write_scripts(folder / "scripts.json", scripts)
        order = [name for pair in range(arguments.repeats) for name in list(SIDES)[:: -1 if pair % 2 else 1]]
        for number, name in enumerate(order):
            sizes = [str(each) for each in (arguments.updates, arguments.groups, arguments.group_size)]
            rows.append(run(name, [str(folder / "scripts.json"), str(folder / f"{number}"), *sizes, *overrides]))
            print(rows[-1], flush=True)
    record("peer_loop", headline(rows), rows)


if __name__ == "__main__":
    main()
