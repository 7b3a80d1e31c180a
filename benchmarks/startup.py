"""How long a command takes before it does anything: `import webdojo`, the commands that need no torch, ten mistakes,
and the dry run of the quickstart.

Each is a fresh process, all of them by turns, and the medians stand beside two peers of the same run: a Python that
does nothing, and the naive way, in which `import webdojo` brings everything that its public names stand for. Of
`webdojo doctor` the time until its first line counts, because each of its checks prints a line of its own. A mistake
counts only where it is refused with exit code 2.

    python benchmarks/startup.py [--repeat 9]
"""

from __future__ import annotations

import argparse
import json
import socket
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
    "webdojo runs gc --dry-run": [*CLI, "runs", "gc", "--dry-run", "."],
    "webdojo plugins": [*CLI, "plugins"],
    "webdojo tasks stats": [*CLI, "tasks", "stats", "tasks.jsonl"],
    "webdojo doctor": [*CLI, "doctor"],
    "webdojo train quickstart --dry-run": [*CLI, "train", "quickstart", "--dry-run"],
}
TRAIN = [*CLI, "train", "quickstart"]
ACT = [*CLI, "act", "look", "--url"]
MISTAKES: dict[str, list[str]] = {
    "an unknown recipe": [*CLI, "train", "quikstart"],
    "a refusal of bad input": [*TRAIN, "train.lrr=1"],
    "a value of the wrong kind": [*TRAIN, "train.lr=fast"],
    "an unknown kind of site": [*TRAIN, "env.kinds=[shp]"],
    "a model that is not there": [*TRAIN, "model.path=no/such/folder"],
    "a run that is not there": [*TRAIN, "--resume", "--run", "nowhere"],
    "an evaluation of no model": [*CLI, "eval", "quickstart", "--model", "no/such/folder"],
    "no address": [*ACT, "example.org"],
    "an actor that is not there": [*ACT, "http://shop-0.localhost/", "--model", "no/such/folder"],
    "a port that is taken": [*CLI, "sites", "serve", "--port", "{taken}"],
}
TASK = {"id": "lamp", "instruction": "Find a lamp", "start_url": "https://www.ikea.com/", "website": "www.ikea.com"}
"""The only row of the set that `webdojo tasks stats` counts."""
REFUSED = 2
"""The exit code of every mistake."""


def seconds(command: list[str], folder: str, *, first_line: bool = False) -> float:
    """Wall seconds of one process, from start to end, or to the first line that it prints."""
    begin = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - begin
        process.stdout.read()
    if command in MISTAKES.values() and process.returncode != REFUSED:
        raise SystemExit(f"not refused: {' '.join(command)} ended with exit code {process.returncode}")
    return first if first_line else time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    measured: dict[str, list[float]] = {name: [] for name in WAYS | MISTAKES}
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        Path(folder, "tasks.jsonl").write_text(json.dumps(TASK))
        MISTAKES["a port that is taken"][-1] = str(server.getsockname()[1])
        for command in (WAYS | MISTAKES).values():
            seconds(command, folder)  # compiles what was never imported
        for _ in range(repeat):
            for name, command in (WAYS | MISTAKES).items():
                measured[name].append(seconds(command, folder, first_line=name == "webdojo doctor"))
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
        "runs_list_s": round(median["webdojo runs list"], 3),
        "tasks_stats_s": round(median["webdojo tasks stats"], 3),
        "doctor_s": round(median["webdojo doctor"], 3),
        "refusal_s": round(median["a refusal of bad input"], 3),
        "bad_input_s": round(max(median[name] for name in MISTAKES), 3),
        "dry_run_s": round(median["webdojo train quickstart --dry-run"], 3),
    }
    record("startup", headline, rows)


if __name__ == "__main__":
    main()
