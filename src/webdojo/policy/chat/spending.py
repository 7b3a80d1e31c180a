"""What requests cost, and the budget that they may not pass.

Before a request is sent, the most that it can cost is set aside; afterwards the amount becomes what
the endpoint counted. A request whose answer got lost may have been charged for, so the most that it
can have cost stays. Invariant: what was spent and what is set aside never exceed the budget together.

With a file, figures outlive the process: a run that is resumed goes on with what is left, and what
was in flight when it died counts as lost.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from webdojo.errors import EngineError, StoreError

_SCHEMA = """\
CREATE TABLE IF NOT EXISTS requests (
    id            INTEGER PRIMARY KEY,
    created       REAL NOT NULL,             -- Unix seconds
    model         TEXT NOT NULL,
    state         TEXT NOT NULL,             -- sent, answered, refused, lost, cached
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    usd           REAL NOT NULL              -- of a request that is sent or lost: the most that it can cost
)"""


class Totals(NamedTuple):
    """Figures of a run."""

    requests: int
    """Sent; each try counts."""
    lost: int
    """Of those, without an answer that came through whole, or still on their way."""
    cached: int
    """Answered by the cache."""
    input_tokens: int
    output_tokens: int
    usd: float

    def __str__(self) -> str:
        cached = f", {self.cached} from the cache" if self.cached else ""
        lost = f" ({self.lost} lost)" if self.lost else ""
        return (
            f"endpoint: {self.requests} requests{lost}{cached}, {self.input_tokens} tokens in, "
            f"{self.output_tokens} out, {self.usd:.4f} USD"
        )


class Spending:
    """The account of one run.

    Args:
        budget_usd: 0 is no limit.
        file: where figures are kept; None keeps them in memory.

    Raises:
        StoreError: the file cannot be used.
    """

    def __init__(self, budget_usd: float = 0.0, file: Path | None = None) -> None:
        self.budget_usd = budget_usd
        self._in_flight: dict[int, float] = {}
        """Requests of this process that are not settled, and what is set aside for each."""
        self._settled = asyncio.Condition()
        try:
            self._database = sqlite3.connect(file or ":memory:", isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA busy_timeout=30000")
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute(_SCHEMA)
        except sqlite3.Error as error:
            raise StoreError(f"cannot keep account of requests in {file} ({error}): check disk and access") from None

    async def reserve(self, model: str, most_usd: float) -> int:
        """Set aside the most that a request can cost, waiting for others to settle where only that makes room.

        Returns:
            The number by which the request is settled.

        Raises:
            EngineError: what is left of the budget is less.
        """
        async with self._settled:
            while (request := self._try(model, most_usd)) is None:
                await self._settled.wait()
        return request

    async def answered(self, request: int, input_tokens: int, output_tokens: int, usd: float) -> None:
        """A request was answered, and cost so much."""
        await self._settle(
            "UPDATE requests SET state = 'answered', input_tokens = ?, output_tokens = ?, usd = ? WHERE id = ?",
            request,
            (input_tokens, output_tokens, usd),
        )

    async def refused(self, request: int) -> None:
        """A request was refused, or never reached the endpoint: it cost nothing."""
        await self._settle("UPDATE requests SET state = 'refused', usd = 0 WHERE id = ?", request)

    async def lost(self, request: int) -> None:
        """The answer to a request did not come through: it may have cost all that was set aside."""
        await self._settle("UPDATE requests SET state = 'lost' WHERE id = ?", request)

    def cached(self, model: str) -> None:
        """A request was answered by the cache."""
        self._add(model, "cached", 0.0)

    def totals(self) -> Totals:
        """Figures up to now."""
        row = self._database.execute(
            "SELECT count(*) FILTER (WHERE state != 'cached'), count(*) FILTER (WHERE state IN ('sent', 'lost')), "
            "count(*) FILTER (WHERE state = 'cached'), coalesce(sum(input_tokens), 0), "
            "coalesce(sum(output_tokens), 0), coalesce(sum(usd), 0.0) FROM requests"
        ).fetchone()
        return Totals(*row)

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _try(self, model: str, most_usd: float) -> int | None:
        """Set aside; None where requests in flight may yet give back what is missing."""
        self._database.execute("BEGIN IMMEDIATE")  # another process may share the budget
        try:
            (spent,) = self._database.execute("SELECT coalesce(sum(usd), 0.0) FROM requests").fetchone()
            if self.budget_usd and spent + most_usd > self.budget_usd:
                certain = spent - sum(self._in_flight.values())
                if self._in_flight and certain + most_usd <= self.budget_usd:
                    return None
                raise EngineError(
                    f"the budget of {self.budget_usd:g} USD for this endpoint is used up: {certain:.4f} USD are spent, "
                    f"and the next request to {model} may cost {most_usd:.4f}; raise engine.budget_usd to go on"
                )
            request = self._add(model, "sent", most_usd)
        finally:
            self._database.execute("COMMIT")
        self._in_flight[request] = most_usd
        return request

    def _add(self, model: str, state: str, usd: float) -> int:
        row = self._database.execute(
            "INSERT INTO requests (created, model, state, usd) VALUES (?, ?, ?, ?)", (time.time(), model, state, usd)
        )
        assert row.lastrowid is not None
        return row.lastrowid

    async def _settle(self, statement: str, request: int, values: tuple[float, ...] = ()) -> None:
        self._database.execute(statement, (*values, request))
        del self._in_flight[request]
        async with self._settled:
            self._settled.notify_all()
