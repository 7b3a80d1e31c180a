"""The copy of a run on object storage, which may fail at any moment."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.fabricate import trajectory
from webdojo.errors import StoreError
from webdojo.store import storage as module
from webdojo.store.run import RunStore
from webdojo.store.storage import Mirror, Storage, mirrored, pull

RECIPE = "name: quickstart\n"


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"memory://{uuid.uuid4().hex}/run" if request.param == "memory" else f"file://{tmp_path}/bucket/run"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore.create(tmp_path / "run", RECIPE, {})) as made:
        yield made


def advance(store: RunStore, iteration: int) -> None:
    """What an iteration leaves: an episode, a checkpoint that knows of it, and without the one before the last."""
    store.add_trajectory(trajectory(f"t{iteration}", store.images, site=iteration), "rl", iteration)

    def write(folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(bytes([iteration]) * 1000)
        (folder / "parts").mkdir()
        (folder / "parts" / "0").write_text(str(iteration))

    store.checkpoints.save(f"rl-{iteration:04d}", write, {"phase": "rl", "iteration": iteration})
    (store.path / "result.json").write_text(f'{{"iteration": {iteration}}}')
    if iteration > 2:
        store.checkpoints.remove(f"rl-{iteration - 2:04d}")


def check_whole(folder: Path) -> list[str]:
    """That a folder holds a run that can be gone on with; returns its checkpoints."""
    with RunStore.open(folder) as store:
        there = {row.id for row in store.rows("rl")}
        for each in store.trajectories("rl"):
            assert store.has_screenshots(each)
        for checkpoint in store.checkpoints.all():
            iteration = checkpoint.meta["iteration"]
            assert there >= {f"t{n}" for n in range(1, iteration + 1)}, "a checkpoint knows of lost episodes"
            assert (checkpoint.path / "model.safetensors").read_bytes() == bytes([iteration]) * 1000
            assert (checkpoint.path / "parts" / "0").read_text() == str(iteration)
        assert store.recipe_yaml == RECIPE
        return [each.name for each in store.checkpoints.all()]


def test_a_run_is_made_again_from_its_copy(store: RunStore, url: str, tmp_path: Path) -> None:
    mirror = Mirror(store.path, url, resume=False)
    for iteration in (1, 2, 3):
        advance(store, iteration)
        mirror.push()
    pull(url, tmp_path / "again")
    assert check_whole(tmp_path / "again") == ["rl-0002", "rl-0003"]
    assert (tmp_path / "again" / "result.json").read_text() == '{"iteration": 3}'
    names = Storage(url).sizes()
    assert not [name for name in names if "rl-0001" in name or name.endswith(".tmp") or "lock" in name]

    with pytest.raises(StoreError, match="already holds a run"):
        pull(url, tmp_path / "again")
    with pytest.raises(StoreError, match="holds no copy of a run"):
        pull(f"{url}-other", tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.raises(StoreError, match="already holds a run"):
        Mirror(store.path, url, resume=False)


def test_it_goes_on_from_another_machine_and_copies_only_what_is_new(
    store: RunStore, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance(store, 1)
    Mirror(store.path, url, resume=False).push()
    pull(url, tmp_path / "again")
    put: list[str] = []
    real = Storage.put

    def noted(self: Storage, file: Path, name: str) -> None:
        put.append(name)
        real(self, file, name)

    monkeypatch.setattr(Storage, "put", noted)
    with RunStore.open(tmp_path / "again") as again:
        mirror = Mirror(again.path, url, resume=True)
        mirror.push()
        assert not [name for name in put if name.startswith(("images", "checkpoints"))]
        advance(again, 2)
        again.checkpoints.save("rl-0001", lambda folder: (folder / "other").touch(), {"iteration": 0})
        put.clear()
        mirror.push()
        assert {name.split("/")[1] for name in put if name.startswith("checkpoints")} == {"rl-0001", "rl-0002"}
    pull(url, tmp_path / "third")
    assert [path.name for path in (tmp_path / "third" / "checkpoints" / "rl-0001").iterdir() if path.name == "other"]


def test_whenever_the_storage_dies_what_is_there_is_a_run(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies after each number of operations, and is left as it is."""
    url = f"memory://{uuid.uuid4().hex}/run"
    advance(store, 1)
    advance(store, 2)
    Mirror(store.path, url, resume=False).push()
    left = 0
    operations = {name: getattr(Storage, name) for name in ("put", "remove")}

    def dying(name: str) -> None:
        def operate(self: Storage, *args: object) -> None:
            nonlocal left
            if not left:
                raise StoreError("the storage is gone")
            left -= 1
            operations[name](self, *args)

        monkeypatch.setattr(Storage, name, operate)

    dying("put")
    dying("remove")
    ended, allowed, found = False, 0, []
    advance(store, 3)
    while not ended:
        left = allowed
        mirror = Mirror(store.path, url, resume=True)
        try:
            mirror.push()
            ended = True
        except StoreError:
            pass
        pull(url, tmp_path / f"after-{allowed}")
        found.append(check_whole(tmp_path / f"after-{allowed}"))
        assert found[-1], "it is left without a checkpoint"
        allowed += 1
    assert found[0] == ["rl-0001", "rl-0002"] and found[-1] == ["rl-0002", "rl-0003"]


def test_a_new_checkpoint_goes_there_while_the_run_goes_on_and_failures_only_warn(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"file://{tmp_path}/bucket/run"
    monkeypatch.setattr(module, "CHECK_S", 0.05)
    real, broken = Storage.put, False

    def put(self: Storage, file: Path, name: str) -> None:
        if broken:
            raise StoreError("no route to the storage")
        real(self, file, name)

    monkeypatch.setattr(Storage, "put", put)
    caplog.set_level(logging.INFO)
    with mirrored(Mirror(store.path, url, resume=False)):
        broken = True
        advance(store, 1)
        deadline = time.monotonic() + 20
        while "no route" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.02)
        assert "the copy of the run is behind" in caplog.text
        broken = False
        while "checkpoints/rl-0001/checkpoint.json" not in Storage(url).sizes() and time.monotonic() < deadline:
            time.sleep(0.02)
        pull(url, tmp_path / "again")
        assert check_whole(tmp_path / "again") == ["rl-0001"]
        advance(store, 2)
    pull(url, tmp_path / "third")
    assert check_whole(tmp_path / "third") == ["rl-0001", "rl-0002"]


@pytest.mark.parametrize("url", ["s4://bucket/run", "file:///proc/nowhere/run"])
def test_a_storage_that_cannot_be_used_is_told_in_one_line(store: RunStore, url: str) -> None:
    with pytest.raises(StoreError, match="storage_path") as raised, mirrored(Mirror(store.path, url, resume=False)):
        pass
    assert url in str(raised.value) and len(str(raised.value).splitlines()) == 1
