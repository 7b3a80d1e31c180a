"""Hosts that keep failing, kept in one file that all workers of a machine share.

A host is blocked when `failures` sessions in a row could not work with it, for `hours`; one that
worked in between starts from nothing again. SQLite does the locking.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from webdojo.errors import StoreError
from webdojo.types import Termination, Trajectory

_SCHEMA = """
CREATE TABLE IF NOT EXISTS hosts (
  host TEXT PRIMARY KEY, failures INTEGER NOT NULL, reason TEXT NOT NULL, until REAL NOT NULL DEFAULT 0
) WITHOUT ROWID
"""


@dataclass(frozen=True)
class Blocked:
    """A host on the list."""

    host: str
    reason: str
    """Of its last failure."""
    until: float
    """Seconds since the epoch."""


class Blocklist:
    """The list in a file; made when it is missing.

    Args:
        path: of the SQLite file.
        failures: in a row that block a host.
        hours: that a block lasts (12 in WebGym, B.2).
        now: the clock, in seconds since the epoch.

    Raises:
        StoreError: the file cannot be made, or is something else.
    """

    def __init__(self, path: Path, failures: int = 3, hours: float = 12, now: Callable[[], float] = time.time) -> None:
        self._failures, self._seconds, self._now = failures, hours * 3600, now
        try:
            self._connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_SCHEMA)
        except sqlite3.Error as error:
            raise StoreError(f"blocklist {str(path)!r} cannot be used ({error}); give another path") from None

    def failed(self, host: str, reason: str) -> None:
        """Count a failure; the one that makes them `failures` in a row blocks the host."""
        until = self._now() + self._seconds
        self._connection.execute(
            "INSERT INTO hosts VALUES (:host, 1, :reason, CASE WHEN :limit <= 1 THEN :until ELSE 0 END) "
            "ON CONFLICT (host) DO UPDATE SET failures = failures + 1, reason = :reason, "
            "until = CASE WHEN failures + 1 >= :limit THEN :until ELSE until END",
            {"host": host.lower(), "reason": reason, "limit": self._failures, "until": until},
        )

    def worked(self, host: str) -> None:
        """Forget the failures of a host."""
        self._connection.execute("DELETE FROM hosts WHERE host = ?", (host.lower(),))

    def note(self, trajectory: Trajectory) -> None:
        """Count how the host of an episode behaved: one that cannot be started, or that ends blocked, has failed.

        Embedded sites do not count, nor do failures of the browser or the engine.
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

    def blocked(self) -> dict[str, Blocked]:
        """The hosts that are blocked now; those whose time is over begin with a clean record."""
        self._connection.execute("DELETE FROM hosts WHERE until > 0 AND until <= ?", (self._now(),))
        rows = self._connection.execute("SELECT host, reason, until FROM hosts WHERE until > 0 ORDER BY host")
        return {host: Blocked(host, reason, until) for host, reason, until in rows}

    def close(self) -> None:
        self._connection.close()
