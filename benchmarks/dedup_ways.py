"""One way to drop near-duplicates, in a process of its own: `dedup_ways.py WAY VECTORS.npy OUT.npy THRESHOLD …`.

It writes the rows that it drops at the last threshold and prints seconds and peak memory as JSON. Vectors are of length
1, and loading them and importing libraries is not timed. Peers run in an environment without webdojo. `faiss` and
`usearch` give pairs, from which the greedy pass follows as in `webdojo.tasks.dedup`; `semhash` gives the rows itself.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from own_memory import memory_gb

NEIGHBOURS = 16
"""Of each row, that usearch is asked for."""
QUERIES = 4096
"""Rows that faiss is asked about at once."""

Pairs = tuple[Any, Any]


def greedy(pairs: Iterator[Pairs], rows: int) -> list[int]:
    """The rows that have an earlier kept row among their neighbours; of each pair either order may be given."""
    earlier: dict[int, list[int]] = {}
    for left, right in pairs:
        for row, other in zip(np.maximum(left, right).tolist(), np.minimum(left, right).tolist(), strict=True):
            if row != other:
                earlier.setdefault(row, []).append(other)
    kept = [True] * rows
    for row in sorted(earlier):
        kept[row] = not any(kept[other] for other in earlier[row])
    return [row for row, stays in enumerate(kept) if not stays]


def webdojo(vectors: Any, thresholds: Sequence[float]) -> list[int]:
    from webdojo.tasks.dedup import near_duplicates

    return [each.row for each in near_duplicates(vectors, thresholds)[thresholds[-1]]]


def webdojo_plain(vectors: Any, thresholds: Sequence[float]) -> list[int]:
    """Every coordinate of every pair: the same blocks without the bound."""
    from webdojo.tasks import dedup

    dedup.PREFIXES = ()
    return webdojo(vectors, thresholds)


def faiss(vectors: Any, thresholds: Sequence[float]) -> list[int]:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)

    def pairs() -> Iterator[Pairs]:
        for start in range(0, len(vectors), QUERIES):
            ends, _, found = index.range_search(vectors[start : start + QUERIES], thresholds[-1])
            yield np.repeat(np.arange(start, start + len(ends) - 1), np.diff(ends.astype(np.int64))), found

    return greedy(pairs(), len(vectors))


def usearch(vectors: Any, thresholds: Sequence[float]) -> list[int]:
    from usearch.index import Index

    index = Index(ndim=vectors.shape[1], metric="cos", dtype="f32")
    keys = np.arange(len(vectors))
    index.add(keys, vectors)

    def pairs() -> Iterator[Pairs]:
        for start in range(0, len(vectors), QUERIES):
            found = index.search(vectors[start : start + QUERIES], NEIGHBOURS)
            for row, (others, distances) in enumerate(zip(found.keys, found.distances, strict=True), start):
                near = others[distances <= 1 - thresholds[-1]].astype(np.int64)
                yield np.full(len(near), row), near

    return greedy(pairs(), len(vectors))


def semhash(vectors: Any, thresholds: Sequence[float]) -> list[int]:
    from semhash import SemHash

    class Encoder:
        def encode(self, inputs: Any, **options: Any) -> Any:
            return vectors[[int(each) for each in inputs]]

    hashed = SemHash.from_records(records=[str(row) for row in range(len(vectors))], model=Encoder())
    kept = {int(row) for row in hashed.self_deduplicate(threshold=thresholds[-1]).selected}
    return [row for row in range(len(vectors)) if row not in kept]


WAYS = {each.__name__: each for each in (webdojo, webdojo_plain, faiss, usearch, semhash)}


def main() -> None:
    way, source, out, *thresholds = sys.argv[1:]
    vectors = np.load(source)
    loaded_gb = memory_gb("VmHWM")
    __import__({"webdojo": "webdojo.tasks.dedup", "webdojo_plain": "webdojo.tasks.dedup"}.get(way, way))
    began, cpu = time.perf_counter(), time.process_time()
    dropped = WAYS[way](vectors, [float(each) for each in thresholds])
    seconds = {"seconds": round(time.perf_counter() - began, 2), "cpu_seconds": round(time.process_time() - cpu, 2)}
    np.save(out, np.array(dropped, dtype=np.int64))
    print(json.dumps({**seconds, "peak_rss_gb": round(memory_gb("VmHWM"), 2), "vectors_rss_gb": round(loaded_gb, 2)}))


if __name__ == "__main__":
    main()
