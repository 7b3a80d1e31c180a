"""The response format `<think>…</think>` followed by `<tool_call>{json}</tool_call>` blocks.

`parse` is linear in the length of its text, and reads back unchanged what `render` writes. Text from tasks and pages
passes through `plain`, so that a page cannot forge the markers of the protocol (a title with `<|im_end|>` in it would
otherwise end the user's turn).
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

_MARKERS = (
    "think|tools|tool_call|tool_response|bos|eos|(?:start|end)_of_(?:turn|image)|image_soft_token|img|IMG_CONTEXT"
)
"""Those that have no bars, of all model families that are known."""
_RESERVED = re.compile(rf"<(?=\|[^|<>\s]{{1,40}}\|>|/?(?:{_MARKERS})>)")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def plain(text: str, limit: int = 2000) -> str:
    """Foreign text in one line: whitespace collapsed, cut to `limit` characters, markers broken by a space."""
    line = " ".join(text.split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return unmarked(line)


def unmarked(text: str) -> str:
    """Foreign text with its lines as they are and markers broken by a space."""
    return _RESERVED.sub("< ", text)


def dumps(value: object) -> str:
    """JSON in one line without any marker."""
    return _RESERVED.sub(r"\\u003c", json.dumps(value, ensure_ascii=False))


def read_json(text: str, start: int) -> tuple[Any, int]:
    """Parse the JSON value that begins after the white space at `start`, and return it with its end.

    Raises ValueError or RecursionError (see `reason`), also for a value that cannot be stored or tokenised.
    """
    value, end = _DECODER.raw_decode(text, skip_space(text, start))
    json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate cannot be typed, stored or tokenised
    return value, end


def read_block(text: str, start: int) -> tuple[str, dict[str, Any], int]:
    """Parse the call whose JSON begins at `start`: its name, its arguments, and the end of its end tag.

    Raises as `read_json` does.
    """
    value, end = read_json(text, start)
    end = skip_space(text, end)
    if not text.startswith(CALL_END, end):
        raise ValueError("no tool_call end tag after the JSON")
    if not isinstance(value, dict) or not set(value) <= {"name", "arguments"} or not isinstance(value.get("name"), str):
        raise ValueError('must be one JSON object with "name" and "arguments"')
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ValueError('"arguments" must be a JSON object')
    return value["name"], arguments, end + len(CALL_END)


def reason(error: ValueError | RecursionError) -> str:
    """Why JSON or a call could not be read, in one line."""
    if isinstance(error, RecursionError):  # JSON nested thousands deep
        return "JSON nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        around = error.doc[max(error.pos - 20, 0) : error.pos + 20]
        return f"bad JSON: {error.msg.lower()} near {plain(around)!r}"
    if isinstance(error, UnicodeEncodeError):
        return "bad JSON: a lone surrogate in a string"
    return plain(str(error), limit=300)


def parse(text: str) -> Parsed:
    """Parse a response (OpenWebRL A.4: a thinking end tag and a parseable call).

    The opening `<think>` may be missing, since some chat templates put it into the prompt. Text between and after
    the calls is ignored; calls before a bad one are kept, and nothing after it is read. Never raises.
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
            name, arguments, position = read_block(rest, position + len(CALL))
            call = ToolCall(name=name, arguments=arguments)
            if (wrong := check_call(call)) is not None:
                raise ValueError(wrong)
        except (ValueError, RecursionError) as error:
            parsed.error = f"tool call {len(parsed.calls) + 1}: {reason(error)}"
            break
        parsed.calls.append(call)
        position = rest.find(CALL, position)
    return parsed


def render(think: str, calls: Sequence[ToolCall], separator: str = "") -> str:
    """The canonical text of a response, ending in `<|im_end|>`.

    Arguments are in the order of the tool's signature, and those that equal their default are left
    out. `separator` stands between tags and contents (a newline for models that know Qwen's format).
    """
    thought = unmarked(think.strip())
    parts = [f"{THINK}{separator}{thought}{separator}{THINK_END}"]
    parts += [f"{CALL}{separator}{_call_json(call)}{separator}{CALL_END}" for call in calls]
    return separator.join(parts) + IM_END


def brief(calls: Sequence[ToolCall]) -> str:
    """Calls in one line, for lists of past actions."""
    said = (
        f"{call.name}({', '.join(json.dumps(value, ensure_ascii=False) for value in call.arguments.values())})"
        for call in calls
    )
    return plain(", ".join(said) or "no call", limit=300)


def _call_json(call: ToolCall) -> str:
    wrong = check_call(call)
    assert wrong is None, f"cannot render a call that the browser would refuse: {wrong}"
    arguments = {
        name: call.arguments[name]
        for name, schema in TOOLS[call.name].arguments.items()
        if name in call.arguments and call.arguments[name] != schema.get("default")
    }
    return dumps({"name": call.name, "arguments": arguments})


def skip_space(text: str, position: int) -> int:
    """The end of the JSON white space that begins at `position`."""
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position
