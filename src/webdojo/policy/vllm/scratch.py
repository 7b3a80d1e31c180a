"""Where an engine lays weights and logs of its servers.

Invariant: the folder is gone once its engine is closed or, where that was killed, once the next engine begins in the
same place. A lock, which the system frees, tells the folders of the living from those of the dead.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from pathlib import Path

PREFIX = "webdojo-vllm-"
LOCK = "lock"


class Scratch:
    """A folder of its own under `place`, or where temporary files go."""

    def __init__(self, place: str) -> None:
        for left in Path(place or tempfile.gettempdir()).glob(f"{PREFIX}*"):
            # Not ours where it is locked, another user's, or just being removed.
            with contextlib.suppress(OSError), (left / LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place or None))
        new = self.path / f"{LOCK}.new"
        self._lock = new.open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new.rename(self.path / LOCK)  # so that nobody finds it before it is locked

    def remove(self) -> None:
        """Delete the folder and what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()
