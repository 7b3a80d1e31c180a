"""Does the quickstart learn, and is it the RL that does it?

    python benchmarks/quickstart.py [--seeds 0 1 2] [--runs runs/bench] [KEY=VALUE …]

For each seed: `webdojo train quickstart` in a process of its own, then the control: the same warm
start trained on with fresh oracle demonstrations for as long as RL took, measured on the same
held-out tasks. Seeds whose run is finished are not run again.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import psutil
from record import record

from webdojo.config import Recipe, load_recipe
from webdojo.evaluate.metrics import wilson95
from webdojo.loops.arena import open_arena
from webdojo.loops.log import RunLog
from webdojo.loops.pipeline import Pipeline
from webdojo.policy.loading import load_model
from webdojo.policy.scripted import scripted_actor
from webdojo.progress import progress
from webdojo.sites.oracle import Oracle
from webdojo.store.run import RunStore
from webdojo.train.batch import sft_samples
from webdojo.train.learner import Learner
from webdojo.train.sft import train_sft

STAGES = ("success_base", "success_sft", "success_rl", "success_control")
CHUNK = 64
"""Demonstrations that the control collects at a time."""


def train(run: Path, seed: int, overrides: list[str]) -> tuple[float, float]:
    """One quickstart in a process of its own: wall seconds, and peak memory of its process tree in GB (PSS)."""
    command = [
        sys.executable,
        "-m",
        "webdojo.cli",
        "train",
        "quickstart",
        "--run",
        str(run),
        f"seed={seed}",
        *overrides,
    ]
    started, peak = time.monotonic(), 0
    process = subprocess.Popen(command)
    while process.poll() is None:
        peak = max(peak, _tree_pss(process.pid))
        time.sleep(3)
    if process.returncode:
        raise SystemExit(f"seed {seed} failed with exit code {process.returncode}: {' '.join(command)}")
    return time.monotonic() - started, peak / 1e9


def _tree_pss(pid: int) -> int:
    total = 0
    try:
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
            total += process.memory_full_info().pss
    except psutil.NoSuchProcess:
        pass
    return total


async def control(recipe: Recipe, store: RunStore, log: RunLog, seconds: float) -> dict[str, Any]:
    """SFT continued from the run's warm start on new demonstrations, for `seconds` of wall time."""
    pipeline = Pipeline(recipe, store, log)
    start = store.checkpoint("sft").path
    model, processor = load_model(start)
    async with open_arena(recipe, store, processor) as arena:
        learner = Learner(model, processor, store.images, recipe.train, seed=recipe.seed)
        learner.load(start)
        deadline, first, config = time.monotonic() + seconds, recipe.sft.demos, recipe.rollout
        with progress("control: seconds of SFT", round(seconds)) as bar:
            while (begun := time.monotonic()) < deadline:
                tasks = pipeline.tasks[first : first + CHUNK]
                run = arena.runner(
                    scripted_actor(arena.harness, Oracle), "control_demo", first, config.sampling, config.max_steps, bar
                )
                demos = await asyncio.gather(*(run(task, "", f"control-{task.id}") for task in tasks))
                samples = sft_samples([d for d in demos if d.reward is not None and d.reward.value == 1])
                epoch = recipe.sft.model_copy(update={"epochs": 1, "warmup_ratio": 0.0})
                await asyncio.to_thread(train_sft, learner, samples, epoch)
                first += CHUNK
                bar.advance(time.monotonic() - begun - len(tasks))
        store.save_checkpoint("control", learner.save, {"phase": "control"})
        found = await pipeline.evaluate(arena, "eval_control", str(store.checkpoint("control").path))
    return found | {"demos": first}


def one_seed(root: Path, seed: int, overrides: list[str]) -> dict[str, Any]:
    """Run and control of one seed, as a row."""
    folder = root / f"seed-{seed}"
    if not (folder / "result.json").exists():
        seconds, peak = train(folder, seed, overrides)
        with RunStore.open(folder) as store:
            store.set("bench", {"seconds_train": seconds, "peak_rss_gb": peak})
    recipe = load_recipe(str(folder / "recipe.yaml"))
    with RunStore.open(folder) as store, RunLog(store) as log:
        result = store.get("result")
        if "success_control" not in result:
            result["success_control"] = asyncio.run(control(recipe, store, log, result["seconds"]["rl"]))
            store.write_result(result)
        rewards = [round(row["reward"], 4) for row in store.metrics("rl")]
        return {"seed": seed, **store.get("bench"), "seconds": result["seconds"], "reward_by_iteration": rewards} | {
            stage: {key: result[stage][key] for key in ("n", "rate", "ci95", "by_difficulty", "terminations")}
            for stage in STAGES
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/bench"))
    arguments, overrides = parser.parse_known_args()
    rows = [one_seed(arguments.runs, seed, overrides) for seed in arguments.seeds]
    headline: dict[str, float] = {}
    for stage in STAGES:
        rates = [row[stage]["rate"] for row in rows]
        n = sum(row[stage]["n"] for row in rows)
        low, high = wilson95(round(sum(rate * row[stage]["n"] for rate, row in zip(rates, rows, strict=True))), n)
        headline |= {stage: mean(rates), f"{stage}_low": low, f"{stage}_high": high}
        headline[f"{stage}_spread"] = stdev(rates) if len(rates) > 1 else 0.0
    headline["rl_minus_sft"] = headline["success_rl"] - headline["success_sft"]
    headline["seconds_train"] = mean(row["seconds_train"] for row in rows)
    headline["peak_rss_gb"] = max(row["peak_rss_gb"] for row in rows)
    headline["n_tasks"] = rows[0]["success_rl"]["n"]
    record("quickstart", {key: round(value, 4) for key, value in headline.items()}, rows)


if __name__ == "__main__":
    main()
