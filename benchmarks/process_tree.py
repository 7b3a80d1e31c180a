"""CPU time and memory of a process and all that it started, by kind of process.

CPU time is the sum of utime, stime, cutime and cstime over the living processes of the tree. A process
that ended counts through the one that reaped it, and `adopt_orphans` makes this process the one to
which those fall whose parent died, so that the difference of two readings misses nothing. Memory is PSS, which
counts a page that several processes share once in all.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import defaultdict
from contextlib import suppress

import psutil

_PR_SET_CHILD_SUBREAPER = 36

CHROMIUM = ("browser", "renderer", "gpu", "network", "utility", "zygote")
"""The kinds that belong to Chromium; the others are python, driver (Playwright's node) and other."""


def adopt_orphans() -> None:
    """Keep grandchildren whose parent died in the tree of this process (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def tree(pid: int) -> list[psutil.Process]:
    """A process and everything below it; empty where it is gone."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kind_of(command: list[str]) -> str:
    """Which part of a browser environment a command line runs.

    A Chromium child that was forked by the zygote shows its whole command line as one argument.
    """
    line = " ".join(command)
    _, typed, rest = line.partition("--type=")
    if typed:
        kind = rest.split()[0]
        if kind == "utility" and "NetworkService" in line:
            return "network"
        return "gpu" if kind == "gpu-process" else kind if kind in CHROMIUM else "other"
    name = os.path.basename(command[0]).lower() if command else ""
    parts = {"python": "python", "node": "driver", "crashpad": "other", "chrom": "browser", "shell": "browser"}
    return next((kind for part, kind in parts.items() if part in name), "other")


def commands(pid: int) -> list[list[str]]:
    """The command lines of a tree; empty for what has ended and was not reaped."""
    return [_command(process) for process in tree(pid)]


def cpu_ms_by_kind(pid: int) -> dict[str, float]:
    """CPU milliseconds that a tree has used since it began, in ticks of 10 ms a process."""
    used: defaultdict[str, float] = defaultdict(float)
    for process in tree(pid):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            spent_s = times.user + times.system + times.children_user + times.children_system
            used[kind_of(_command(process))] += 1000 * spent_s
    return used


def pss_mb_by_kind(pid: int) -> dict[str, float]:
    """Proportional set size of a tree, in units of 10^6 bytes."""
    held: defaultdict[str, float] = defaultdict(float)
    for process in tree(pid):
        with suppress(psutil.NoSuchProcess):
            held[kind_of(_command(process))] += process.memory_full_info().pss / 1e6
    return held


def tree_bytes(pid: int) -> tuple[int, int]:
    """RSS and PSS of a tree, of those processes that can be read. RSS counts shared pages once for each process."""
    rss = pss = 0
    for process in tree(pid):
        with suppress(psutil.NoSuchProcess):
            memory = process.memory_full_info()
            rss, pss = rss + memory.rss, pss + memory.pss
    return rss, pss


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []
