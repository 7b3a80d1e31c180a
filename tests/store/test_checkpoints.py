import pytest

from webdojo.errors import StoreError
from webdojo.store.run import RunStore


@pytest.fixture
def store(tmp_path):
    with RunStore.create(tmp_path / "run", "name: x\n", {}) as store:
        yield store


def weights(text):
    def write(folder):
        (folder / "weights").write_text(text)
        (folder / "sub").mkdir()
        (folder / "sub" / "optimizer").write_text(text)

    return write


def test_checkpoints_come_in_the_order_of_saving_and_bring_their_meta(store):
    assert store.checkpoints.all() == []
    store.checkpoints.save("rl-10", weights("ten"), {"iteration": 10})
    store.checkpoints.save("rl-9", weights("nine"), {"iteration": 9})
    latest = store.checkpoints.all()[-1]
    assert (latest.name, latest.meta, (latest.path / "weights").read_text()) == ("rl-9", {"iteration": 9}, "nine")
    path, meta, _ = store.checkpoints.get("rl-10")
    assert (path, meta) == (store.path / "checkpoints" / "rl-10", {"iteration": 10})
    assert [c.name for c in store.checkpoints.all()] == ["rl-10", "rl-9"]


def test_saving_under_an_old_name_replaces_it(store):
    store.checkpoints.save("last", weights("one"), {"iteration": 1})
    store.checkpoints.save("last", weights("two"), {"iteration": 2})
    path, meta, _ = store.checkpoints.get("last")
    assert ((path / "sub" / "optimizer").read_text(), meta) == ("two", {"iteration": 2})
    assert [p.name for p in (store.path / "checkpoints").iterdir()] == ["last"]


def test_failed_save_changes_nothing(store):
    store.checkpoints.save("last", weights("one"), {"iteration": 1})

    def fail(folder):
        (folder / "weights").write_text("half")
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError):
        store.checkpoints.save("last", fail, {"iteration": 2})
    assert (store.checkpoints.get("last").path / "weights").read_text() == "one"
    assert store.checkpoints.get("last").meta == {"iteration": 1}


def test_a_death_between_the_two_renames_keeps_the_old_one(store):
    store.checkpoints.save("last", weights("one"), {"iteration": 1})
    folder = store.path / "checkpoints"
    (folder / "last").rename(folder / "last.old")
    (folder / "last.tmp").mkdir()
    store.close()
    with RunStore.open(store.path) as again:
        assert (again.checkpoints.get("last").path / "weights").read_text() == "one"
    assert [p.name for p in folder.iterdir()] == ["last"]


def test_removed_checkpoint_is_gone(store):
    store.checkpoints.save("rl-1", weights("one"), {})
    store.checkpoints.save("rl-2", weights("two"), {})
    store.checkpoints.remove("rl-1")
    with pytest.raises(StoreError, match=r"no checkpoint 'rl-1' .*there: rl-2"):
        store.checkpoints.get("rl-1")


@pytest.mark.parametrize("name", ["a/b", "..", "", "rl.tmp", "rl.old"])
def test_names_that_could_leave_the_folder_are_refused(store, name):
    with pytest.raises(StoreError, match="checkpoint name"):
        store.checkpoints.save(name, weights("x"), {})


def test_damaged_record_names_the_file(store):
    checkpoint = store.checkpoints.save("rl-1", weights("one"), {})
    (checkpoint.path / "checkpoint.json").write_text("{")
    with pytest.raises(StoreError, match=r"checkpoint\.json cannot be read"):
        store.checkpoints.all()
