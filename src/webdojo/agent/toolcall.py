"""The response format `<think>…</think>` followed by `<tool_call>{json}</tool_call>` blocks.

`parse` is total and linear in the length of its text: any string gives a `Parsed`. Calls before a
bad one are kept, and nothing after it is read. `render` writes what `parse` reads back unchanged.
Text from tasks and pages passes through `plain`, so that a page cannot forge the markers of the
protocol (a title with `<|im_end|>` in it would otherwise end the user's turn).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from webdojo.browser.tools import TOOLS, check_call
from webdojo.types import Parsed, ToolCall

IM_END = "<|im_end|>"
THINK = "<think>"
THINK_END = "</think>"
CALL = "<tool_call>"
CALL_END = "</tool_call>"

_RESERVED = re.compile(r"<(?=\|[^|<>\s]{1,40}\|>|/?(?:think|tools|tool_call|tool_response)>)")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def plain(text: str, limit: int = 2000) -> str:
    """One line of foreign text: whitespace collapsed, cut to `limit` characters, markers broken by a space."""
    line = " ".join(text.split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return _RESERVED.sub("< ", line)


def parse(text: str) -> Parsed:
    """Read a response (OpenWebRL A.4: a thinking end tag and a parseable call).

    The opening `<think>` may be missing, since some chat templates put it into the prompt. Text
    between and after the calls is ignored. Never raises.
    """
    body = text.partition(IM_END)[0]
    think, end_tag, rest = body.partition(THINK_END)
    if not end_tag:
        return Parsed(error="no think end tag; think first, close the thought, then call tools")
    parsed = Parsed(think=think.strip().removeprefix(THINK).strip())
    position = rest.find(CALL)
    if position < 0:
        parsed.error = "no tool call after the thought"
    while position >= 0:
        try:
            call, position = _read_call(rest, position + len(CALL))
        except (ValueError, RecursionError) as error:  # RecursionError: JSON nested thousands deep
            number = len(parsed.calls) + 1
            reason = "JSON nested too deeply" if isinstance(error, RecursionError) else _reason(error)
            parsed.error = f"tool call {number}: {reason}"
            break
        parsed.calls.append(call)
        position = rest.find(CALL, position)
    return parsed


def render(think: str, calls: Sequence[ToolCall], separator: str = "") -> str:
    """The canonical text of a response, ending in `<|im_end|>`.

    Arguments stand in the order of the tool's signature, and those that equal their default are
    left out. `separator` goes between tags and contents (a newline for models that know Qwen's
    own format).
    """
    thought = _RESERVED.sub("< ", think.strip())
    parts = [f"{THINK}{separator}{thought}{separator}{THINK_END}"]
    parts += [f"{CALL}{separator}{_call_json(call)}{separator}{CALL_END}" for call in calls]
    return separator.join(parts) + IM_END


def brief(calls: Sequence[ToolCall]) -> str:
    """Calls in one line, as a list of past actions shows them."""
    said = (
        f"{call.name}({', '.join(json.dumps(value, ensure_ascii=False) for value in call.arguments.values())})"
        for call in calls
    )
    return plain(", ".join(said) or "no call", limit=300)


def _call_json(call: ToolCall) -> str:
    reason = check_call(call)
    assert reason is None, f"cannot render a call that the browser would refuse: {reason}"
    arguments = {
        spec.name: call.arguments[spec.name]
        for spec in TOOLS[call.name].arguments
        if spec.name in call.arguments and (spec.default is None or call.arguments[spec.name] != spec.default)
    }
    text = json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)
    return _RESERVED.sub(r"\\u003c", text)


def _read_call(text: str, start: int) -> tuple[ToolCall, int]:
    """The call whose JSON begins at `start`, and where its end tag ends; ValueError says what is wrong."""
    begin = _skip_space(text, start)
    value, end = _DECODER.raw_decode(text, begin)
    end = _skip_space(text, end)
    if not text.startswith(CALL_END, end):
        raise ValueError("no tool_call end tag after the JSON")
    if not isinstance(value, dict) or not set(value) <= {"name", "arguments"} or not isinstance(value.get("name"), str):
        raise ValueError('must be one JSON object with "name" and "arguments"')
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ValueError('"arguments" must be a JSON object')
    json.dumps(arguments, ensure_ascii=False).encode()  # a lone surrogate cannot be typed, stored or tokenised
    call = ToolCall(name=value["name"], arguments=arguments)
    reason = check_call(call)
    if reason is not None:
        raise ValueError(reason)
    return call, end + len(CALL_END)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        around = error.doc[max(error.pos - 20, 0) : error.pos + 20]
        return f"bad JSON: {error.msg.lower()} near {plain(around)!r}"
    if isinstance(error, UnicodeEncodeError):
        return "bad JSON: a lone surrogate in a string"
    return plain(str(error), limit=300)
