"""What the memory allocator of the C library does with the tensors that an update frees.

This is the one place where the package sets options of malloc (`mallopt`), tested with glibc 2.36;
`tests/trainer/learner/test_malloc.py` fails where it stops working. Elsewhere results are the same, more slowly.
"""

from __future__ import annotations

import ctypes
import platform

_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8
"""Options of glibc's `mallopt`."""


def keep_freed_memory() -> None:
    """Let this process keep what it frees for the next micro-batch, as a GPU's caching allocator does.

    By default glibc maps every tensor of more than 32 MB anew, which takes a seventh of an update of 100 M parameters.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_MAX, 0)
        libc.mallopt(_TRIM_THRESHOLD, -1)
        libc.mallopt(_ARENA_MAX, 1)  # an arena of a thread could not hold them: it is 64 MB at most
