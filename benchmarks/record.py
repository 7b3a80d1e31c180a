"""What every benchmark prints and keeps: one JSON object, `benchmarks/results/<name>.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webdojo.store.info import git_hash, machine

RESULTS = Path(__file__).parent / "results"


class Part:
    """What a benchmark has done so far, so that one that was stopped goes on at the same commit."""

    def __init__(self, name: str) -> None:
        self._path = RESULTS / f"{name}.part.jsonl"

    def entries(self) -> list[dict[str, Any]]:
        """What was added at this commit; what was added at others is forgotten."""
        lines = [json.loads(line) for line in self._path.read_text().splitlines()] if self._path.exists() else []
        if any(line["commit"] != git_hash() for line in lines):
            self._path.unlink()
            return []
        return [line["entry"] for line in lines]

    def add(self, entry: dict[str, Any]) -> None:
        """Keep one thing that was done."""
        RESULTS.mkdir(exist_ok=True)
        with self._path.open("a") as lines:
            lines.write(json.dumps({"commit": git_hash(), "entry": entry}) + "\n")

    def end(self) -> None:
        """All is done and recorded."""
        self._path.unlink(missing_ok=True)


def recorded(name: str) -> list[dict[str, Any]]:
    """The rows of the record of a benchmark; none where it has no record yet."""
    path = RESULTS / f"{name}.json"
    return list(json.loads(path.read_text())["rows"]) if path.exists() else []


def record(name: str, headline: Mapping[str, float | None], rows: list[dict[str, Any]]) -> None:
    """Write the record of a benchmark and print it as the last line."""
    entry = {"name": name, "commit": git_hash(), "machine": machine(), "headline": headline, "rows": rows}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(entry, indent=1) + "\n")
    print(json.dumps(entry))
