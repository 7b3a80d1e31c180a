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

import psutil

PACKAGES = ("webdojo", "torch", "transformers", "playwright")


def run_info(seed: int, chromium: str = "") -> dict[str, Any]:
    """The facts for `RunStore.create`, as a JSON object; `chromium` is the path of its executable, if it is used."""
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
    cpus = _values(Path("/proc/cpuinfo"), "model name") or [platform.processor() or platform.machine()]
    gpus = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpus[0],
        "cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": [model for file in gpus for model in _values(file, "Model:")],
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


def _values(file: Path, key: str) -> list[str]:
    """What a file of /proc says after a key and a colon."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.partition(":")[2].strip() for line in lines if line.startswith(key)]


def _run(command: list[str]) -> str:
    """What a command prints, or an empty string where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
