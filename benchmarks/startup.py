"""How long a command takes before it does anything: `import webdojo` and the commands that need no torch.

Each is a fresh process, all of them by turns, and the medians stand beside two peers of the same run: a Python that
does nothing, and the naive way, in which `import webdojo` brings everything that its public names stand for.

    python benchmarks/startup.py [--repeat 9]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.record import record

PYTHON = [sys.executable, "-c"]
CLI = [sys.executable, "-m", "webdojo.cli"]
WAYS: dict[str, list[str]] = {
    "python": [*PYTHON, "pass"],
    "import webdojo": [*PYTHON, "import webdojo"],
    "import webdojo, everything at once": [*PYTHON, "import webdojo; [getattr(webdojo, n) for n in webdojo.__all__]"],
    "webdojo --help": [*CLI, "--help"],
    "webdojo runs list": [*CLI, "runs", "list", "."],
    "webdojo plugins": [*CLI, "plugins"],
    "a refusal of bad input": [*CLI, "train", "quickstart", "train.lrr=1"],
}


def seconds(command: list[str], folder: str) -> float:
    """Wall seconds of one process, from start to end."""
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    measured: dict[str, list[float]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for command in WAYS.values():
            seconds(command, folder)  # compiles what was never imported
        for _ in range(repeat):
            for name, command in WAYS.items():
                measured[name].append(seconds(command, folder))
    median = {name: statistics.median(times) for name, times in measured.items()}
    bare = median["python"]
    rows = [
        {"name": name, "seconds": round(median[name], 3), "spread": [round(min(times), 3), round(max(times), 3)]}
        for name, times in measured.items()
    ]
    headline = {
        "import_s": round(median["import webdojo"] - bare, 3),
        "x_everything": round(
            (median["import webdojo, everything at once"] - bare) / max(median["import webdojo"] - bare, 1e-3), 1
        ),
        "help_s": round(median["webdojo --help"], 3),
        "refusal_s": round(median["a refusal of bad input"], 3),
    }
    record("startup", headline, rows)


if __name__ == "__main__":
    main()
