"""Out of memory, by the name it has on each device."""

from __future__ import annotations

import torch


def is_out_of_memory(error: Exception) -> bool:
    """Torch raises `OutOfMemoryError` on a GPU and a bare RuntimeError on the CPU."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "allocate memory" in str(error)
