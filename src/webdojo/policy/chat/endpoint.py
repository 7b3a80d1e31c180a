"""One endpoint: where requests go and with which key, and what its responses mean.

Options are checked before the first request is sent. Invariant: the key leaves this module only inside
the Authorization header; it is taken out of whatever an endpoint sends back, so it reaches no message,
log or file. Words such as `EMPTY`, which servers without keys are given, are none and stay.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, Field, ValidationError

from webdojo.agent.toolcall import plain
from webdojo.browser_service.wire import host_of, is_loopback
from webdojo.errors import ConfigError, Missing
from webdojo.policy.engine import ChatConfig
from webdojo.types import FinishReason, Record

RESERVED_FIELDS = frozenset({"model", "messages", "tools", "stream", "n"})
"""Fields of a request that `engine.extra_body` may not set."""

SHORTEST_KEY = 12
"""Characters; what is shorter protects nothing, and may be a word of the answer."""

CHECK_TIMEOUT_S = 5.0
"""How long `silence` waits."""

LONGEST_RETRY_AFTER_S = 600.0
"""An endpoint that asks to wait for longer is not waited for."""


class NativeCall(BaseModel):
    """A tool call as the endpoint gave it: nothing about it has been checked, nor that its arguments are JSON."""

    name: str
    arguments: str = "{}"


class Answer(Record):
    """What a model said."""

    text: str
    reasoning: str = ""
    """The model's thoughts, where the endpoint gives them apart from the text."""
    tool_calls: list[NativeCall] = Field(default_factory=list)
    finish_reason: FinishReason
    input_tokens: int | None
    """The endpoint's count; None where it did not say."""
    output_tokens: int | None


@dataclass
class Failed(Exception):
    """One try that brought no answer."""

    reason: str
    again: bool = True
    """Another try may do better."""
    charged: bool = False
    """The endpoint may have done the work, and ask money for it."""
    refused: bool = False
    """It is the key, the name of the model or the address that is wrong."""
    wait_s: float | None = None
    """What the endpoint asked for."""


class _ToolCall(BaseModel):
    function: NativeCall


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class _Body(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class Endpoint:
    """The endpoint that a config names."""

    def __init__(self, config: ChatConfig) -> None:
        self._config = config
        self.url = config.base_url.rstrip("/")
        host = host_of(config.base_url)
        if not host:
            raise ConfigError(
                f"{config.section}.base_url is {config.base_url!r}: give the address of an API, such as http://127.0.0.1:8500/v1"
            )
        parts = urlsplit(config.base_url)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ConfigError(
                f"{config.section}.base_url must be an address alone, without user, password, ? or #: keys belong into "
                f"the environment, under the name that {config.section}.api_key_env gives"
            )
        if not config.model:
            raise ConfigError(f"{config.section}.model is empty: name a model of {config.base_url}")
        if config.budget_usd and not (config.price_input or config.price_output):
            raise ConfigError(
                f"{config.section}.budget_usd is {config.budget_usd:g}, but without prices nothing costs anything: set "
                f"{config.section}.price_input and {config.section}.price_output, in US dollars a million tokens"
            )
        if taken := sorted(RESERVED_FIELDS & set(config.extra_body)):
            raise ConfigError(f"{config.section}.extra_body sets {taken[0]!r}, which is not its to set: leave it out")
        self._key = os.environ.get(config.api_key_env, "").strip() if config.api_key_env else ""
        if config.api_key_env and not self._key:
            raise Missing(
                f"{config.section}.api_key_env names {config.api_key_env}, which is not in the environment: set it, or "
                f"write {config.section}.api_key_env= for an endpoint that needs no key"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigError(f"the value of {config.api_key_env} is no key: it has characters that no header may have")
        self.http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=config.timeout_s,
            limits=httpx.Limits(max_connections=config.max_concurrency),
            trust_env=not is_loopback(host),  # no proxy is needed on this machine
        )

    def __str__(self) -> str:
        return f"{self.url} ({self._config.model})"

    async def ask(self, content: bytes) -> Answer:
        """Send a request once; raises Failed where no answer comes back."""
        url, json_type = f"{self.url}/chat/completions", {"Content-Type": "application/json"}
        try:
            async with asyncio.timeout(self._config.timeout_s):
                response = await self.http.post(url, content=content, headers=json_type)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Failed(f"cannot connect ({self._say(error)})") from None
        except (TimeoutError, httpx.TimeoutException):
            raise Failed(
                f"no answer within {self._config.timeout_s:g} s ({self._config.section}.timeout_s)", charged=True
            ) from None
        except httpx.HTTPError as error:
            raise Failed(f"the connection broke ({self._say(error)})", charged=True) from None
        try:
            body = self._clean(response.json())
        except (ValueError, RecursionError):
            body = None
        if response.status_code != 200:
            raise self._refusal(response, *_error_message(body))
        if body is None:
            kind = self._say(response.headers.get("content-type", "nothing in particular"))
            raise Failed(f"the answer is not valid JSON but {len(response.content)} bytes of {kind}", charged=True)
        return read_answer(body)

    async def silence(self) -> str:
        """Why the endpoint does not answer now, asked for its models; empty where it does, whatever it answers."""
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_S):
                response = await self.http.get(f"{self.url}/models")
        except TimeoutError:
            return f"nothing within {CHECK_TIMEOUT_S:g} s"
        except httpx.HTTPError as error:
            return self._say(error)
        if response.status_code in (401, 403):
            return f"status {response.status_code}; check the key in {self._config.api_key_env or 'no variable'}"
        return ""

    def _refusal(self, response: httpx.Response, message: str, code: str) -> Failed:
        status = response.status_code
        reason = f"status {status}" + (f": {plain(message, limit=300)}" if message else "")
        if status in (408, 409, 429) or status >= 500:
            wait_s = retry_after(response.headers.get("retry-after", ""), time.time())
            if wait_s is None or wait_s <= LONGEST_RETRY_AFTER_S:
                return Failed(reason, again=code != "insufficient_quota", wait_s=wait_s)
            reason += f"; it asks to come back in {wait_s:.0f} s"
        elif status in (401, 403):
            empty = f"{self._config.section}.api_key_env, which is empty"
            held = f"the key in {self._config.api_key_env}" if self._key else empty
            reason += f"; check {held}"
        elif status == 404:
            reason += f"; check {self._config.section}.base_url and {self._config.section}.model"
        return Failed(reason, again=False, refused=status in (401, 403, 404))

    def _say(self, what: object) -> str:
        """Foreign text as a part of one line, without the key; some errors have a name only."""
        return plain(self._clean(str(what) or type(what).__name__), limit=300)

    def _clean(self, value: Any) -> Any:
        """Return the same JSON value without the key in any of its strings."""
        if isinstance(value, str):
            return value.replace(self._key, "[key]") if len(self._key) >= SHORTEST_KEY else value
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        if isinstance(value, dict):
            return {self._clean(name): self._clean(item) for name, item in value.items()}
        return value


def read_answer(body: Any) -> Answer:
    """Return the first choice of a chat completion from decoded JSON; raises Failed if it has another shape."""
    try:
        read = _Body.model_validate(body)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "the body"
        said = _error_message(body)[0] or f"{where}: {fault['msg'].lower()}"
        raise Failed(f"no chat completion ({plain(said, limit=300)})", charged=True) from None
    choice, message, usage = read.choices[0], read.choices[0].message, read.usage
    return Answer(
        text=message.content or message.refusal or "",
        reasoning=message.reasoning_content or message.reasoning or "",
        tool_calls=[call.function for call in message.tool_calls or []],
        finish_reason=FinishReason.LENGTH if choice.finish_reason == "length" else FinishReason.STOP,
        input_tokens=usage.prompt_tokens if usage else None,
        output_tokens=usage.completion_tokens if usage else None,
    )


def retry_after(given: str, now: float) -> float | None:
    """Return the seconds from `now` that a Retry-After header asks to wait; None if it is neither number nor date."""
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - now
        except ValueError:
            return None
    return max(0.0, seconds) if seconds == seconds else None


def _error_message(body: Any) -> tuple[str, str]:
    """Return message and code of an error body, in any of the shapes that are about; empty where there are none."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        message = error.get("message") or error.get("detail") or ""
        return (message if isinstance(message, str) else ""), str(error.get("code") or "")
    return (error if isinstance(error, str) else ""), ""
