"""Near-duplicates among as many vectors as WebGym has tasks, beside the libraries that people take for it.

    python benchmarks/dedup.py [--rows 292092] [--dim 1024] [--peer-rows 40000] [--seed 0]

| part | what it does |
|---|---|
| `full` | `near_duplicates` at 0.99 and 0.95 over all rows |
| `peers` | one threshold, 0.95, over the first `--peer-rows`: ours, ours without the bound (every coordinate of every
  pair), faiss `range_search` (exact), usearch (HNSW, 16 neighbours a row), semhash (its default search) |
| `flat` | ours at 0.95 over as many vectors of independent numbers, the hardest for the bound, with such duplicates |
| `embedded` | the embedding without a model on pairs with known answers (`dedup_pairs.py`) |

The vectors are made, not embedded: a shared mean, topics and templates within 96 directions of falling weight, and
noise in all others; unrelated rows have a cosine of 0.5 on average, and 30 directions hold half of the variance. Of all
rows 8 % repeat an earlier one exactly, 8 % above 0.99, 12 % at 0.95 to 0.99, and 20 % are near misses at 0.8 to 0.95.
How fast the bound is depends on the spectrum; `webdojo_plain` does not. Each way runs in a process of its own, one
after the other; peers in an environment of their own (`--venv`). faiss and `webdojo_plain` take a time that grows with
the square of the rows, so the peers are given the first ones only.

`dropped_right` counts rows that the way drops as comparing every pair does, `pairs_missed` those that it does not drop
although they have an earlier kept row within the threshold, `dropped_wrongly` those that it drops without one.
`x_peer` divides the seconds of the fastest peer that misses none by ours at the same size; `pairs_missed_peer` is what
the fastest of all peers misses.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dedup_pairs import quality
from numpy.typing import NDArray
from record import record

from webdojo.progress import progress

VENV = Path("~/.cache/webdojo/bench-dedup")
REQUIREMENTS = ("faiss-cpu>=1.9", "usearch>=2.16", "semhash>=0.3")
PEERS = {"faiss": "faiss-cpu", "usearch": "usearch", "semhash": "semhash"}
THRESHOLDS = (0.99, 0.95)
_WORKER = Path(__file__).parent / "dedup_ways.py"

SIMILAR = ((0.08, 1.0, 1.0), (0.08, 0.99, 0.9999), (0.12, 0.95, 0.99), (0.20, 0.8, 0.95))
"""Share of rows, and between which similarities with an earlier row they lie."""


def make_vectors(rows: int, dims: int, seed: int, flat: bool = False) -> NDArray[np.float32]:
    """Vectors of length 1, as embeddings of tasks have them, or `flat` in all directions; see above."""
    rng = np.random.default_rng(seed)
    rank = min(96, dims)
    weights = np.arange(1, rank + 1) ** -0.5
    basis = np.linalg.qr(rng.standard_normal((dims, rank)))[0].astype(np.float32)
    mean = 0.8 * weights / np.linalg.norm(weights)
    groups = [rng.standard_normal((count, rank)) * weights for count in (40, 2000)]
    vectors = np.empty((rows, dims), dtype=np.float32)
    kinds = rng.choice(
        len(SIMILAR) + 1, size=rows, p=[*(share for share, _, _ in SIMILAR), 1 - sum(s for s, _, _ in SIMILAR)]
    )
    for start in range(0, rows, 4096):
        count = min(4096, rows - start)
        inner = 0.3 * sum(group[(len(group) * rng.random(count) ** 2).astype(int)] for group in groups) / 2
        inner = mean + inner + 0.25 * rng.standard_normal((count, rank)) * weights
        fresh = inner.astype(np.float32) @ basis.T
        fresh += (
            0.5 * np.linalg.norm(fresh, axis=1).mean() * dims**-0.5 * rng.standard_normal((count, dims), np.float32)
        )
        if flat:
            fresh = rng.standard_normal((count, dims), np.float32)
        vectors[start : start + count] = fresh / np.linalg.norm(fresh, axis=1, keepdims=True)
    for row in range(1, rows):
        if kinds[row] < len(SIMILAR):
            _, low, high = SIMILAR[kinds[row]]
            vectors[row] = _near(vectors[rng.integers(row)], vectors[row], rng.uniform(low, high))
    return vectors


def _near(one: NDArray[np.float32], other: NDArray[np.float32], similarity: float) -> NDArray[np.float32]:
    """The vector of that similarity with `one`, towards `other`."""
    if similarity == 1:
        return one
    apart = other - (one @ other) * one
    found = similarity * one + np.sqrt(1 - similarity**2) * apart / np.linalg.norm(apart)
    return (found / np.linalg.norm(found)).astype(np.float32)


def prepare(venv: Path) -> str:
    """Return the Python of a virtual environment with the peers, which is made where it is missing.

    Raises:
        subprocess.CalledProcessError: pip cannot install them; its own messages are on stderr.
    """
    venv = venv.expanduser()
    python = venv / "bin" / "python"
    probe = f"import {', '.join(PEERS)}"
    if not python.exists() or subprocess.run([python, "-c", probe], capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *REQUIREMENTS], check=True, stdout=sys.stderr)
    return str(python)


def versions(python: str) -> dict[str, str]:
    """What runs there, by package."""
    code = f"import json, importlib.metadata as m; print(json.dumps({{p: m.version(p) for p in {[*PEERS.values()]}}}))"
    found: dict[str, str] = json.loads(subprocess.check_output([python, "-c", code]))
    return found


def run(python: str, way: str, vectors: Path, thresholds: Sequence[float]) -> tuple[dict[str, Any], set[int]]:
    """Figures of a way, and the rows that it drops at the last threshold."""
    out = vectors.with_suffix(f".{way}.npy")
    command = [python, str(_WORKER), way, str(vectors), str(out), *map(str, thresholds)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(printed.splitlines()[-1]), set(np.load(out).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=292_092)
    parser.add_argument("--dim", type=int, default=1024)
    parser.add_argument("--peer-rows", type=int, default=40_000)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=[*PEERS])
    parser.add_argument("--venv", type=Path, default=VENV)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    python = prepare(arguments.venv) if arguments.peers else ""
    with tempfile.TemporaryDirectory() as folder:
        every, first, flat = (Path(folder) / f"{name}.npy" for name in ("every", "first", "flat"))
        vectors = make_vectors(arguments.rows, arguments.dim, arguments.seed)
        np.save(every, vectors)
        np.save(first, vectors[: arguments.peer_rows])
        np.save(flat, make_vectors(min(arguments.peer_rows, arguments.rows), arguments.dim, arguments.seed, flat=True))
        del vectors
        with progress("ways", 4 + len(arguments.peers)) as bar:
            rows = []
            for part, vectors_of, thresholds in (("full", every, THRESHOLDS), ("flat", flat, THRESHOLDS[-1:])):
                figures, dropped = run(sys.executable, "webdojo", vectors_of, thresholds)
                count = len(np.load(vectors_of, mmap_mode="r"))
                row = {"part": part, "way": "webdojo", "rows": count, "dim": arguments.dim, "thresholds": thresholds}
                rows.append(row | figures | {"dropped": len(dropped)})
                bar.advance()
            rows += _beside(python, arguments, first, bar.advance)
    record("dedup", headline(rows), [*rows, *quality()])


def _beside(python: str, arguments: argparse.Namespace, vectors: Path, advance: Any) -> list[dict[str, Any]]:
    """The rows of the part `peers`."""
    found = {}
    for way in ("webdojo", "webdojo_plain", *arguments.peers):
        where = python if way in PEERS else sys.executable
        found[way] = run(where, way, vectors, THRESHOLDS[-1:])
        advance()
    exact = found["webdojo_plain"][1]
    packages = versions(python) if arguments.peers else {}
    return [
        {
            "part": "peers",
            "way": way,
            "version": packages.get(PEERS.get(way, ""), ""),
            "rows": min(arguments.peer_rows, arguments.rows),
            "dim": arguments.dim,
            "threshold": THRESHOLDS[-1],
            **figures,
            "dropped_right": len(dropped & exact),
            "pairs_missed": len(exact - dropped),
            "dropped_wrongly": len(dropped - exact),
        }
        for way, (figures, dropped) in found.items()
    ]


def headline(rows: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    full = next(row for row in rows if row["part"] == "full")
    beside = {row["way"]: row for row in rows if row["part"] == "peers"}
    peers = sorted((row for way, row in beside.items() if way in PEERS), key=lambda row: float(row["seconds"]))
    exact = next((row for row in peers if not row["pairs_missed"]), None)
    return {
        "rows": full["rows"],
        "seconds": full["seconds"],
        "peak_rss_gb": full["peak_rss_gb"],
        "x_peer": round(exact["seconds"] / beside["webdojo"]["seconds"], 1) if exact else None,
        "pairs_missed_peer": peers[0]["pairs_missed"] if peers else None,
    }


if __name__ == "__main__":
    main()
