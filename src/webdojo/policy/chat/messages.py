"""Prompts as the messages of OpenAI's chat API.

A harness writes ChatML; its segments are decoded and cut at the markers, so every harness can talk
to an endpoint. What it put behind the last `<|im_start|>assistant` (an opened thought) stays out,
because endpoints begin their answers themselves.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from webdojo.agent.harness import Codec
from webdojo.agent.toolcall import IM_END
from webdojo.errors import EngineError
from webdojo.types import ImageRef, ImageSegment, ImageSource, Prompt

Message = dict[str, Any]
"""One message of a chat, in OpenAI's form."""

IM_START = "<|im_start|>"
ROLES = ("system", "user", "assistant")

_MARKERS = re.compile(r"(<\|im_start\|>|<\|im_end\|>|<\|vision_start\|>|<\|vision_end\|>)")
_MARKER_LIKE = re.compile(r"<(?=\|[^|<>\s]{1,40}\|>)")


def messages_of(prompt: Prompt, codec: Codec, images: ImageSource) -> list[Message]:
    """The messages that a prompt consists of, images as data URLs.

    Raises:
        EngineError: the prompt is no ChatML that ends where the assistant is to speak.
    """
    return conversation(prompt, codec, lambda image: image_part(image, images))


def conversation(prompt: Prompt, codec: Codec, show: Callable[[ImageRef], Message]) -> list[Message]:
    """As `messages_of`, with `show` to make the part of a message that is an image."""
    turns = list(_turns(prompt, codec))
    if not turns or turns[-1].closed or turns[-1].role != "assistant":
        raise EngineError("this prompt does not end with an opened assistant turn, so an endpoint cannot go on with it")
    if any(not turn.closed for turn in turns[:-1]):
        raise EngineError("a turn of this prompt begins before the last one ended, so it is no ChatML")
    return [{"role": turn.role, "content": _content(turn.parts, show)} for turn in turns[:-1]]


def text_part(text: str) -> Message:
    """A piece of text in a message of several parts."""
    return {"type": "text", "text": text}


def image_part(image: ImageRef, images: ImageSource) -> Message:
    """A screenshot in a message of several parts, as a data URL of the bytes as they are stored."""
    data = base64.b64encode(images.get(image)).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{data}"}}


def break_markers(text: str) -> str:
    """Foreign text in which no `<|marker|>` can be taken for one of the protocol."""
    return _MARKER_LIKE.sub("< ", text)


@dataclass
class _Turn:
    role: str
    parts: list[str | ImageRef] = field(default_factory=list)
    closed: bool = False


def _turns(prompt: Prompt, codec: Codec) -> Iterator[_Turn]:
    turn: _Turn | None = None
    for piece in _pieces(prompt, codec):
        if piece == IM_START:
            if turn is not None:
                yield turn
            turn = _Turn("")
        elif turn is None or turn.closed:
            if isinstance(piece, ImageRef) or piece.strip():
                what = "an image" if isinstance(piece, ImageRef) else repr(piece[:40])
                raise EngineError(f"{what} stands outside the turns of this prompt, so it is no ChatML")
        elif piece == IM_END:
            turn.closed = True
        elif not turn.role:
            role, _, begun = (piece if isinstance(piece, str) else "").partition("\n")
            if role not in ROLES:
                raise EngineError(f"a turn of this prompt has the role {role[:40]!r}; known: {', '.join(ROLES)}")
            turn.role, turn.parts = role, [begun] if begun else []
        elif isinstance(piece, str) and turn.parts and isinstance(turn.parts[-1], str):
            turn.parts[-1] += piece
        else:
            turn.parts.append(piece)
    if turn is not None:
        yield turn


def _pieces(prompt: Prompt, codec: Codec) -> Iterator[str | ImageRef]:
    """Markers, texts between them, and images. An image's own two markers vanish: its place says enough."""
    for segment in prompt.segments:
        if isinstance(segment, ImageSegment):
            yield segment.image
        else:
            texts = _MARKERS.split(codec.decode(list(segment.ids)))
            yield from (text for text in texts if text and not text.startswith("<|vision_"))


def _content(parts: list[str | ImageRef], show: Callable[[ImageRef], Message]) -> str | list[Message]:
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return "".join(texts)
    return [text_part(part) if isinstance(part, str) else show(part) for part in parts]
