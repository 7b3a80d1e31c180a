"""Memory of this machine, or of the container where that has less."""

from __future__ import annotations

from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")


def free_memory(cgroup: Path = CGROUP) -> int:
    """Bytes that can be had without swapping."""
    free = int(psutil.virtual_memory().available)
    limit = _limit(cgroup)
    if limit is None:
        return free
    used = int((cgroup / "memory.current").read_text())
    stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
    return min(free, limit - used + int(stat["inactive_file"]))


def total_memory(cgroup: Path = CGROUP) -> int:
    """Bytes that there are."""
    limit = _limit(cgroup)
    total = int(psutil.virtual_memory().total)
    return total if limit is None else min(total, limit)


def _limit(cgroup: Path) -> int | None:
    """Of the container; None where there is none, or it has none of its own."""
    try:
        limit = (cgroup / "memory.max").read_text().strip()
    except FileNotFoundError:
        return None
    return None if limit == "max" else int(limit)
