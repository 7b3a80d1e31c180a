"""Reading the body of a chat completion, whoever sent it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, ValidationError

from webdojo.types import FinishReason, Record


class NativeCall(Record):
    """A tool call as the endpoint gave it: nothing about it has been checked."""

    name: str
    arguments: str
    """JSON, if the model wrote JSON."""


class Answer(Record):
    """What a model said."""

    text: str
    reasoning: str = ""
    """Its thoughts, where the endpoint gives them apart from the text."""
    tool_calls: list[NativeCall] = Field(default_factory=list)
    finish_reason: FinishReason
    input_tokens: int | None
    """As the endpoint counted them; None where it did not say."""
    output_tokens: int | None


class Unreadable(Exception):
    """A body that is no chat completion; the message says why, in a few words."""


class _Function(BaseModel):
    name: str
    arguments: str = "{}"


class _ToolCall(BaseModel):
    function: _Function


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
    """The first choice of a chat completion.

    Args:
        body: decoded JSON.

    Raises:
        Unreadable: it has another shape.
    """
    try:
        read = _Body.model_validate(body)
    except ValidationError as error:
        fault = error.errors()[0]
        raise Unreadable(f"{'.'.join(map(str, fault['loc'])) or 'the body'}: {fault['msg'].lower()}") from None
    choice, message, usage = read.choices[0], read.choices[0].message, read.usage
    return Answer(
        text=message.content or message.refusal or "",
        reasoning=message.reasoning_content or message.reasoning or "",
        tool_calls=[NativeCall(name=c.function.name, arguments=c.function.arguments) for c in message.tool_calls or []],
        finish_reason=FinishReason.LENGTH if choice.finish_reason == "length" else FinishReason.STOP,
        input_tokens=usage.prompt_tokens if usage else None,
        output_tokens=usage.completion_tokens if usage else None,
    )


def error_message(body: Any) -> tuple[str, str]:
    """Message and code of an error body, in any of the shapes that are about; empty where there are none."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        message = error.get("message") or error.get("detail") or ""
        return (message if isinstance(message, str) else ""), str(error.get("code") or "")
    return (error if isinstance(error, str) else ""), ""
