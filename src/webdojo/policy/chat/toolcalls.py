"""Native tool calls: an endpoint's `tool_calls` as the text that a harness reads, and the other way round.

The 13 tools are those of the `openwebrl` harness, so the text is of its form (`agent.toolcall`). The
harness keeps text alone: an answer that calls tools is written as text, and an earlier answer goes back
to the endpoint as the calls that it was. What the browser said stands in the user message after them,
as always; the `tool` messages that the API wants point there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from webdojo.agent.toolcall import CALL, CALL_END, THINK, THINK_END, parse, render
from webdojo.browser.tools import TOOLS, check_call, json_schema
from webdojo.policy.chat.answer import Answer, NativeCall
from webdojo.policy.chat.messages import Message
from webdojo.types import Parsed, ToolCall

TOOL_DEFINITIONS = [json_schema(name) for name in TOOLS]
"""The `tools` parameter: all 13 tools."""

_RESULT = "See the next message."


def with_calls(messages: Sequence[Message]) -> list[Message]:
    """The same messages, with tool calls in place of assistant texts that make some."""
    out: list[Message] = []
    for index, message in enumerate(messages):
        content = message["content"]
        parsed = parse(content) if message["role"] == "assistant" and isinstance(content, str) else Parsed()
        if parsed.error is not None or not parsed.calls:
            out.append(message)
            continue
        made = [
            {
                "id": f"call_{index}_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for number, call in enumerate(parsed.calls)
        ]
        out.append({"role": "assistant", "content": parsed.think, "tool_calls": made})
        out += [{"role": "tool", "tool_call_id": call["id"], "content": _RESULT} for call in made]
    return out


def text_of(answer: Answer) -> str:
    """What the harness would have read if the model had written its calls as text.

    Calls that no tool accepts are written as they came, so that the harness says what is wrong with them.
    """
    if not answer.tool_calls:
        return answer.text
    spoken = parse(answer.text).think or answer.text
    think = answer.reasoning or spoken
    calls = [_read(call) for call in answer.tool_calls]
    good = [call for call in calls if call is not None]
    if len(good) == len(calls):
        return render(think, good, separator="\n")
    written = [
        f'{CALL}\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}\n{CALL_END}'
        for call in answer.tool_calls
    ]
    return "\n".join([f"{THINK}\n{think}\n{THINK_END}", *written])


def _read(native: NativeCall) -> ToolCall | None:
    """The call, if a tool accepts it."""
    try:
        arguments: Any = json.loads(native.arguments or "{}")
        json.dumps(arguments, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(arguments, dict):
        return None
    call = ToolCall(name=native.name, arguments=arguments)
    return call if check_call(call) is None else None
