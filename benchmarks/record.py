"""What every benchmark prints and keeps: one JSON object, `benchmarks/results/<name>.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webdojo.store.info import git_hash, machine

RESULTS = Path(__file__).parent / "results"


def record(name: str, headline: Mapping[str, float | None], rows: list[dict[str, Any]]) -> None:
    """Write the record of a benchmark and print it as the last line."""
    entry = {"name": name, "commit": git_hash(), "machine": machine(), "headline": headline, "rows": rows}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(entry, indent=1) + "\n")
    print(json.dumps(entry))
