"""What the disk and other programs can do to a run that goes on: one clear error each, and nothing stored is lost."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.store.fabricate import trajectory
from webdojo.errors import StoreError, StoreFailure
from webdojo.store import database
from webdojo.store.run import RunStore

ROOT = Path(__file__).parents[2]
NOBODY = 65534


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with the episodes a and b."""
    with RunStore.create(tmp_path / "run", "name: x\n", {}) as store:
        add(store, "a")
        add(store, "b")
    return tmp_path / "run"


def add(store: RunStore, id: str) -> None:
    store.add_trajectory(trajectory(id, store.images, site=sum(map(ord, id))), "rl", 1)


def ids(run: Path) -> str:
    """What is stored, with its screenshots."""
    with RunStore.open(run, readonly=True) as store:
        assert all(map(store.has_screenshots, store.trajectories()))
        return "".join(row.id for row in store.rows())


def test_a_database_that_another_program_keeps_locked(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
    with RunStore.open(run) as store:
        other = sqlite3.connect(run / "run.sqlite")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailure, match=r"run in .*run \(database is locked\): .* end that program"):
            add(store, "c")
        assert [row.id for row in store.rows()] == ["a", "b"]
        other.close()
        with pytest.raises(StoreFailure, match="locked"):
            add(store, "d")  # or c would be missing between b and d
    with RunStore.open(run) as store:
        add(store, "c")
    assert ids(run) == "abc"


def test_a_full_database_keeps_what_it_has(run: Path) -> None:
    with RunStore.open(run) as store:
        store._database._connection.execute("PRAGMA max_page_count=1")  # as many as it has
        with pytest.raises(StoreFailure, match=r"database or disk is full\): free space"):
            for n in range(1000):
                store.set(f"{n}", "x" * 1000)
    with RunStore.open(run) as store:
        assert store.get(f"{n - 1}") and store.get(f"{n}") is None
        add(store, "c")
    assert ids(run) == "abc"


FULL = """
import json, os, sys
from pathlib import Path
from tests.store.fabricate import trajectory
from webdojo.errors import StoreError, StoreFailure
from webdojo.store.run import RunStore

run = Path("/mnt/run")
ballast = Path("/mnt/ballast")

def write(folder):
    for part in range(20):
        (folder / f"part-{part}").write_bytes(bytes(10_000))

def save(store, n):
    store.checkpoints.save("last", write, {"n": n})

def episode(store, n):
    store.add_trajectory(trajectory(f"t{n}", store.images, site=n), "rl", n)

def result(store, n):
    store.write_result({"n": n, "text": "x" * 20_000})

do = {"save": save, "episode": episode, "result": result}[sys.argv[1]]
store = RunStore.create(run, "name: x\\n", {})
do(store, 0)
free = os.statvfs("/mnt").f_bavail * os.statvfs("/mnt").f_frsize
ballast.write_bytes(bytes(free - 150_000))
last = 0
try:
    for n in range(1, 500):
        do(store, n)
        last = n
except StoreFailure as error:
    print(error)
store.close()
ballast.unlink()
with RunStore.open(run) as store:
    if sys.argv[1] == "save":
        assert store.checkpoints.get("last").meta == {"n": last}
        assert len(list(store.checkpoints.get("last").path.iterdir())) == 21
        assert [path.name for path in (run / "checkpoints").iterdir()] == ["last"]
    elif sys.argv[1] == "episode":
        assert [row.id for row in store.rows()] == [f"t{n}" for n in range(last + 1)]
        assert all(map(store.has_screenshots, store.trajectories()))
    else:
        assert json.loads((run / "result.json").read_text())["n"] == last
    assert not list(run.rglob("*.tmp"))
    do(store, 500)
print("goes on")
"""


@pytest.mark.parametrize("what", ["episode", "save", "result"])
def test_a_full_disk(what: str) -> None:
    mount = ["unshare", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*mount, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    inside = 'mount -t tmpfs -o size=1m none /mnt && exec "$@"'
    command = [*mount, "sh", "-c", inside, "sh", sys.executable, "-c", FULL, what]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    message, goes_on = done.stdout.splitlines()
    assert "cannot write" in message and "/mnt/run" in message and "free space" in message
    assert goes_on == "goes on"


def test_a_screenshot_folder_that_is_deleted(run: Path) -> None:
    with RunStore.open(run) as store:
        known = store.trajectory("a")
        shutil.rmtree(run / "images")
        with pytest.raises(StoreFailure, match=r"images was deleted while its run went on: put it back, or"):
            add(store, "c")
        with pytest.raises(StoreFailure, match="images was deleted"):
            store.images.get(known.turns[0].observation.screenshot)
        assert not (run / "images").exists(), "made again in silence"
    with RunStore.open(run) as store:
        assert not store.has_screenshots(store.trajectory("a"))
        add(store, "c")
        assert store.has_screenshots(store.trajectory("c"))


def test_a_damaged_screenshot_counts_as_lost_and_heals(run: Path) -> None:
    with RunStore.open(run) as store:
        shot = store.trajectory("a").turns[0].observation.screenshot
        data = store.images.get(shot)
        store.images.path(shot).write_bytes(bytes(len(data)))  # as a power cut may leave it
        assert not store.has_screenshots(store.trajectory("a"))
        store.discard_broken(store.trajectory("a"))
        add(store, "a")
        assert store.has_screenshots(store.trajectory("a"))
        store.images.path(shot).write_bytes(bytes(len(data) - 1))
        store.images.put(data, shot.width, shot.height, shot.mime)
        assert store.has_screenshots(store.trajectory("a"))


@pytest.mark.parametrize("names", [[""], ["", "-wal", "-shm"], ["-wal"]], ids=["file", "all", "wal"])
def test_a_database_that_is_deleted_is_put_back(run: Path, names: list[str]) -> None:
    with RunStore.open(run) as store:
        add(store, "c")
        for name in names:
            (run / f"run.sqlite{name}").unlink()
        with pytest.raises(StoreFailure, match=r"run\.sqlite was deleted .*: it is there again, with everything"):
            add(store, "d")
        with pytest.raises(StoreFailure, match="it is there again"):
            add(store, "e")
    assert ids(run) == "abcd"
    with RunStore.open(run) as store:
        add(store, "e")
        assert store._database.read("PRAGMA integrity_check") == [("ok",)]
    assert ids(run) == "abcde"


def test_a_run_that_is_deleted_or_replaced(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    shutil.copy(run / "run.sqlite", copy)
    with RunStore.open(run) as store:
        copy.rename(run / "run.sqlite")
        with pytest.raises(StoreFailure, match=r"was replaced .* in .*run\.sqlite\.saved; give it that name back"):
            add(store, "c")
    assert ids(run) == "ab"
    (run / "run.sqlite").unlink()
    with pytest.raises(StoreError, match=r"rename run\.sqlite\.saved to run\.sqlite"):
        RunStore.open(run)
    (run / "run.sqlite.saved").rename(run / "run.sqlite")
    assert ids(run) == "abc"
    with RunStore.open(run) as store:
        shutil.rmtree(run)
        with pytest.raises(StoreFailure, match="cannot be written again"):
            store.set("n", 1)


@pytest.fixture
def nobodys() -> Iterator[Path]:
    """A folder that a process without rights can use: root may write everywhere."""
    folder = Path(tempfile.mkdtemp(prefix="webdojo-test-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def as_nobody(function: Callable[[Path], None], folder: Path) -> None:
    """Call it in a process without rights, which must end well."""

    def call() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        function(folder)

    process = multiprocessing.get_context("fork").Process(target=call)
    process.start()
    process.join()
    assert process.exitcode == 0


def test_a_folder_that_becomes_read_only(nobodys: Path) -> None:
    as_nobody(write_until_read_only, nobodys)


def write_until_read_only(folder: Path) -> None:
    run = folder / "run"
    places = [run, run / "images", run / "checkpoints"]
    with RunStore.create(run, "name: x\n", {}) as store:
        add(store, "a")
        for place in places:
            place.chmod(0o555)
        with RunStore.open(run, readonly=True) as reader:  # while the run goes on
            assert [row.id for row in reader.rows()] == ["a"]
        with pytest.raises(StoreFailure, match=r"cannot write .*images.* \(Permission denied\): .*make it writable"):
            add(store, "c")
        with pytest.raises(StoreFailure, match=r"cannot write .*last \(Permission denied\)"):
            store.checkpoints.save("last", lambda folder: None, {})
        with pytest.raises(StoreFailure, match=r"cannot write .*result.json \(Permission denied\)"):
            store.write_result({})
    assert ids(run) == "a", "a run of somebody else cannot be looked at"
    for place in places:
        place.chmod(0o755)
    with RunStore.open(run) as store:
        add(store, "b")
    assert ids(run) == "ab"
