"""From a thousand seeds to a split set, from the command line, by a model that fails, lies and stalls: killed at twenty
random moments, it ends with the same files."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.loops.construction.scripted import Scripted
from tests.policy.chat.endpoint import Endpoint
from webdojo.tasks import records
from webdojo.tasks.split import read_split

pytestmark = pytest.mark.slow

KILLS = 20
SEEDS = 1000
PIPELINE = """
path: built.jsonl
steps:
  - {name: lint, today: 2026-11-01}
  - {name: hosts, min_tasks: 2}
  - {name: near_duplicates, threshold: 0.98, embedding: ngrams}
"""
RESULTS = ("built.jsonl", "clean.jsonl", "clean.jsonl.dropped.jsonl", "split.json")


def seed(number: int) -> str:
    """Every tenth is told twice, in other words, and every fiftieth is for a day that has passed."""
    sizes = " ".join(str(1 + (number + k) % 4) for k in range(1 + number % 4))
    text = f"Seed {number - number % 10 if number % 10 == 1 else number} with groups {sizes}"
    return f"For a flight on May 3, 2024: {text}" if number % 50 == 7 else text


def commands(url: str) -> str:
    run = f"{shlex.quote(sys.executable)} -m webdojo.cli tasks"
    model = f"--endpoint {url} --model m engine.max_retries=8 engine.timeout_s=5"
    return " && ".join(
        (
            f"{run} build seeds.txt --out built.jsonl {model}",
            f"{run} filter pipeline.yaml --out clean.jsonl",
            f"{run} split clean.jsonl split.json --hold-out test=0.1",
        )
    )


def prepared(folder: Path) -> Path:
    folder.mkdir()
    (folder / "seeds.txt").write_text("".join(f"{seed(number)}\n" for number in range(SEEDS)))
    (folder / "pipeline.yaml").write_text(PIPELINE)
    return folder


def start(url: str, folder: Path) -> subprocess.Popen[str]:
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            ["bash", "-c", commands(url)], cwd=folder, stdout=log, stderr=log, text=True, start_new_session=True
        )


def killed_group(process: subprocess.Popen[str]) -> bool:
    """Whether it ran still; nothing of it is left."""
    subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=False, stderr=subprocess.DEVNULL)
    return process.wait() != 0


def test_a_set_that_is_killed_twenty_times_is_the_same(tmp_path: Path) -> None:
    draw = random.Random(5)
    whole, killed = prepared(tmp_path / "whole"), prepared(tmp_path / "killed")
    with Endpoint(default=Scripted("Seed 7 with", "Seed 22 shows 1.1")) as endpoint:
        began = time.monotonic()
        assert start(endpoint.url, whole).wait() == 0, (whole / "log").read_text()
        took = time.monotonic() - began
    with Endpoint(default=Scripted("Seed 7 with", "Seed 22 shows 1.1")) as endpoint:
        kills = 0
        while kills < KILLS:
            process = start(endpoint.url, killed)
            time.sleep(draw.uniform(1, 2 + 2 * took / KILLS))
            kills += killed_group(process)
            if (killed / "split.json").exists():  # it was over before: once more, from its last step
                for name in RESULTS[1:]:
                    (killed / name).unlink(missing_ok=True)
        assert start(endpoint.url, killed).wait() == 0, (killed / "log").read_text()
    for name in RESULTS:
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    reasons = {json.loads(line)["reason"].partition(":")[0] for line in (whole / RESULTS[2]).read_text().splitlines()}
    assert reasons == {"past_dated", "long tail", "near-duplicate"}
    made = read_split(whole / "split.json")
    assert sum(part.tasks for part in made.parts.values()) == len(list(records.load(whole / "clean.jsonl")))
    assert not set(made.parts["train"].sites) & set(made.parts["test"].sites)
