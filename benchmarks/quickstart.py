"""Does the quickstart learn, and is it the RL that does it?

    python benchmarks/quickstart.py [--seeds 0 1 2] [--runs runs/bench] [KEY=VALUE …]

For each seed `webdojo train quickstart` in a process of its own; then for each the control: the same warm
start trained on with fresh oracle demonstrations for as long as RL took, measured on the same
held-out tasks. The control's learning rate is constant, at half the peak of the warm start's cosine,
which is the cosine's mean. What is finished is not done again, and a run that was stopped goes on;
a control that was stopped starts afresh, because its time counts. Recorded rows of other seeds of the same recipe are
kept, so that seeds can be run one at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from process_tree import tree_bytes
from record import record, recorded

from webdojo.evaluation.metrics import wilson95
from webdojo.loops.episodes import open_episodes
from webdojo.loops.log import RunLog
from webdojo.loops.models import learn, make_learner
from webdojo.loops.pipeline import Pipeline
from webdojo.policy.scripted import ScriptedActor
from webdojo.progress import progress
from webdojo.recipe import Recipe, dump_recipe, load_recipe
from webdojo.sites.oracle import Oracle
from webdojo.store.files import write_atomic
from webdojo.store.run import DATABASE, RunStore
from webdojo.trainer.batch import sft_samples
from webdojo.trainer.sft import train_sft

STAGES = ("success_base", "success_sft", "success_rl", "success_control")
MEMORY = ("peak_rss_gb", "peak_pss_gb")
CHUNK = 64
"""Demonstrations that the control collects at a time."""


def train(run: Path, seed: int, overrides: list[str], recipe: str = "quickstart") -> dict[str, float]:
    """One training in a process of its own; a run that was stopped goes on.

    Returns:
        `seconds_train`, wall seconds of all attempts, and the peak memory of the process tree: `peak_rss_gb`,
        which counts pages that Chromium's processes share once for each of them, and `peak_pss_gb`, which
        counts them once. They are kept in `<run>.json` beside the run, so that they survive this process.
    """
    note = run.parent / f"{run.name}.json"
    used = json.loads(note.read_text()) if note.exists() else dict.fromkeys(("seconds_train", *MEMORY), 0.0)
    if (run / "result.json").exists():
        return used
    command = [sys.executable, "-m", "webdojo.cli", "train", recipe, f"seed={seed}", *overrides]
    command += ["--run", str(run), *(["--resume"] if (run / DATABASE).exists() else [])]
    run.parent.mkdir(parents=True, exist_ok=True)
    before, started = used["seconds_train"], time.monotonic()
    process = subprocess.Popen(command)
    while process.poll() is None:
        for key, bytes_now in zip(MEMORY, tree_bytes(process.pid), strict=True):
            used[key] = max(used[key], bytes_now / 1e9)
        used["seconds_train"] = before + time.monotonic() - started
        write_atomic(note, json.dumps(used).encode())
        time.sleep(3)
    if process.returncode:
        raise SystemExit(f"seed {seed} failed with exit code {process.returncode}: {' '.join(command)}")
    return used


async def control(recipe: Recipe, store: RunStore, log: RunLog, seconds: float) -> dict[str, Any]:
    """SFT continued from the run's warm start on new demonstrations, for `seconds` of wall time."""
    pipeline = Pipeline(recipe, store, log)
    start = store.checkpoints.get("sft").path
    learner = make_learner(recipe, store.images, str(start))
    learner.load(start)
    meta = {"phase": "control", "iteration": recipe.train.iterations}  # a longer RL needs a longer control
    async with open_episodes(recipe, store, learner.processor) as runner:
        if all(checkpoint.meta != meta for checkpoint in store.checkpoints.all()):
            for chunk in {row.iteration for row in store.rows("control_demo")}:
                store.discard_trajectories("control_demo", chunk)
            config = recipe.sft.model_copy(
                update={"epochs": 1, "warmup_ratio": 0.0, "lr": recipe.sft.lr / 2, "schedule": "constant"}
            )
            actor = ScriptedActor(runner.harness, Oracle)
            deadline, first = time.monotonic() + seconds, recipe.sft.demos
            with progress("control demonstrations", None) as bar:
                while (left := deadline - time.monotonic()) > 0:
                    bar.advance(0, seconds_left=left)
                    tasks = pipeline.tasks[first : first + CHUNK]
                    shown = await runner.run_tasks(tasks, actor, "control_demo", first, recipe.rollout, bar)
                    samples = sft_samples([d for d in shown if d.reward is not None and d.reward.value == 1])
                    await learn(learner, train_sft, learner, samples, config)
                    first += CHUNK
            store.checkpoints.save("control", learner.save, meta)
        learner.close()
        model = str(store.checkpoints.get("control").path)
        found = await pipeline.evaluate(runner, "eval_control", model, recipe.train.iterations)
    return found | {"demos": recipe.sft.demos + len(store.rows("control_demo"))}


def row(folder: Path, seed: int, used: dict[str, float]) -> dict[str, Any]:
    """A finished run with its control, which is run now unless it was before."""
    recipe = load_recipe(str(folder / "recipe.yaml"), migrate=True)
    with RunStore.open(folder) as store, RunLog(store) as log:
        result = store.get("result")
        if "success_control" not in result:
            result["success_control"] = asyncio.run(control(recipe, store, log, result["seconds"]["rl"]))
            store.write_result(result)
        # An iteration that trained on the surplus alone rolled nothing out and has no reward.
        rewards = [round(m["reward"], 4) if "reward" in m else None for m in store.metrics("rl")]
        settings = dump_recipe(recipe.model_copy(update={"seed": 0})).encode()
        kept = {"seed": seed, "recipe": hashlib.sha256(settings).hexdigest()[:12], "commit": store.info["git"], **used}
        kept["seconds"] = result["seconds"]
        return (
            kept
            | {"reward_by_iteration": rewards}
            | {
                stage: {key: result[stage][key] for key in ("n", "rate", "ci95", "by_difficulty", "terminations")}
                for stage in STAGES
            }
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/bench"))
    arguments, overrides = parser.parse_known_args()
    folders = {seed: arguments.runs / f"seed-{seed}" for seed in arguments.seeds}
    used = {seed: train(folder, seed, overrides) for seed, folder in folders.items()}
    rows = with_recorded("quickstart", [row(folder, seed, used[seed]) for seed, folder in folders.items()])
    record("quickstart", headline(rows), rows)


def with_recorded(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """These rows, and the recorded ones of other seeds of the same recipe, by seed."""
    seeds, same = {each["seed"] for each in rows}, rows[0]["recipe"]
    kept = [each for each in recorded(name) if each.get("recipe") == same and each["seed"] not in seeds]
    return sorted(rows + kept, key=lambda each: each["seed"])


def headline(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Success by stage over all seeds, with its interval and its spread, what RL added, seconds and memory."""
    told: dict[str, float] = {}
    for stage in STAGES:
        rates = [found[stage]["rate"] for found in rows]
        n = sum(found[stage]["n"] for found in rows)
        low, high = wilson95(round(sum(rate * found[stage]["n"] for rate, found in zip(rates, rows, strict=True))), n)
        told |= {stage: mean(rates), f"{stage}_low": low, f"{stage}_high": high}
        told[f"{stage}_spread"] = stdev(rates) if len(rates) > 1 else 0.0
    told["rl_minus_sft"] = told["success_rl"] - told["success_sft"]
    told["seconds_train"] = mean(found["seconds_train"] for found in rows)
    told |= {key: max(found[key] for found in rows) for key in MEMORY}
    told["n_tasks"] = rows[0]["success_rl"]["n"]
    return {key: round(value, 4) for key, value in told.items()}


if __name__ == "__main__":
    main()
