"""Messages as a prompt: by the checkpoint's own chat template, else as plain ChatML.

A message stands between its markers as it is, but for `<|marker|>`s inside it, which are broken, so
that no text can end its turn. Segments end where messages end, so that a chat that goes on shares its
beginning with what the engine has read before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError

from webdojo.agent.toolcall import IM_END
from webdojo.policy.chat.messages import IM_START, break_markers
from webdojo.policy.layouts import IMAGE_TOKEN
from webdojo.policy.processor import Processor
from webdojo.policy.serve.wire import ApiError, ChatMessage, TextPart
from webdojo.types import ImageRef, ImageSegment, Prompt, TextSegment

_SEAMS = re.compile(rf"({re.escape(IMAGE_TOKEN)})|(?<={re.escape(IM_END)}\n)")


def image_urls(messages: Sequence[ChatMessage]) -> list[str]:
    """Addresses of all images, in the order in which they are shown."""
    parts = [part for message in messages if not isinstance(message.content, str) for part in message.content]
    return [part.image_url.url for part in parts if not isinstance(part, TextPart)]


def prompt_of(messages: Sequence[ChatMessage], images: Sequence[ImageRef], processor: Processor) -> Prompt:
    """The prompt after which the assistant speaks.

    Args:
        images: one for each of `image_urls(messages)`.

    Raises:
        ApiError: the chat template refuses these messages, or shows other images than they have.
        ModelError: an image has sides that the model cannot read.
    """
    text = _templated(messages, processor) if processor.tokenizer.chat_template else _chatml(messages)
    left = list(images)
    segments: list[TextSegment | ImageSegment] = []
    for piece in _SEAMS.split(text):
        if piece == IMAGE_TOKEN:
            if not left:
                break
            image = left.pop(0)
            segments.append(ImageSegment(image=image, tokens=processor.image_tokens(image.width, image.height)))
        elif piece:
            segments.append(TextSegment(ids=tuple(processor.encode(piece))))
    shown = text.count(IMAGE_TOKEN)
    if shown != len(images):
        raise ApiError(
            400, f"the messages have {len(images)} images, but the model's template shows {shown}", param="messages"
        )
    return Prompt(segments=tuple(segments))


def _chatml(messages: Sequence[ChatMessage]) -> str:
    turns = [f"{IM_START}{message.role}\n{_plain(message)}{IM_END}\n" for message in messages]
    return "".join(turns) + f"{IM_START}assistant\n"


def _plain(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return break_markers(message.content)
    picture = f"<|vision_start|>{IMAGE_TOKEN}<|vision_end|>"
    return "".join(break_markers(p.text) if isinstance(p, TextPart) else picture for p in message.content)


def _templated(messages: Sequence[ChatMessage], processor: Processor) -> str:
    plain: list[dict[str, Any]] = [{"role": message.role, "content": _for_template(message)} for message in messages]
    try:
        text = processor.tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=True)
    except TemplateError as error:
        raise ApiError(400, f"the model's chat template refuses these messages: {error}", param="messages") from None
    assert isinstance(text, str)
    return text


def _for_template(message: ChatMessage) -> str | list[dict[str, str]]:
    """Text alone is a string, which the templates of text models need."""
    content = message.content
    if isinstance(content, str):
        return break_markers(content)
    texts = [part.text for part in content if isinstance(part, TextPart)]
    if len(texts) == len(content):
        return break_markers("".join(texts))
    return [
        {"type": "text", "text": break_markers(part.text)} if isinstance(part, TextPart) else {"type": "image"}
        for part in content
    ]
