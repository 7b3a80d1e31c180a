"""What one try brought: the answer of a chat completion, whoever sent it, or why there is none.

`Failed` says whether another try may do better and what this one may have cost. The bodies that are
read here no longer hold the key (`Address.clean`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from webdojo.agent.toolcall import plain
from webdojo.types import FinishReason, Record

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


def refusal(status: int, headers: Mapping[str, str], body: Any, key_variable: str) -> Failed:
    """Return what a status other than 200 means.

    Args:
        headers: names in lower case.
        body: decoded JSON; None where it was none.
        key_variable: names the environment variable that holds the key; empty where none is sent.
    """
    message, code = _error_message(body)
    reason = f"status {status}" + (f": {plain(message, limit=300)}" if message else "")
    if status in (408, 409, 429) or status >= 500:
        wait_s = retry_after(headers.get("retry-after", ""), time.time())
        if wait_s is None or wait_s <= LONGEST_RETRY_AFTER_S:
            return Failed(reason, again=code != "insufficient_quota", wait_s=wait_s)
        reason += f"; it asks to come back in {wait_s:.0f} s"
    elif status in (401, 403):
        held = f"the key in {key_variable}" if key_variable else "engine.api_key_env, which is empty"
        reason += f"; check {held}"
    elif status == 404:
        reason += "; check engine.base_url and engine.model"
    return Failed(reason, again=False)


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
