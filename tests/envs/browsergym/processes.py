"""Which workers run."""

from __future__ import annotations

from contextlib import suppress

import psutil


def running(script: str) -> list[psutil.Process]:
    """The processes below this one whose command names a script."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended meanwhile
            if any(word.endswith(script) for word in process.cmdline()):
                found.append(process)
    return found
