"""What is kept of requests: what they cost, so that no budget is passed, and their answers, so that none is paid twice.

Before a request is sent, the most that it can cost is set aside; afterwards the amount becomes what
the endpoint counted. A request whose answer got lost may have been charged for, so the most that it
can have cost stays. Invariant: what was spent and what is set aside never exceed the budget together.

A byte-level tokenizer makes at most one token of a byte, whichever it is, so the bytes of a request
bound its tokens; images are bounded by what the config says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from webdojo.errors import BudgetError, EngineError, StoreError
from webdojo.policy.chat.endpoint import Answer, Failed
from webdojo.policy.engine import ChatConfig
from webdojo.progress import plural

_ANSWERS = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
_REQUESTS = """\
CREATE TABLE IF NOT EXISTS requests (
    id            INTEGER PRIMARY KEY,
    created       REAL NOT NULL,             -- Unix seconds
    model         TEXT NOT NULL,
    state         TEXT NOT NULL,             -- sent, answered, refused, lost, cached
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    usd           REAL NOT NULL              -- of a request that is sent or lost: the most that it can cost
)"""

_TOTALS = (
    "SELECT count(*) FILTER (WHERE state != 'cached'), count(*) FILTER (WHERE state IN ('sent', 'lost')), "
    "count(*) FILTER (WHERE state = 'cached'), coalesce(sum(input_tokens), 0), "
    "coalesce(sum(output_tokens), 0), coalesce(sum(usd), 0.0) FROM requests"
)

WARNED_AT = 0.8
"""Share of a budget from which on a warning says how much is used."""

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
        lost = f" ({self.lost} lost: no whole answer came, so each counts as the most it can cost)" if self.lost else ""
        return (
            f"endpoint: {plural(self.requests, 'request')}{lost}{cached}, {self.input_tokens} tokens in, "
            f"{self.output_tokens} out, {self.usd:.4f} USD"
        )


class Spending:
    """The account of one run.

    In `file` it outlives the process: a run that is resumed goes on with what is left, and what was in flight when it
    died counts as lost. None keeps the account in memory.
    """

    def __init__(self, config: ChatConfig, file: Path | None = None) -> None:
        self._config = config
        self._in_flight: dict[int, float] = {}
        """Requests of this process that are not settled, and what is set aside for each."""
        self._settled = asyncio.Event()
        self._warned: set[str] = set()
        self._database = _open(file, _REQUESTS, f"cannot keep account of requests in {file}", "check disk and access")
        self.close = self._database.close

    async def pay(self, most_usd: float, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Do work that may cost so much, after others have settled where only that makes room in the budget."""
        while (request := self._reserve(most_usd)) is None:
            self._settled.clear()
            await self._settled.wait()
        try:
            answer = await work()
        except BaseException as error:
            # Where the task is cancelled, the endpoint may go on with it.
            charged = not isinstance(error, Failed) or error.charged
            self._settle(request, "lost" if charged else "refused", None if charged else 0)
            raise
        if answer.input_tokens is None or answer.output_tokens is None:
            self._settle(request, "answered")  # it costs all that was set aside
            return answer
        tokens = answer.input_tokens, answer.output_tokens
        usd = self._config.price(*tokens) or 0.0
        if 0 < most_usd < usd:
            logger.warning(
                "endpoint %s (%s) counted %d input and %d output tokens, %.4f USD where at most %.4f were set aside: "
                "raise %s.image_tokens",
                *(self._config.base_url, self._config.model, *tokens, usd, most_usd, self._config.section),
            )
        self._settle(request, "answered", usd, *tokens)
        return answer

    def totals(self) -> Totals:
        return Totals(*self._database.execute(_TOTALS).fetchone())

    def _reserve(self, most_usd: float) -> int | None:
        """Set aside the most, and return the request's number; None where others may yet give back what is missing."""
        budget_usd, budget_requests = self._config.budget_usd, self._config.budget_requests
        self._database.execute("BEGIN IMMEDIATE")  # another process may share the budget
        try:
            spent, sent = self._database.execute(
                "SELECT coalesce(sum(usd), 0.0), count(*) FILTER (WHERE state != 'cached') FROM requests"
            ).fetchone()
            if budget_requests and sent >= budget_requests:
                raise BudgetError(
                    f"all {budget_requests} requests to {self._config.model} are used up that this run may send: raise "
                    f"{self._config.section}.budget_requests to go on"
                )
            if budget_usd and spent + most_usd > budget_usd:
                certain = spent - sum(self._in_flight.values())
                if self._in_flight and certain + most_usd <= budget_usd:
                    return None
                raise BudgetError(
                    f"the budget of {budget_usd:g} USD for this endpoint is used up: {certain:.4f} USD are spent, "
                    f"and the next request to {self._config.model} may cost {most_usd:.4f}; "
                    f"raise {self._config.section}.budget_usd to go on"
                )
            request = self.add("sent", most_usd)
        finally:
            self._database.execute("COMMIT")
        self._in_flight[request] = most_usd
        for used, budget, unit in ((spent + most_usd, budget_usd, "USD"), (sent + 1, budget_requests, "requests")):
            if budget and unit not in self._warned and used >= WARNED_AT * budget:
                self._warned.add(unit)
                logger.warning(
                    "endpoint %s (%s) has used %.4g of its budget of %g %s",
                    *(self._config.base_url, self._config.model, used, budget, unit),
                )
        return request

    def add_cached(self) -> None:
        """Count an answer of the cache, without waiting for the disk: a power cut may forget it."""
        self._database.execute("PRAGMA synchronous=NORMAL")
        self.add("cached")
        self._database.execute("PRAGMA synchronous=FULL")

    def add(self, state: str, usd: float = 0.0) -> int:
        row = self._database.execute(
            "INSERT INTO requests (created, model, state, usd) VALUES (?, ?, ?, ?)",
            (time.time(), self._config.model, state, usd),
        )
        assert row.lastrowid is not None
        return row.lastrowid

    def _settle(
        self, request: int, state: str, usd: float | None = None, input_tokens: int = 0, output_tokens: int = 0
    ) -> None:
        """Say how a request ended; without `usd` it costs what was set aside."""
        self._database.execute(
            "UPDATE requests SET state = ?, usd = coalesce(?, usd), input_tokens = ?, output_tokens = ? WHERE id = ?",
            (state, usd, input_tokens, output_tokens, request),
        )
        del self._in_flight[request]
        self._settled.set()


def totals_in(account: Path) -> Totals | None:
    """What stands in the account of a run, which another process may be writing; None where there is none."""
    if not account.is_file():
        return None
    with closing(sqlite3.connect(account, timeout=30)) as database:
        return Totals(*database.execute(_TOTALS).fetchone())


class AnswerCache:
    """A file of answers by request, which several processes may share.

    The key is a digest of the whole request (address, model, messages with their images, sampling).
    Requests that may be answered differently each time, because they sample without a seed, also count
    how often this process has asked them: the k-th time gets the k-th answer, so the members of a group
    stay different, and a run that is done again gets the same answers in the same order.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._asked: Counter[str] = Counter()
        self._database = _open(file, _ANSWERS, f"cannot use {file} as cache", "name another file in engine.cache")
        self._database.execute("PRAGMA synchronous=NORMAL")  # what a power cut takes is asked for again
        self.close = self._database.close

    def key(self, url: str, body: dict[str, Any], repeatable: bool) -> str:
        """Return the name of a request's answer; the same one however often it is asked if it is `repeatable`."""
        digest = hashlib.sha256(json.dumps([url, body], sort_keys=True).encode()).hexdigest()
        if repeatable:
            return digest
        self._asked[digest] += 1
        return f"{digest}/{self._asked[digest]}"

    def get(self, key: str) -> Answer | None:
        try:
            row = self._database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            return None if row is None else Answer.model_validate_json(row[0])
        except (sqlite3.Error, ValidationError) as error:
            reason = " ".join(str(error).split())
            raise StoreError(f"the cache {self._file} is damaged ({reason}): delete it") from None

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; the first one of a name stays."""
        try:
            self._database.execute(
                "INSERT INTO answers (key, answer) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (key, answer.model_dump_json()),
            )
        except sqlite3.Error as error:
            raise StoreError(f"cannot write to the cache {self._file} ({error}): check disk and access") from None


def _open(file: Path | None, table: str, problem: str, advice: str) -> sqlite3.Connection:
    """A database with one table, which several processes may share; it commits each statement."""
    try:
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(file or ":memory:", timeout=30, isolation_level=None, check_same_thread=False)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(table)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{problem} ({error}): {advice}") from None
    return database


def estimate(config: ChatConfig, body: Mapping[str, Any]) -> tuple[int, float]:
    """Return about how many tokens of a request go in, for limits a minute, and the most USD that one try can cost."""
    output_tokens = body.get("max_completion_tokens") or body.get("max_tokens")
    if output_tokens is None and config.budget_usd and config.price_output:
        raise EngineError(
            f"{config.section}.extra_body takes max_tokens out of the request, so its cost has no bound and "
            f"{config.section}.budget_usd cannot be kept: set max_completion_tokens in its place"
        )
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    images = [part["image_url"]["url"] for parts in contents for part in parts if part["type"] == "image_url"]
    text_bytes = len(json.dumps(body, ensure_ascii=False).encode(errors="replace")) - sum(map(len, images))
    image_tokens = len(images) * config.image_tokens
    most_usd = config.price(text_bytes + image_tokens, int(output_tokens or 0)) or 0.0
    return text_bytes // _BYTES_A_TOKEN + image_tokens, most_usd
