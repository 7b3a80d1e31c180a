"""The memory of this machine, or of its container if that has less, and how to recognise that it ran out."""

from __future__ import annotations

from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")


def free_memory(cgroup: Path = CGROUP) -> int:
    """Bytes that are available without swapping."""
    free = int(psutil.virtual_memory().available)
    limit = _limit(cgroup)
    if limit is None:
        return free
    used = int((cgroup / "memory.current").read_text())
    stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
    return min(free, limit - used + int(stat["inactive_file"]))


def total_memory(cgroup: Path = CGROUP) -> int:
    limit = _limit(cgroup)
    total = int(psutil.virtual_memory().total)
    return total if limit is None else min(total, limit)


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out: torch has a class for it on a GPU, a bare RuntimeError on the CPU."""
    import torch

    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "allocate memory" in str(error)


def _limit(cgroup: Path) -> int | None:
    """The memory limit of the container; None without a container or a limit."""
    try:
        limit = (cgroup / "memory.max").read_text().strip()
    except FileNotFoundError:
        return None
    return None if limit == "max" else int(limit)
