"""A run that is interrupted, then killed, goes on and ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from webdojo.errors import WebdojoError
from webdojo.store.run import DATABASE, RunStore

SHORT = [
    *("sft.demos=24", "sft.epochs=2", "train.iterations=3", "train.groups_per_iteration=1", "evaluate.tasks=4"),
    *("rollout.group_size=4", "rollout.concurrency=8", "rollout.max_steps=3", "evaluate.max_steps=3"),
    *("env.difficulties=[1]", "train.max_groups_per_iteration=60", "rollout.max_staleness=1", "train.threads=1"),
]


def start(run: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "webdojo.cli", "train", "quickstart", *SHORT, "--run", str(run), *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )


def wait_for(process: subprocess.Popen[str], run: Path, reached: Callable[[RunStore], bool]) -> None:
    """Until the run's store shows it, while the process lives."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[0]
        if (run / DATABASE).exists():
            with RunStore.open(run, readonly=True) as store:
                if reached(store):
                    return
        time.sleep(0.2)
    raise AssertionError("not reached in 300 s")


@pytest.mark.slow
def test_an_interrupted_and_then_killed_run_goes_on_to_its_result(tmp_path: Path) -> None:
    run = tmp_path / "run"

    process = start(run)
    wait_for(process, run, lambda store: len(store.rows("demo")) >= 6)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in output
    with RunStore.open(run, readonly=True) as store:
        demos = {row.id for row in store.rows("demo")}
    assert len(demos) >= 6

    process = start(run, "--resume")
    wait_for(process, run, lambda store: len(store.metrics("rl")) >= 1)
    process.kill()
    process.communicate(timeout=60)
    with RunStore.open(run, readonly=True) as store:
        ended = {row.id for row in store.rows("rl") if row.valid}
        sft = store.checkpoints.get("sft")
        written = (sft.path / "model.safetensors").stat().st_mtime_ns
        first = store.metrics("rl")[0]
        assert demos <= {row.id for row in store.rows("demo")}

    process = start(run, "--resume")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    result = json.loads((run / "result.json").read_text())
    assert result["success_rl"]["n"] == result["success_base"]["n"] == 4
    with RunStore.open(run, readonly=True) as store:
        assert (sft.path / "model.safetensors").stat().st_mtime_ns == written, "the warm start was done again"
        assert [row["step"] for row in store.metrics("rl")] == [1, 2, 3]
        assert store.metrics("rl")[0] == first, "a finished iteration was done again"
        assert len({row.task_id for row in store.rows("demo")}) == len(store.rows("demo")) == 24
        assert ended <= {row.id for row in store.rows("rl")}, "stored episodes were thrown away"
        trained = [group for step in (1, 2, 3) for group in store.get(f"trained groups {step}")]
        assert len(trained) == len(set(trained)) == 3, "a group trained twice, or not at all"
        groups = Counter(row.group_id for row in store.rows("rl"))
        assert {groups[group] for group in trained} == {4}, "a group has too few or too many members"
        assert max(groups.values()) == 4
        numbers = sorted(int(group.rpartition("-")[2]) for group in groups)
        assert numbers == list(range(len(numbers))), "a task was passed over"


def test_a_wrong_model_path_leaves_no_run_behind(tmp_path: Path) -> None:
    from webdojo.loops.start import train
    from webdojo.recipe import load_recipe

    recipe = load_recipe("quickstart", ["model.path=/nowhere/model"])
    with pytest.raises(WebdojoError, match="/nowhere/model"):
        train(recipe, tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()
