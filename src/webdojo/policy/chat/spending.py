"""What requests cost, and the budget that they may not pass.

Before a request is sent, the most that it can cost is set aside; afterwards the amount becomes what
the endpoint counted. A request whose answer got lost may have been charged for, so the most that it
can have cost stays. Invariant: what was spent and what is set aside never exceed the budget together.

A byte-level tokenizer makes at most one token of a byte, whichever it is, so the bytes of a request
bound its tokens; images are bounded by what the config says.

With a file, the account outlives the process: a run that is resumed goes on with what is left, and
what was in flight when it died counts as lost.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from webdojo.errors import EngineError, StoreError
from webdojo.policy.chat.config import ChatConfig

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

_BYTES_A_TOKEN = 4
"""Average of English text."""

logger = logging.getLogger("webdojo")


class Totals(NamedTuple):
    """What a run has asked and paid."""

    requests: int
    """Requests sent; each try counts."""
    lost: int
    """Those of them without an answer that came through whole, or still on their way."""
    cached: int
    """Requests answered by the cache."""
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
        config: names the model, its prices and the budget.
        file: where the account is kept; None keeps it in memory.

    Raises:
        StoreError: the file cannot be used.
    """

    def __init__(self, config: ChatConfig, file: Path | None = None) -> None:
        self._config = config
        self._in_flight: dict[int, float] = {}
        """Requests of this process that are not settled, and what is set aside for each."""
        self._settled = asyncio.Event()
        try:
            self._database = sqlite3.connect(
                file or ":memory:", timeout=30, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute(_SCHEMA)
        except sqlite3.Error as error:
            raise StoreError(f"cannot keep account of requests in {file} ({error}): check disk and access") from None

    async def reserve(self, most_usd: float) -> int:
        """Set aside the most that a request can cost, waiting for others to settle where only that makes room.

        Returns:
            The number by which the request is settled.

        Raises:
            EngineError: what is left of the budget is less.
        """
        while (request := self._try(most_usd)) is None:
            self._settled.clear()
            await self._settled.wait()
        return request

    def answered(self, request: int, input_tokens: int | None, output_tokens: int | None) -> None:
        """Pay for an answered request; where the endpoint did not count, it costs all that was set aside."""
        if input_tokens is None or output_tokens is None:
            self._settle(request, "state = 'answered'")
            return
        usd, most_usd = _usd(self._config, input_tokens, output_tokens), self._in_flight[request]
        if 0 < most_usd < usd:
            logger.warning(
                "endpoint %s (%s) counted %d input and %d output tokens, %.4f USD where at most %.4f were set aside: "
                "raise engine.image_tokens",
                *(self._config.base_url, self._config.model, input_tokens, output_tokens, usd, most_usd),
            )
        values = (input_tokens, output_tokens, usd)
        self._settle(request, "state = 'answered', input_tokens = ?, output_tokens = ?, usd = ?", values)

    def failed(self, request: int, charged: bool) -> None:
        """Settle a request that brought no answer.

        Args:
            charged: it may have cost all that was set aside; otherwise it was refused or never arrived, for nothing.
        """
        self._settle(request, "state = 'lost'" if charged else "state = 'refused', usd = 0")

    def cached(self) -> None:
        """Count a request that was answered by the cache."""
        self._add("cached", 0.0)

    def totals(self) -> Totals:
        """Return what was asked and paid up to now."""
        row = self._database.execute(
            "SELECT count(*) FILTER (WHERE state != 'cached'), count(*) FILTER (WHERE state IN ('sent', 'lost')), "
            "count(*) FILTER (WHERE state = 'cached'), coalesce(sum(input_tokens), 0), "
            "coalesce(sum(output_tokens), 0), coalesce(sum(usd), 0.0) FROM requests"
        ).fetchone()
        return Totals(*row)

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _try(self, most_usd: float) -> int | None:
        """Set aside; None where requests in flight may yet give back what is missing."""
        budget_usd = self._config.budget_usd
        self._database.execute("BEGIN IMMEDIATE")  # another process may share the budget
        try:
            (spent,) = self._database.execute("SELECT coalesce(sum(usd), 0.0) FROM requests").fetchone()
            if budget_usd and spent + most_usd > budget_usd:
                certain = spent - sum(self._in_flight.values())
                if self._in_flight and certain + most_usd <= budget_usd:
                    return None
                raise EngineError(
                    f"the budget of {budget_usd:g} USD for this endpoint is used up: {certain:.4f} USD are spent, "
                    f"and the next request to {self._config.model} may cost {most_usd:.4f}; "
                    "raise engine.budget_usd to go on"
                )
            request = self._add("sent", most_usd)
        finally:
            self._database.execute("COMMIT")
        self._in_flight[request] = most_usd
        return request

    def _add(self, state: str, usd: float) -> int:
        row = self._database.execute(
            "INSERT INTO requests (created, model, state, usd) VALUES (?, ?, ?, ?)",
            (time.time(), self._config.model, state, usd),
        )
        assert row.lastrowid is not None
        return row.lastrowid

    def _settle(self, request: int, changes: str, values: tuple[float, ...] = ()) -> None:
        self._database.execute(f"UPDATE requests SET {changes} WHERE id = ?", (*values, request))
        del self._in_flight[request]
        self._settled.set()


def cost_bound_usd(config: ChatConfig, body: Mapping[str, Any]) -> float:
    """Return the most that one try of a request can cost.

    Raises:
        EngineError: there is a budget, and nothing bounds the answer.
    """
    output_tokens = body.get("max_completion_tokens") or body.get("max_tokens")
    if output_tokens is None and config.budget_usd and config.price_output:
        raise EngineError(
            "engine.extra_body takes max_tokens out of the request, so its cost has no bound and "
            "engine.budget_usd cannot be kept: set max_completion_tokens in its place"
        )
    text_bytes, images = _size(body)
    return _usd(config, text_bytes + images * config.image_tokens, int(output_tokens or 0))


def expected_tokens(config: ChatConfig, body: Mapping[str, Any]) -> int:
    """Return about how many tokens go in, for limits a minute."""
    text_bytes, images = _size(body)
    return text_bytes // _BYTES_A_TOKEN + images * config.image_tokens


def _usd(config: ChatConfig, input_tokens: int, output_tokens: int) -> float:
    return (input_tokens * config.price_input + output_tokens * config.price_output) / 1e6


def _size(body: Mapping[str, Any]) -> tuple[int, int]:
    """Return the UTF-8 bytes without the images, and how many images there are."""
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return len(json.dumps(body, ensure_ascii=False).encode(errors="replace")) - sum(map(len, images)), len(images)
