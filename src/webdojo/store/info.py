"""The facts besides the recipe that a result depends on: versions, git hash, seed, machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("webdojo", "torch", "transformers", "playwright")


def run_info(seed: int, chromium: str = "") -> dict[str, Any]:
    """The facts for `RunStore.create`, as a JSON object.

    Args:
        seed: the recipe's seed, from which every random choice follows.
        chromium: the path of the executable that the run uses; empty leaves its version out.

    Returns:
        `created` (ISO 8601), `command`, `seed`, `git` (hash, `+` for local changes, None outside a
        checkout), `versions` by name, `machine` (`system`, `cpu`, `cores`, `memory_gb`, `gpus`).
    """
    versions = {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}
    if chromium:
        versions["chromium"] = _run([chromium, "--version"]) or "unknown"
    return {
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "command": " ".join(["webdojo", *sys.argv[1:]]),
        "seed": seed,
        "git": git_hash(),
        "versions": versions,
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """The hardware that this process may use."""
    gpus = [
        line.split(":", 1)[1].strip()
        for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
        for line in file.read_text().splitlines()
        if line.startswith("Model:")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "memory_gb": round(memory / 2**30, 1),
        "gpus": gpus,
    }


def git_hash() -> str | None:
    """The short hash of the checkout that this package runs from, with `+` if files differ from it."""
    here = str(Path(__file__).parent)
    commit = _run(["git", "-C", here, "rev-parse", "--short=12", "HEAD"])
    # A package in somebody else's repository (a virtual environment inside it) is not that commit.
    if not commit or not _run(["git", "-C", here, "ls-files", "."]):
        return None
    return commit + ("+" if _run(["git", "-C", here, "status", "--porcelain", "--untracked-files=no"]) else "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _run(command: list[str]) -> str:
    """What a command prints, or an empty string where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
