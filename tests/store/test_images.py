import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from webdojo.errors import StoreError
from webdojo.store.images import ImageStore, MemoryImages
from webdojo.types import ImageRef


def test_same_bytes_are_stored_once_and_come_back(tmp_path):
    store = ImageStore(tmp_path)
    first = store.put(b"jpeg bytes", 320, 256, "image/jpeg")
    second = store.put(b"jpeg bytes", 320, 256, "image/jpeg")
    assert first == second
    assert first.sha == hashlib.sha256(b"jpeg bytes").hexdigest()
    assert store.get(first) == b"jpeg bytes"
    assert [p.name for p in tmp_path.rglob("*.*")] == [f"{first.sha}.jpg"]
    assert (store.new_bytes, store.known_bytes) == (10, 10)


def test_png_comes_back_without_its_type_being_named(tmp_path):
    store = ImageStore(tmp_path)
    ref = store.put(b"png bytes", 1, 1, "image/png")
    assert (ref.mime, store.get(ref)) == ("image/png", b"png bytes")


def test_torn_file_is_reported_and_healed_by_the_same_bytes(tmp_path):
    store = ImageStore(tmp_path)
    ref = store.put(b"jpeg bytes", 320, 256, "image/jpeg")
    (file,) = tmp_path.rglob("*.jpg")
    file.write_bytes(b"")
    with pytest.raises(StoreError, match="damaged"):
        store.get(ref)
    store.put(b"jpeg bytes", 320, 256, "image/jpeg")
    assert store.get(ref) == b"jpeg bytes"


@pytest.mark.parametrize("make", [lambda path: ImageStore(path), lambda path: MemoryImages()])
def test_missing_image_names_its_hash(tmp_path, make):
    with pytest.raises(StoreError, match="no screenshot abc123"):
        make(tmp_path).get(ImageRef(sha="abc123", width=1, height=1, mime="image/png"))


def test_unknown_type_and_unwritable_folder(tmp_path):
    with pytest.raises(StoreError, match="image/tiff"):
        ImageStore(tmp_path).put(b"x", 1, 1, "image/tiff")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot write .*\.png \(Not a directory\)"):
        ImageStore(tmp_path / "file").put(b"x", 1, 1, "image/png")


def test_memory_images_keep_each_once():
    images = MemoryImages()
    ref = images.put(b"x", 4, 5, "image/png")
    images.put(b"x", 4, 5, "image/png")
    assert (len(images), images.get(ref), ref.width, ref.height) == (1, b"x", 4, 5)


@pytest.mark.parametrize("make", [lambda path: ImageStore(path), lambda path: MemoryImages()])
def test_threads_may_put_and_get_the_same_images_at_a_time(tmp_path, make):
    images = make(tmp_path)
    shots = [bytes([k % 4]) * 100_000 for k in range(200)]

    def put_and_get(data):
        ref = images.put(data, 1, 1, "image/png")
        return ref, images.get(ref)

    with ThreadPoolExecutor(16) as threads:
        refs, found = zip(*threads.map(put_and_get, shots), strict=True)
    assert list(found) == shots
    assert len(set(refs)) == 4


def test_threads_write_equal_bytes_once(tmp_path):
    store = ImageStore(tmp_path)
    with ThreadPoolExecutor(16) as threads:
        (ref,) = set(threads.map(lambda data: store.put(data, 1, 1, "image/png"), [b"png bytes"] * 64))
    assert (store.new_bytes, store.known_bytes) == (9, 63 * 9)
    assert list(store.files()) == [store.path(ref)], "and nothing half-written"
