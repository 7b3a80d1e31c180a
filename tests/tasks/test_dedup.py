"""Near-duplicates: what comparing every pair would drop, in whatever blocks, and through kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from webdojo.errors import TaskError
from webdojo.tasks import dedup
from webdojo.tasks.dedup import Duplicate, near_duplicates

Array = NDArray[Any]
THRESHOLDS = (0.99, 0.95, 0.8)


def every_pair(vectors: Array, threshold: float) -> list[tuple[int, int]]:
    """Row and kept row, by comparing all pairs."""
    unit = vectors.astype(np.float64)
    lengths = np.linalg.norm(unit, axis=1)
    similar = (unit @ unit.T) / np.maximum(np.outer(lengths, lengths), 1e-300) >= threshold
    kept: list[int] = []
    dropped = []
    for row in range(len(vectors)):
        by = next((each for each in kept if similar[row, each]), None) if lengths[row] else None
        if by is None:
            kept.append(row)
        else:
            dropped.append((row, by))
    return dropped


def clustered(seed: int, rows: int = 600, dims: int = 96, rank: int = 20) -> Array:
    """Vectors as of texts: most energy in few directions, some near one another by every degree, some equal."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((rows // 6, rank)) * np.arange(1, rank + 1) ** -0.5
    basis = np.linalg.qr(rng.standard_normal((dims, rank)))[0]
    vectors = centres[rng.integers(len(centres), size=rows)] @ basis.T
    vectors += rng.standard_normal((rows, dims)) * rng.choice([0, 0.005, 0.02, 0.05, 0.1], size=(rows, 1))
    return (vectors * rng.uniform(0.1, 10, size=(rows, 1))).astype(np.float32)


def pairs(duplicates: list[Duplicate]) -> list[tuple[int, int]]:
    return [(each.row, each.kept) for each in duplicates]


def at_angles(*degrees: float) -> Array:
    angles = np.deg2rad(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.mark.parametrize("seed", range(4))
def test_it_drops_what_comparing_every_pair_drops(seed: int) -> None:
    vectors = clustered(seed)
    found = near_duplicates(vectors, THRESHOLDS, block_rows=64)
    assert list(found) == sorted(THRESHOLDS, reverse=True)
    for threshold in THRESHOLDS:
        assert pairs(found[threshold]) == every_pair(vectors, threshold)
    assert 100 < len(found[0.99]) < len(found[0.95]) < len(found[0.8]) < 590, "the example shows nothing"


@pytest.mark.parametrize("prefixes", [(), (2,), (5, 30), (30, 62, 126, 254)])
@pytest.mark.parametrize("rank", [3, 300])
def test_how_many_coordinates_are_compared_first_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, prefixes: tuple[int, ...], rank: int
) -> None:
    monkeypatch.setattr(dedup, "PREFIXES", prefixes)
    monkeypatch.setattr(dedup, "PAIR_COST", 0.0)  # the fewest that there are, however little they tell
    vectors = clustered(1, dims=300, rank=rank)
    found = near_duplicates(vectors, (0.95,))
    assert pairs(found[0.95]) == every_pair(vectors, 0.95)


@pytest.mark.parametrize(("block_rows", "panel_rows"), [(1, 300), (7, 50), (64, 3), (599, 2048), (10_000, 100)])
def test_blocks_change_nothing_not_even_the_last_digit(
    monkeypatch: pytest.MonkeyPatch, block_rows: int, panel_rows: int
) -> None:
    vectors = clustered(2)
    expected = near_duplicates(vectors, THRESHOLDS)
    monkeypatch.setattr(dedup, "PANEL_ROWS", panel_rows)
    assert near_duplicates(vectors, THRESHOLDS, block_rows=block_rows) == expected


def test_the_bound_is_never_below_the_similarity() -> None:
    """Also where nothing is left of a row behind its first coordinates, and where all of it is."""
    rng = np.random.default_rng(0)
    inside = np.zeros((40, 1024))
    inside[:, :30] = rng.standard_normal((40, 30))
    vectors = np.concatenate(
        [inside, 1e-4 * inside[:, ::-1], rng.standard_normal((200, 1024)), clustered(3, 200, 1024)]
    )
    vectors = np.concatenate([vectors, vectors[:100] + 1e-3 * rng.standard_normal((100, 1024))]).astype(np.float32)
    squares = dedup.squared_lengths(vectors)
    left = dedup._screens(vectors, squares, 0.95)
    assert left.shape[1] < 300
    rows, others = (each.ravel() for each in np.indices((len(vectors), len(vectors))))
    similarity = dedup.cosine(vectors, squares, rows, others).reshape(len(vectors), -1)
    for need in (0.5, 0.95, 1.0):
        right = left.copy()
        right[:, -1] = -need
        assert (left @ right.T + dedup._slack(left.shape[1]) >= similarity - need).all()


def test_only_kept_rows_drop_others() -> None:
    """A chain of near neighbours: 8° is within 0.99, 16° is not."""
    found = near_duplicates(at_angles(0, 8, 16, 24, 32), (0.99,))[0.99]
    assert pairs(found) == [(1, 0), (3, 2)]
    assert found[0].similarity == pytest.approx(np.cos(np.deg2rad(8)))


def test_each_threshold_has_a_pass_of_its_own() -> None:
    """The third row repeats the second at 0.99; at 0.95 the second is gone, and the third is far from the first."""
    found = near_duplicates(at_angles(0, 18, 24), (0.99, 0.95))
    assert {threshold: pairs(each) for threshold, each in found.items()} == {0.99: [(2, 1)], 0.95: [(1, 0)]}


def test_the_earliest_kept_row_is_named_and_not_the_nearest() -> None:
    assert pairs(near_duplicates(at_angles(0, 40, 21, 40), (0.9,))[0.9]) == [(2, 0), (3, 1)]


def test_the_threshold_itself_is_near_enough() -> None:
    vectors = np.array([[3, 4], [4, 3]], dtype=np.float32)
    assert near_duplicates(vectors, (0.96,))[0.96] == [Duplicate(1, 0, 24 / 25)]
    above = float(np.nextafter(0.96, 1))
    assert near_duplicates(vectors, (above,))[above] == []


def test_equal_vectors_are_at_one_whatever_their_length() -> None:
    vector = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    vectors = np.stack([vector, vector, 2 * vector, vector * np.float32(2**-60)])
    assert near_duplicates(vectors, (1,))[1] == [Duplicate(row, 0, 1.0) for row in (1, 2, 3)]


def test_many_equal_rows_are_compared_with_the_first_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    cosine = dedup.cosine

    def counted(vectors: Array, squares: Array, left: Array, right: Array) -> Array:
        nonlocal compared
        compared += len(left)
        return cosine(vectors, squares, left, right)

    monkeypatch.setattr(dedup, "cosine", counted)
    found = near_duplicates(np.ones((3000, 8), dtype=np.float32), (0.99, 0.95), block_rows=1000)
    assert len(found[0.95]) == 2999 and {each.kept for each in found[0.95]} == {0}
    assert compared < 2 * 3000


def test_rows_without_a_direction_are_similar_to_nothing() -> None:
    vectors = np.array([[0, 0], [1, 0], [0, 0], [1, 0], [0, 0]], dtype=np.float32)
    assert pairs(near_duplicates(vectors, (0.95,), block_rows=2)[0.95]) == [(3, 1)]


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows_to_compare(rows: int) -> None:
    assert near_duplicates(np.ones((rows, 5), dtype=np.float32)) == {0.99: [], 0.95: []}


def test_half_precision_is_compared_as_it_is_stored(tmp_path: Path) -> None:
    vectors = clustered(4).astype(np.float16)
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    found = near_duplicates(mapped, THRESHOLDS)
    assert found == near_duplicates(vectors.astype(np.float64), THRESHOLDS)
    assert pairs(found[0.95]) == every_pair(vectors, 0.95)


@pytest.mark.parametrize(
    ("vectors", "thresholds", "problem"),
    [
        (np.array([[1.0, 2], [1, np.nan]]), (0.95,), "row 1 of the vectors holds a number that is not finite"),
        (np.array([[np.inf, 2], [1, 2]], dtype=np.float16), (0.95,), "row 0 of the vectors"),
        (np.ones(3), (0.95,), r"shape \(3,\)"),
        (np.ones((2, 2)), (), "thresholds are"),
        (np.ones((2, 2)), (0.95, 95), "above 0 and at most 1"),
    ],
)
def test_what_is_wrong_is_said(vectors: Array, thresholds: tuple[float, ...], problem: str) -> None:
    with pytest.raises(TaskError, match=problem):
        near_duplicates(vectors, thresholds)


# --- the part file ----------------------------------------------------------------------------


def test_a_part_file_cut_off_anywhere_leads_to_the_same_result(tmp_path: Path) -> None:
    vectors, part = clustered(5, rows=200), tmp_path / "part.jsonl"
    expected = near_duplicates(vectors, THRESHOLDS, part=part, block_rows=20)
    whole = part.read_bytes()
    assert len(whole.splitlines()) == 11
    for cut in range(0, len(whole), 97):
        part.write_bytes(whole[:cut])
        assert near_duplicates(vectors, THRESHOLDS, part=part, block_rows=20) == expected
        assert part.read_bytes() == whole
    part.write_bytes(b"".join(whole.splitlines(keepends=True)[:5]))
    assert near_duplicates(vectors, THRESHOLDS, part=part, block_rows=33) == expected, "other blocks from there on"


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, part = clustered(6), tmp_path / "part.jsonl"
    expected = near_duplicates(vectors, part=part)

    def refuse(*block: object) -> None:
        raise AssertionError("a block was compared again")

    monkeypatch.setattr(dedup._Join, "block", refuse)
    assert near_duplicates(vectors, part=part) == expected


@pytest.mark.parametrize("change", ["vectors", "thresholds"])
def test_a_part_file_of_something_else_is_refused(tmp_path: Path, change: str) -> None:
    vectors, part = clustered(7), tmp_path / "part.jsonl"
    near_duplicates(vectors, (0.95,), part=part)
    other = vectors + np.float32(change == "vectors")
    with pytest.raises(TaskError, match=r"part\.jsonl' is of other vectors or thresholds: remove it"):
        near_duplicates(other, (0.95 if change == "vectors" else 0.9,), part=part)


def test_a_file_that_is_no_part_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(TaskError, match=r"notes\.txt' is of other vectors"):
        near_duplicates(clustered(7), part=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


JOIN = """
import sys, time
from pathlib import Path
import numpy as np
from webdojo.tasks import dedup

block = dedup._Join.block
def slowly(*arguments):
    time.sleep(0.01)
    return block(*arguments)
dedup._Join.block = slowly
dedup.near_duplicates(np.load(sys.argv[1]), (0.99, 0.95, 0.8), part=Path(sys.argv[2]), block_rows=10)
"""


def test_killed_again_and_again_it_ends_with_the_same_result(tmp_path: Path) -> None:
    vectors, part = clustered(8), tmp_path / "part.jsonl"
    np.save(tmp_path / "vectors.npy", vectors)
    command = [sys.executable, "-c", JOIN, str(tmp_path / "vectors.npy"), str(part)]
    kills = 0
    for lines in (2, 11, 30, 52):
        with subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}) as process:
            while process.poll() is None and (not part.exists() or part.read_bytes().count(b"\n") < lines):
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
    assert kills == 4, "it was done before it was killed"
    assert json.loads(part.read_bytes().splitlines()[-1])["rows"] < len(vectors)
    assert near_duplicates(vectors, THRESHOLDS, part=part, block_rows=10) == near_duplicates(vectors, THRESHOLDS)
