"""What torchrun, or `srun`, says to each of the processes that it starts: who this one is, and where all meet."""

from __future__ import annotations

import os
from dataclasses import dataclass

_NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True)
class World:
    """This process among all that were started together, each on a GPU of its own where there are GPUs."""

    rank: int
    count: int
    local_rank: int
    """Number among the processes of this machine, and of its GPU."""
    address: str
    """Name or IP address of the machine of rank 0."""
    port: int
    """Where a `TCPStore` on that machine listens, or is to."""
    has_store: bool
    """torchrun's agent holds that store; otherwise rank 0 is to."""
    attempt: int
    """How often torchrun has started them again."""


def world() -> World | None:
    """The world of this process; None where it was started alone."""
    found = os.environ
    if any(name not in found for name in _NAMES) or int(found["WORLD_SIZE"]) == 1:
        return None
    return World(
        rank=int(found["RANK"]),
        count=int(found["WORLD_SIZE"]),
        local_rank=int(found["LOCAL_RANK"]),
        address=found["MASTER_ADDR"],
        port=int(found["MASTER_PORT"]),
        has_store=found.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
        attempt=int(found.get("TORCHELASTIC_RESTART_COUNT", "0")),
    )
