"""Every command of the README and of `docs/commands.md`, run: as it stands, or made short where it would take minutes.

A command without an entry in `EQUIVALENTS` fails, and so does an entry that no command needs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
OUTSIDE_MAKE = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
"""Without the `ARGS` that `make test-slow` was given, which are not those of the commands here."""
ENVIRONMENT = OUTSIDE_MAKE | {"PATH": f"{BIN}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
SHORT = [
    *("sft.demos=24", "sft.epochs=2", "train.iterations=1", "train.groups_per_iteration=1", "evaluate.tasks=2"),
    *("rollout.group_size=4", "rollout.concurrency=8", "rollout.max_steps=3", "evaluate.max_steps=3"),
    *("env.difficulties=[1]", "train.max_groups_per_iteration=40"),
]
"""A run of every phase in about a minute."""


PAGES = [ROOT / "README.md", ROOT / "docs" / "commands.md"]


def readme_commands() -> list[str]:
    """In their order; those of both pages once."""
    text = "\n".join(page.read_text() for page in PAGES)
    blocks = re.findall(r"^ *```bash\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return list(dict.fromkeys(line for line in lines if line))


def run(command: str, cwd: Path, timeout: float = 900) -> str:
    """The command in bash; fails with its output unless it succeeds."""
    bash = ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(bash, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `make train`'s own command has run, short, and `runs/mine` has its result."""
    folder = tmp_path_factory.mktemp("clone")
    make = run("make -n train", ROOT)
    assert "scripts/setup.sh" in make
    command, _, _ = next(line for line in make.splitlines() if "webdojo train" in line).partition("||")
    assert shlex.split(command)[1:] == ["train", "quickstart", "--auto"]
    output = run(shlex.join(["webdojo", *shlex.split(command)[1:], *SHORT]), folder)
    assert "After RL" in output
    (folder / "runs" / "mine").symlink_to("quickstart")
    return folder


def make_train(command: str, trained: Path) -> None:
    result = json.loads((trained / "runs" / "quickstart" / "result.json").read_text())
    for key in ("success_base", "success_sft", "success_rl"):
        assert result[key]["n"] == 2
        assert len(result[key]["ci95"]) == 2
    assert {"seconds", "seed", "versions"} <= set(result)
    assert (trained / "runs" / "quickstart" / "report.html").stat().st_size > 10_000
    # Run again, it starts the next run.
    recipe = run("webdojo train quickstart --auto --dry-run", trained)
    assert "name: quickstart" in recipe


def make_test(command: str, trained: Path) -> None:
    # Running it here would never end; what it runs is what runs this test.
    steps = run(f"{command} -n", ROOT)
    assert all(tool in steps for tool in ("ruff check", "mypy", "pytest"))


def activate(command: str, trained: Path) -> None:
    assert "webdojo 0" in run(f"{command} && webdojo --version", ROOT)


def as_it_stands(command: str, trained: Path) -> None:
    assert run(command, trained)


def dry(command: str, trained: Path) -> None:
    assert "name: quickstart" in run(f"{command} --dry-run", trained)


def plan_for_a_gpu(command: str, trained: Path) -> None:
    plan = run(command, trained)
    assert "memory of the learner on a GPU" in plan
    assert "fits in 80.0 GB" in plan


def resume(command: str, trained: Path) -> None:
    assert "After RL" in run(command, trained)


def short_eval(command: str, trained: Path) -> None:
    output = run(f"{command} evaluate.tasks=2 evaluate.max_steps=3", trained)
    assert "95 % interval" in output
    assert "report: runs/eval-quickstart/report.html" in output


def act(command: str, trained: Path) -> None:
    output = run(f"{command} --model tiny", trained)
    assert "reward 1: every fact holds" in output
    assert "film: " in output


def serve_sites(command: str, trained: Path) -> None:
    listen(command, trained, "http://shop-0.localhost:")


def view(command: str, trained: Path) -> None:
    listen(f"{command} runs", trained, "http://127.0.0.1:")


def listen(command: str, trained: Path, says: str) -> None:
    words = [*shlex.split(command), "--port", "0"]
    with subprocess.Popen(
        words, env=ENVIRONMENT | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True, cwd=trained
    ) as process:
        try:
            assert process.stdout is not None
            assert any(says in line for line in iter(process.stdout.readline, "Ctrl-C stops.\n"))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)


EQUIVALENTS: dict[str, Callable[[str, Path], None]] = {
    r"make train": make_train,
    r"make test": make_test,
    r"source \.venv/bin/activate": activate,
    r"webdojo doctor": as_it_stands,
    r"webdojo sites serve( --layout compact)?": serve_sites,
    r"webdojo view": view,
    r"webdojo explain \w+": as_it_stands,
    r"webdojo act .*": act,
    r"webdojo train [\w-]+ --dry-run": as_it_stands,
    r"webdojo train openwebrl-80gb [\w= ]+ --dry-run": plan_for_a_gpu,
    r"webdojo train quickstart [\w.=-]+ .*--run runs/mine": dry,
    r"webdojo train quickstart --run runs/mine --resume": resume,
    r"webdojo report runs/quickstart": as_it_stands,
    r"webdojo runs (list|episodes|trace|export|gc) ?.*": as_it_stands,
    r"webdojo (collect|curate) .*": as_it_stands,
    r"webdojo eval quickstart --model tiny": short_eval,
    r"webdojo compare runs/eval-quickstart runs/quickstart": as_it_stands,
}


def entry(command: str) -> str | None:
    return next((pattern for pattern in EQUIVALENTS if re.fullmatch(pattern, command)), None)


@pytest.mark.parametrize("command", readme_commands())
def test_command(command, trained):
    pattern = entry(command)
    assert pattern is not None, f"a page has a command that no test runs: {command}"
    EQUIVALENTS[pattern](command, trained)


def test_every_equivalent_is_needed():
    assert {entry(command) for command in readme_commands()} == set(EQUIVALENTS)


def test_the_figures_of_the_readme_are_those_that_were_measured():
    headline = json.loads((ROOT / "benchmarks" / "results" / "quickstart.json").read_text())["headline"]
    rates = [
        tuple(round(100 * headline[f"success_{stage}{end}"]) for end in ("", "_low", "_high"))
        for stage in ("base", "sft", "rl", "control")
    ]
    row = "| " + " | ".join(f"{rate} % ({low} to {high} %)" for rate, low, high in rates) + " |"
    assert row in (ROOT / "README.md").read_text()


def test_what_stands_beside_the_papers_is_what_was_measured():
    results = ROOT / "benchmarks" / "results"
    learned, overlap = (
        json.loads((results / f"{name}.json").read_text())["headline"] for name in ("quickstart", "async_loop")
    )
    page = (ROOT / "docs" / "published-numbers.md").read_text()
    for figure in (
        f"{100 * learned['success_sft']:.0f} to {100 * learned['success_rl']:.0f} on unseen embedded sites",
        f"{overlap['x_phased_paced']:.1f} times, with longer tails {overlap['x_phased_paced_thinking']:.1f};",
        f"{100 * overlap['success_async']:.0f} with η = 2 against {100 * overlap['success_sync']:.0f} with η = 0",
        f"{overlap['clip_fraction_async']:.2%} of tokens against {overlap['clip_fraction_async_coupled']:.2%}".replace(
            "%", " %"
        ),
    ):
        assert figure in page
