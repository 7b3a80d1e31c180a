"""Which nodes of a job have yet to join its Ray cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import ray

POLL_S = 1.0


def wait_for(address: str, names: Sequence[str], limit_s: float, on_missing: Callable[[list[str]], None]) -> list[str]:
    """Wait until nodes that `ray start --node-name` has named are in the cluster at an address.

    Args:
        on_missing: told once, before it waits, which are missing.

    Returns:
        Those that are still missing after `limit_s`.
    """
    ray.init(address=address, log_to_driver=False, configure_logging=False)
    try:
        deadline = time.monotonic() + limit_s
        if missing := _missing(names):
            on_missing(missing)
        while missing and time.monotonic() < deadline:
            time.sleep(POLL_S)
            missing = _missing(names)
        return missing
    finally:
        ray.shutdown()


def _missing(names: Sequence[str]) -> list[str]:
    there = {record["NodeName"] for record in ray.nodes() if record["Alive"]}
    return [name for name in names if name not in there]
