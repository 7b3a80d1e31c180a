"""A list of hosts that keep failing, in one file that all workers of a machine share.

A host is blocked for `hours` when `failures` sessions in a row have failed on it; a session that works resets the
count. SQLite does the locking.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

from webdojo.errors import StoreError
from webdojo.types import Termination, Trajectory

_SCHEMA = """
CREATE TABLE IF NOT EXISTS hosts (
  host TEXT PRIMARY KEY, failures INTEGER NOT NULL, reason TEXT NOT NULL, until REAL NOT NULL DEFAULT 0
) WITHOUT ROWID
"""


class Blocklist:
    """A blocklist in a file, which is made if it is missing; blocks last 12 hours in WebGym, B.2."""

    def __init__(self, path: Path, failures: int = 3, hours: float = 12) -> None:
        self._failures, self._seconds = failures, hours * 3600
        try:
            with ExitStack() as undo:
                self._connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
                undo.callback(self._connection.close)
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute(_SCHEMA)
                undo.pop_all()
        except sqlite3.Error as error:
            raise StoreError(f"blocklist {str(path)!r} cannot be used ({error}); give another path") from None

    def failed(self, host: str, reason: str) -> None:
        """Count a failure, and block the host if it is the last of `failures` in a row."""
        until = time.time() + self._seconds
        self._connection.execute(
            "INSERT INTO hosts VALUES (:host, 1, :reason, CASE WHEN :limit <= 1 THEN :until ELSE 0 END) "
            "ON CONFLICT (host) DO UPDATE SET failures = failures + 1, reason = :reason, "
            "until = CASE WHEN failures + 1 >= :limit THEN :until ELSE until END",
            {"host": host.lower(), "reason": reason, "limit": self._failures, "until": until},
        )

    def worked(self, host: str) -> None:
        self._connection.execute("DELETE FROM hosts WHERE host = ?", (host.lower(),))

    def note(self, trajectory: Trajectory) -> None:
        """Count an episode for its host: it has failed if it could not start, or if it ended on a blocked page.

        Episodes on embedded sites do not count, nor do failures of the browser or of the engine.
        """
        host, final = trajectory.task.website, trajectory.final
        if trajectory.task.kind:
            return
        if trajectory.termination is Termination.START_ERROR:
            self.failed(host, trajectory.error)
        elif final is not None and final.blocked:
            self.failed(host, final.blocked)
        elif final is not None:
            self.worked(host)

    def blocked(self) -> dict[str, str]:
        """Return the hosts that are blocked now with their last reasons; one whose block is over has no failures."""
        self._connection.execute("DELETE FROM hosts WHERE until > 0 AND until <= ?", (time.time(),))
        return dict(self._connection.execute("SELECT host, reason FROM hosts WHERE until > 0 ORDER BY host"))

    def close(self) -> None:
        self._connection.close()
