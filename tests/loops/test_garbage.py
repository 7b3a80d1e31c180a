"""What `runs gc` takes and what it leaves, in a run folder with everything that accumulates in one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.fabricate import page_image, trajectory
from webdojo.loops.keep import garbage, remove
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.store.lock import locked, writer
from webdojo.store.run import RunStore


def weights(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "weights").write_text(text)

    return write


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Seven checkpoints, the third the best; a screenshot that an export names, two of no trajectory, halves."""
    recipe = load_recipe("quickstart", ["train.save_every=2", "train.save_total_limit=3", "rollout.max_staleness=0"])
    with RunStore.create(tmp_path / "run", dump_recipe(recipe), {}) as store:
        store.checkpoints.save("sft", weights("sft"), {"phase": "sft"})
        for iteration in range(1, 8):
            store.checkpoints.save(f"rl-{iteration:04d}", weights("rl"), {"phase": "rl", "iteration": iteration})
        for n in range(3):
            store.add_trajectory(trajectory(f"t{n}", store.images, site=n), "rl", 4)  # begun under the third
        named = page_image(store.images, 100)
        (store.path / "trajectories.jsonl").write_text(f'{{"images": ["images/{named.sha[:2]}/{named.sha}.jpg"]}}\n')
        for seed in (101, 102):
            page_image(store.images, seed)
        (store.path / ".result.json.0f.tmp").write_text("half")
        (store.images.path(named).parent / ".x.jpg.0f.tmp").write_text("half")
        (store.path / "checkpoints" / "rl-0008.tmp").mkdir()
        (store.path / "checkpoints" / "rl-0008.tmp" / "weights").write_text("half")
        (store.path / "checkpoints" / "sft.old").mkdir()
    return tmp_path / "run"


def collect(run: Path, keep: int | None = None) -> dict[str, list[str]]:
    """Delete what nothing needs; the names of it."""
    with locked(run), RunStore.open(run, readonly=True) as store:
        found = garbage(store, keep)
        remove(store, found)
        return {kind: sorted(path.name for path in paths) for kind, paths in found.items()}


def unharmed(run: Path) -> set[str]:
    """Everything that is needed is there; the names of the checkpoints."""
    with RunStore.open(run) as store:
        assert len(store.trajectories()) == 3
        assert all(map(store.has_screenshots, store.trajectories()))
        (line,) = (run / "trajectories.jsonl").read_text().splitlines()
        assert (run / line.split('"')[3]).is_file()
        names = {checkpoint.name for checkpoint in store.checkpoints.all()}
    assert names >= {"sft", "rl-0003", "rl-0007"}
    return names


def test_what_nothing_needs_goes_and_all_else_stays(run: Path) -> None:
    gone = collect(run)
    assert gone["checkpoints"] == ["rl-0001", "rl-0002", "rl-0004", "rl-0005"]
    assert len(gone["screenshots"]) == 2
    assert len(gone["half-written"]) == 4
    assert unharmed(run) == {"sft", "rl-0003", "rl-0006", "rl-0007"}
    assert not list(run.rglob("*.tmp")) and not list(run.rglob("*.old"))
    assert collect(run) == {"checkpoints": [], "screenshots": [], "half-written": []}
    assert collect(run, keep=1)["checkpoints"] == ["rl-0006"]
    assert unharmed(run) == {"sft", "rl-0003", "rl-0007"}


def test_checkpoints_stay_whose_episodes_a_resumed_run_may_end(run: Path) -> None:
    recipe = run / "recipe.yaml"
    recipe.write_text(recipe.read_text().replace("max_staleness: 0", "max_staleness: 2"))
    assert collect(run)["checkpoints"] == ["rl-0001", "rl-0002", "rl-0004"]


def test_it_may_be_killed_before_any_deletion(run: Path) -> None:
    fork = multiprocessing.get_context("fork")

    def collect_until(deletions: int) -> None:
        def audit(event: str, arguments: object) -> None:
            nonlocal deletions
            if event in ("os.rename", "os.remove", "os.rmdir"):
                deletions -= 1
                if deletions < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        collect(run)

    deaths = 0
    for deletions in (0, 1, 2, 1, 3, 2, 4, 1, 100):
        process = fork.Process(target=collect_until, args=(deletions,))
        process.start()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        deaths += process.exitcode != 0
        names = unharmed(run)
    assert deaths > 4
    assert names == {"sft", "rl-0003", "rl-0006", "rl-0007"}


def test_who_wrote_a_run_last_stays_known(run: Path) -> None:
    (run / "run.lock").write_text("12345")  # as a killed process leaves it
    collect(run)
    assert writer(run) == (False, "12345")
