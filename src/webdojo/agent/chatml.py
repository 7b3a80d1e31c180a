"""A model's chat format as prompt segments; ChatML, Qwen's, is that of most families.

Text from a person or a page must pass through `toolcall.plain` first, so that it cannot forge a marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Protocol

from webdojo.agent.toolcall import IM_END
from webdojo.types import ImageRef, ImageSegment, Response, TextSegment, Turn

Segment = TextSegment | ImageSegment


@dataclass(frozen=True)
class ChatFormat:
    """The texts that a chat template puts around what is said. A response ends with `IM_END`, which is how the token
    that ends one is written here in every family."""

    system: tuple[str, str]
    """Before and after the system message."""
    first_user: str
    """Opens the user's first words in a prompt without a system message."""
    user: str
    """Opens the user's first words after a system message."""
    next_user: str
    """Opens the user's words after a response that has ended."""
    user_end: str
    """Ends the user's words."""
    assistant: str
    """Opens a response."""
    image: tuple[str, str]
    """Before and after the tokens of an image."""


CHATML = ChatFormat(
    system=("<|im_start|>system\n", f"{IM_END}\n"),
    first_user="<|im_start|>user\n",
    user="<|im_start|>user\n",
    next_user="\n<|im_start|>user\n",
    user_end=f"{IM_END}\n",
    assistant="<|im_start|>assistant\n",
    image=("<|vision_start|>", "<|vision_end|>"),
)


class Codec(Protocol):
    """Encodes and decodes text, special tokens included (`policy/model/processor.py` for real models)."""

    @property
    def chat(self) -> ChatFormat:
        """How the model's prompts are laid out."""
        ...

    def encode(self, text: str) -> list[int]:
        """The ids of the text; special tokens in it become their ids, and nothing is added."""
        ...

    def decode(self, ids: list[int]) -> str:
        """The text of the ids, special tokens included."""
        ...

    def image_tokens(self, width: int, height: int) -> int:
        """The number of tokens that an image of this size in pixels takes in a prompt."""
        ...


class Chat:
    """Makes segments for one codec; those that every prompt needs are made once. An empty `system` is no message."""

    def __init__(self, codec: Codec, system: str) -> None:
        self._codec = codec
        self.format = codec.chat
        before, after = self.format.system
        self.system = self.text(f"{before}{system}{after}" if system else "")
        self.user = self.format.user if system else self.format.first_user
        """Opens the user's first words."""
        self.turn = self.text(f"{self.format.user_end}{self.format.assistant}")
        """Ends the user's words; the model's response follows."""
        self._before_image, self._after_image = map(self.text, self.format.image)
        self._stop_id = codec.encode(IM_END)[-1]

    def text(self, text: str) -> TextSegment:
        return TextSegment(ids=tuple(self._codec.encode(text)) if text else ())

    def image(self, image: ImageRef) -> tuple[Segment, ...]:
        """An image between its markers."""
        tokens = self._codec.image_tokens(image.width, image.height)
        return self._before_image, ImageSegment(image=image, tokens=tokens), self._after_image

    def after(self, response: Response) -> str:
        """The text that opens the user's words after a response, which may have been cut off."""
        return f"{'' if response.ids[-1:] == [self._stop_id] else IM_END}{self.format.next_user}"


def shared_fraction(turns: Sequence[Turn]) -> float:
    """The share of prompt tokens that an engine has read or written before, because the last turn began with them.

    Prefix caching in engines and packing in training live on this share; what a harness drops or rewrites early in its
    prompts lowers it. An episode of fewer than two turns has 1: nothing would have to be read again.
    """
    read = sum(len(turn.prompt) for turn in turns[1:])
    shared = sum(
        shared_tokens((*before.prompt.segments, TextSegment(ids=tuple(before.response.ids))), after.prompt.segments)
        for before, after in pairwise(turns)
    )
    return shared / read if read else 1.0


def shared_tokens(first: Sequence[Segment], second: Sequence[Segment]) -> int:
    """The length in tokens of the longest common prefix of two sequences of segments; equal images count as equal."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    whole = sum(segment.tokens if isinstance(segment, ImageSegment) else len(segment.ids) for segment in first[:same])
    rest = zip(_tokens(first[same:]), _tokens(second[same:]), strict=False)
    return whole + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], rest))


def _tokens(segments: Iterable[Segment]) -> Iterator[int | tuple[str, int]]:
    for segment in segments:
        if isinstance(segment, ImageSegment):
            yield from ((segment.image.sha, index) for index in range(segment.tokens))
        else:
            yield from segment.ids
