"""Qwen's chat format (ChatML) as prompt segments: each piece of text is tokenised once, here.

All registered model families share it. What a person or a page wrote must pass through
`toolcall.plain` first, so that it cannot forge a marker.
"""

from __future__ import annotations

from collections.abc import Iterable

from webdojo.agent.harness import Codec
from webdojo.agent.toolcall import IM_END
from webdojo.types import ImageRef, ImageSegment, Prompt, Response, TextSegment

Segment = TextSegment | ImageSegment

USER = "<|im_start|>user\n"
"""Opens what the user says; `NEXT_USER` where the model's response stands before it."""
NEXT_USER = f"\n{USER}"


class ChatML:
    """Segments of one codec, with those that every prompt needs made once.

    Args:
        codec: of the model that will read them.
        system: the system prompt.
    """

    def __init__(self, codec: Codec, system: str) -> None:
        self._codec = codec
        self.system = self.text(f"<|im_start|>system\n{system}{IM_END}\n")
        self.turn = self.text(f"{IM_END}\n<|im_start|>assistant\n")
        """Ends the user's words; the model's response comes next."""
        self._vision_start = self.text("<|vision_start|>")
        self._vision_end = self.text("<|vision_end|>")
        self._im_end_id = codec.encode(IM_END)[-1]

    def text(self, text: str) -> TextSegment:
        return TextSegment(ids=tuple(self._codec.encode(text)))

    def image(self, image: ImageRef) -> tuple[Segment, ...]:
        """An image between its markers."""
        tokens = self._codec.image_tokens(image.width, image.height)
        return self._vision_start, ImageSegment(image=image, tokens=tokens), self._vision_end

    def ended(self, response: Response) -> bool:
        """False where sampling stopped before the model closed its turn."""
        return bool(response.ids) and response.ids[-1] == self._im_end_id

    def after(self, response: Response) -> str:
        """What opens the user's words after a response, which may have been cut off."""
        return NEXT_USER if self.ended(response) else f"{IM_END}{NEXT_USER}"

    @staticmethod
    def prompt(segments: Iterable[Segment]) -> Prompt:
        """The segments joined, those without any tokens left out."""
        return Prompt(segments=tuple(s for s in segments if isinstance(s, ImageSegment) or s.ids))
