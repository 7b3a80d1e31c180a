"""A collection that is killed at random moments ends with the data set of one that was not."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.loops.collection.comparing import content
from tests.loops.collection.replaying import answering, stall
from tests.policy.chat.endpoint import Endpoint, drop, refuse
from webdojo.loops.collection.dataset import MANIFEST, read_manifest
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.store.run import RunStore

ERRING = ["collect.noise=0.3", "collect.attempts=2"]


def command(folder: Path, *more: str) -> list[str]:
    keys = ["collect.tasks=16", "rollout.concurrency=4"]
    return [sys.executable, "-m", "webdojo.cli", "collect", "quickstart", *keys, f"--run={folder}", *more]


def killed(folder: Path, kills: int, *more: str) -> None:
    """Collect; `kills` times by a process that is killed or interrupted at a random moment."""
    draw = random.Random(kills)
    for number in range(kills):
        again = ["--resume"] if (folder / "recipe.yaml").is_file() else []
        with subprocess.Popen(command(folder, *more, *again), stdout=-3, stderr=-1) as process:
            if number % 3 == 2:  # while it starts
                with suppress(subprocess.TimeoutExpired):
                    process.wait(draw.uniform(0, 5))
            else:
                before = done(folder)
                while process.poll() is None and done(folder) == before:
                    time.sleep(0.02)
                time.sleep(draw.uniform(0, 0.5))
            process.send_signal(signal.SIGINT if number % 2 else signal.SIGKILL)
            _, told = process.communicate()
        assert process.returncode in (-9, 130, -2), told.decode()
        assert not (folder / MANIFEST).exists(), "it looks like a data set before it is one"
    subprocess.run(command(folder, *more, "--resume"), check=True, capture_output=True)


def done(folder: Path) -> int:
    if not (folder / "run.sqlite").is_file():
        return 0
    with RunStore.open(folder, readonly=True) as store:
        return len(store.rows("collect"))


def test_the_data_set_of_an_erring_oracle_does_not_depend_on_kills(tmp_path: Path) -> None:
    subprocess.run(command(tmp_path / "whole", *ERRING), check=True, capture_output=True)
    killed(tmp_path / "cut", 6, *ERRING)
    assert content(tmp_path / "cut") == content(tmp_path / "whole")
    whole, cut = (read_manifest(tmp_path / name) for name in ("whole", "cut"))
    assert (cut.trajectories, cut.counts) == (whole.trajectories, whole.counts)
    assert cut.lineage[0]["tasks"] == whole.lineage[0]["tasks"]
    assert len(whole.trajectories) == 32


def test_nor_does_that_of_an_endpoint_that_also_fails(tmp_path: Path) -> None:
    subprocess.run(command(tmp_path / "oracle"), check=True, capture_output=True)
    replies = answering(tmp_path / "oracle", Processor.load(model_folder("tiny")), lies_one_in=4)
    faulty = [fault for _ in range(4) for fault in (refuse(503), replies, replies, drop, replies, stall)]
    with Endpoint(default=replies) as sound, Endpoint(*faulty, default=replies) as broken:
        keys = ["collect.max_attempts=3", "engine.max_retries=0", "engine.timeout_s=2"]
        options = ["--model=m", *keys]
        subprocess.run(
            command(tmp_path / "whole", f"--endpoint={sound.url}", *options), check=True, capture_output=True
        )
        killed(tmp_path / "cut", 5, f"--endpoint={broken.url}", *options)
    assert content(tmp_path / "cut") == content(tmp_path / "whole")
    assert read_manifest(tmp_path / "whole").counts.successes >= 14
