"""The pictures of the documentation, drawn from the code and from what was recorded or measured.

Each module has one picture: `picture()` gives its SVG, from recipes, registries, formulas, the packing code, recorded
episodes (`record.py`) or a results file of `benchmarks/`, so a picture is stale exactly when drawing it gives another
file; `tests/test_pictures.py` says so. `python -m scripts.pictures` draws all.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
IMAGES = ROOT / "docs" / "images"
NAMES = (
    *("quickstart", "loop", "episode", "group", "packing", "staleness"),
    *("plugs", "run_folder", "placement", "verdict", "apps", "scaling", "growth"),
)
"""The modules that draw, which are also the names of the files in `docs/images/`."""


def file_of(name: str) -> Path:
    return IMAGES / f"{name.replace('_', '-')}.svg"
