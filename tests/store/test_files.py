from pathlib import Path

import pytest

from webdojo.store.files import replacing, write_atomic


def test_a_file_has_its_old_content_until_the_new_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    write_atomic(path, b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_what_fails_halfway_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    write_atomic(path, b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"half of the n")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
