"""An endpoint as the `Engine` of an episode: prompts as messages of OpenAI's chat API, and answers as text and ids.

A harness writes ChatML; its segments are decoded and cut at the markers, so every harness can talk
to an endpoint. What it put behind the last `<|im_start|>assistant` (an opened thought) stays out,
because endpoints begin their answers themselves.

With native tool calls, the 13 tools are those of the `openwebrl` harness, so the text is of its form
(`agent.toolcall`). The harness keeps text alone: an answer that calls tools is written as text, and an
earlier answer goes back to the endpoint as the calls that it was. What the browser said stands in the
user message after them, as always; the `tool` messages that the API wants point there.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence

from webdojo.agent.harness import Codec
from webdojo.agent.toolcall import CALL, CALL_END, IM_END, THINK, THINK_END, parse, render, unmarked
from webdojo.browser.tools import TOOLS, json_schema
from webdojo.errors import EngineError
from webdojo.policy.chat.client import ChatClient, Message
from webdojo.policy.chat.endpoint import Answer
from webdojo.policy.data_url import data_url
from webdojo.types import FinishReason, ImageRef, ImageSegment, ImageSource, Parsed, Prompt, Response, Sampling

TOOL_DEFINITIONS = [json_schema(name) for name in TOOLS]
"""The `tools` parameter: all 13 tools."""

ROLES = ("system", "user", "assistant")

_IMAGE = "\ud800"
"""Stands for an image in decoded text, which never holds half a character."""
_VISION = re.compile(r"<\|vision_(?:start|end)\|>")
_MARKER_LIKE = re.compile(r"<(?=\|[^|<>\s]{1,40}\|>)")


class ChatEngine:
    """Answers prompts of any harness through a `ChatClient`.

    The answer's text is encoded by the harness's codec. So ids are not those that the endpoint's model
    sampled, there may be more of them than `sampling.max_tokens`, which the endpoint counts in its own
    way, and `logprobs` and `versions` are zeros.
    """

    def __init__(self, client: ChatClient, codec: Codec, images: ImageSource) -> None:
        self._client = client
        self._codec = codec
        self._images = images

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        started = time.perf_counter()
        sampling = sampling.model_copy(update={"top_k": 0})  # most endpoints refuse it; `extra_body` may set it
        messages = messages_of(prompt, self._codec, self._images)
        native = self._client.config.native_tools
        asked, tools = (with_calls(messages), TOOL_DEFINITIONS) if native else (messages, [])
        answer = await self._client.complete(asked, sampling, tools)
        text = break_markers((text_of(answer) if native else answer.text).removesuffix(IM_END))
        if answer.finish_reason is FinishReason.STOP:
            text += IM_END
        ids = self._codec.encode(text.encode(errors="replace").decode())  # half a character cannot be tokenised
        return Response(
            ids=ids,
            logprobs=[0.0] * len(ids),
            versions=[0] * len(ids),
            finish_reason=answer.finish_reason,
            seconds={"total": time.perf_counter() - started},
        )


def messages_of(prompt: Prompt, codec: Codec, images: ImageSource) -> list[Message]:
    """The messages that a prompt consists of, images as data URLs of the bytes as they are stored."""

    def show(image: ImageRef) -> Message:
        return {"type": "image_url", "image_url": {"url": data_url(images.get(image), image.mime)}}

    return conversation(prompt, codec, show)


def conversation(prompt: Prompt, codec: Codec, show: Callable[[ImageRef], Message]) -> list[Message]:
    """As `messages_of`, with `show` to make the part of a message that is an image."""
    pieces = (_IMAGE if isinstance(s, ImageSegment) else codec.decode(list(s.ids)) for s in prompt.segments)
    outside, *texts = _VISION.sub("", "".join(pieces)).split("<|im_start|>")
    turns = []
    for text in texts:
        said, end, after = text.partition(IM_END)
        role, _, content = said.partition("\n")
        if role not in ROLES:
            raise EngineError(f"a turn of this prompt has the role {role[:40]!r}; known: {', '.join(ROLES)}")
        turns.append((role, content, end))
        outside += after
    if stray := outside.strip():
        what = "an image" if stray.startswith(_IMAGE) else repr(stray[:40])
        raise EngineError(f"{what} stands outside the turns of this prompt, so it is no ChatML")
    if not turns or turns[-1][0] != "assistant" or turns[-1][2]:
        raise EngineError("this prompt does not end with an opened assistant turn, so an endpoint cannot go on with it")
    if not all(end for _, _, end in turns[:-1]):
        raise EngineError("a turn of this prompt begins before the last one ended, so it is no ChatML")
    images = iter(prompt.images)
    messages: list[Message] = []
    for role, content, _ in turns[:-1]:
        parts = [part for part in re.split(f"({_IMAGE})", content) if part]
        shown = [show(next(images)) if part == _IMAGE else text_part(part) for part in parts]
        messages.append({"role": role, "content": shown if _IMAGE in content else content})
    return messages


def text_part(text: str) -> Message:
    return {"type": "text", "text": text}


def break_markers(text: str) -> str:
    """Foreign text in which no `<|marker|>` can be taken for one of the protocol."""
    return _MARKER_LIKE.sub("< ", text)


def with_calls(messages: Sequence[Message]) -> list[Message]:
    """The same messages, with tool calls in place of assistant texts that make some."""
    out: list[Message] = []
    for index, message in enumerate(messages):
        content = message["content"]
        parsed = parse(content) if message["role"] == "assistant" and isinstance(content, str) else Parsed()
        if parsed.error is not None or not parsed.calls:
            said_alone = parsed.think and CALL not in content
            out.append(message | {"content": parsed.think} if said_alone else message)
            continue
        said: Message = {"role": "assistant", "content": parsed.think, "tool_calls": []}
        out.append(said)
        for number, call in enumerate(parsed.calls):
            id, function = f"call_{index}_{number}", {"name": call.name, "arguments": json.dumps(call.arguments)}
            said["tool_calls"].append({"id": id, "type": "function", "function": function})
            out.append({"role": "tool", "tool_call_id": id, "content": "See the next message."})
    return out


def text_of(answer: Answer) -> str:
    """What the harness would have read if the model had written its calls as text.

    Calls that no tool accepts are written as they came, so that the harness says what is wrong with them; a model that
    writes its calls as text all the same is read as it is.
    """
    if CALL in answer.text and not answer.tool_calls:
        return answer.text
    spoken = answer.text.replace(THINK, "").replace(THINK_END, "").strip()
    thoughts = [answer.reasoning or spoken] if answer.tool_calls else filter(None, [answer.reasoning, spoken])
    text = "\n".join([THINK, *map(unmarked, thoughts), THINK_END])
    for call in answer.tool_calls:
        arguments = (call.arguments or "{}").replace(IM_END, "\\u003c|im_end|>")
        text += f'\n{CALL}\n{{"name": {json.dumps(call.name)}, "arguments": {arguments}}}\n{CALL_END}'
    parsed = parse(text)
    return text if parsed.error else render(parsed.think, parsed.calls, separator="\n")
