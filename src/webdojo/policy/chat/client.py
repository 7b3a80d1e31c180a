"""Requests to one OpenAI-compatible endpoint, many at once, for as long as it takes.

Every `complete` ends in an answer or in one `EngineError` line. A fault that may pass is tried again
after a growing, jittered pause, or after as long as the endpoint asks for: limits, server errors,
timeouts, dropped connections, answers that broke off or cannot be read. A fault that will not pass
is not: a wrong key, an unknown model, a bad request, an exhausted quota or budget.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from webdojo.errors import EngineError, EngineRefused
from webdojo.pace import Pace
from webdojo.policy.chat.endpoint import Answer, Endpoint, Failed
from webdojo.policy.chat.ledger import AnswerCache, Spending, Totals, estimate
from webdojo.policy.engine import ChatConfig
from webdojo.types import Sampling

Message = dict[str, Any]
"""One message of a chat, in OpenAI's form."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0

logger = logging.getLogger("webdojo")


class ChatClient:
    """An async context manager; `complete` may be called by many tasks at once.

    The file `account` keeps what a run has spent; None keeps it in memory.
    """

    def __init__(self, config: ChatConfig, account: Path | None = None) -> None:
        self.config = config
        self._endpoint = Endpoint(config)
        self._spending = Spending(config, account)
        self._cache = AnswerCache(Path(config.cache)) if config.cache else None
        self._pace = Pace(config.requests_per_minute, config.tokens_per_minute)
        self._slots = asyncio.Semaphore(config.max_concurrency)
        self._answered = False
        """Whether key, name and address were right once, so that a later refusal is a passing one."""
        self._failing = False
        """Whether no answer has come since a failed try was told: one line says that an endpoint is down."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._endpoint.http.aclose()
        self._spending.close()
        if self._cache is not None:
            self._cache.close()

    def totals(self) -> Totals:
        return self._spending.totals()

    async def complete(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] = (),
        keep: Callable[[Answer], bool] = lambda answer: True,
    ) -> Answer:
        """Ask for the next message; `messages` and `tools` are as in OpenAI's chat API.

        `keep` says whether the cache may give this answer the next time.

        `top_k` is sent where it is set, although OpenAI's own API does not know it.
        """
        if sampling.logit_bias:
            raise EngineError(
                "an endpoint takes no logit_bias: it is about ids of another tokenizer; leave it out of the sampling"
            )
        body: dict[str, Any] = {"model": self.config.model, "messages": list(messages)}
        body |= {"max_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p}
        body |= {"top_k": sampling.top_k or None, "seed": sampling.seed}
        body |= {"stop": list(sampling.stop) or None, "tools": list(tools) or None, **self.config.extra_body}
        body = {name: value for name, value in body.items() if value is not None}
        if self._cache is None:
            return await self._ask(body)
        key = self._cache.key(self._endpoint.url, body, sampling.temperature == 0 or sampling.seed is not None)
        if (known := self._cache.get(key)) is not None:
            self._spending.add_cached()
            return known
        answer = await self._ask(body)
        if keep(answer):
            self._cache.put(key, answer)
        return answer

    async def say(self, messages: Sequence[Message], sampling: Sampling, keep: Callable[[str], bool] = bool) -> str:
        """The text of the next message (`policy.engine.MessageModel`)."""
        return (await self.complete(messages, sampling, keep=lambda answer: keep(answer.text))).text

    async def _ask(self, body: dict[str, Any]) -> Answer:
        content = json.dumps(body).encode()
        expected, most = estimate(self.config, body)
        async with self._slots:
            for tried in range(1, self.config.max_retries + 2):
                await asyncio.sleep(self._pace.book(time.monotonic(), expected))
                await asyncio.sleep(self._pace.held(time.monotonic()))
                try:
                    answer = await self._spending.pay(most, lambda: self._endpoint.ask(content))
                    self._answered = True
                    self._failing = False
                    if answer.input_tokens is not None and answer.output_tokens is not None:
                        self._pace.correct(answer.input_tokens + answer.output_tokens - expected)
                    return answer
                except Failed as failed:
                    if not failed.again:
                        kind = EngineRefused if failed.refused and not self._answered else EngineError
                        raise kind(f"endpoint {self._endpoint}: {failed.reason}") from None
                    if tried > self.config.max_retries:
                        times = "once" if tried == 1 else f"{tried} times"
                        section = self.config.section
                        raise EngineError(
                            f"endpoint {self._endpoint} failed {times} ({section}.max_retries), last: {failed.reason}"
                        ) from None
                    pause = min(FIRST_PAUSE_S * 2 ** (tried - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1)
                    if failed.wait_s is not None:
                        self._pace.hold(time.monotonic() + failed.wait_s)
                        pause = failed.wait_s
                    level = logging.DEBUG if self._failing else logging.INFO
                    self._failing = True
                    logger.log(
                        level, "endpoint %s: %s; try %d in %.1f s", self._endpoint, failed.reason, tried + 1, pause
                    )
                    await asyncio.sleep(pause)
        raise AssertionError("the last try raises")
