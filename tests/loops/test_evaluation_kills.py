"""An evaluation that is killed at ten random moments ends with the verdicts of one that was not."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from webdojo.store.run import RunStore

TASKS, RUNS = 30, 3
MODEL = "tiny"
DETERMINISTIC = ["evaluate.sampling={temperature: 0, max_tokens: 128}", "evaluate.max_steps=6"]


def command(folder: Path, *more: str) -> list[str]:
    keys = [f"evaluate.tasks={TASKS}", f"evaluate.runs={RUNS}", *DETERMINISTIC]
    return [
        sys.executable,
        "-m",
        "webdojo.cli",
        "eval",
        "quickstart",
        "--model",
        MODEL,
        *keys,
        f"--run={folder}",
        *more,
    ]


def verdicts(folder: Path) -> dict[str, tuple[float, int, str]]:
    """By seed, which names task and run, the reward, the turns and the answer of the episode that counts."""
    with RunStore.open(folder, readonly=True) as store:
        episodes = store.trajectories("eval")
    assert len(episodes) == TASKS * RUNS, "no run of a task was done twice"
    return {each.seed: (each.reward.value, each.steps, each.answer or "") for each in episodes if each.reward}


def result(folder: Path) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads((folder / "result.json").read_text())["success_eval"]
    return measured


@pytest.mark.slow
def test_an_evaluation_killed_at_ten_random_moments_ends_with_the_same_verdicts(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run(command(whole), check=True, capture_output=True)
    draw, kills = random.Random(0), 0
    while kills < 10 and not (cut / "result.json").is_file():
        again = ["--resume"] if (cut / "recipe.yaml").is_file() else []
        with subprocess.Popen(command(cut, *again), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            # Half of the kills come while it starts, the others while episodes run.
            if kills % 2:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(draw.uniform(0, 8))
            else:
                before = done(cut)
                while process.poll() is None and done(cut) == before:
                    time.sleep(0.05)
                time.sleep(draw.uniform(0, 0.5))
            process.kill()
            _, told = process.communicate()
        assert process.returncode in (0, -9), told.decode()
        kills += 1
    assert kills == 10, "it ended before it was killed ten times: give it more tasks"
    subprocess.run(command(cut, "--resume"), check=True, capture_output=True)
    assert verdicts(cut) == verdicts(whole)
    assert result(cut) == result(whole)


def done(folder: Path) -> int:
    """Episodes so far."""
    if not (folder / "run.sqlite").is_file():
        return 0
    with RunStore.open(folder, readonly=True) as store:
        return len(store.rows("eval"))
