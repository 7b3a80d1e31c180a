"""Observations as members of a Gymnasium space. Texts that are too long for the space are cut, and end in `…`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from PIL import Image

from webdojo.types import Observation, Tab

_PRINTABLE_ASCII = "".join(chr(code) for code in range(32, 127))


class AnyText(spaces.Text):
    """Strings of up to `max_length` characters of any script, since pages and what agents type are not ASCII alone.

    Samples are printable ASCII.
    """

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=_PRINTABLE_ASCII)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"

    def clip(self, text: str) -> str:
        """Cut a text to the longest that the space holds; a text that was cut ends in `…`."""
        return text if len(text) <= self.max_length else text[: self.max_length - 1] + "…"


TEXTS = {
    "url": AnyText(2048),
    "title": AnyText(512),
    "tabs": AnyText(8192),
    "instruction": AnyText(8192),
    "feedback": AnyText(2048),
}
"""`tabs` has one line a tab, `0 * http://… Title`, where the star marks the active one. `feedback` says what the last
action did; it is empty after a reset."""


def observation_space(viewport_px: tuple[int, int]) -> spaces.Dict:
    """The space for a viewport of this width and height: `screenshot` (uint8, height × width × RGB) and `TEXTS`."""
    width, height = viewport_px
    return spaces.Dict({"screenshot": spaces.Box(0, 255, (height, width, 3), np.uint8), **deepcopy(TEXTS)})


def observe(seen: Observation, picture: bytes, instruction: str, feedback: str) -> dict[str, Any]:
    """A member of `observation_space(seen.viewport_px)`.

    Args:
        picture: the encoded screenshot.
        feedback: the feedback on the last action.
    """
    texts = {
        "url": seen.url,
        "title": seen.title,
        "tabs": _lines(seen.tabs),
        "instruction": instruction,
        "feedback": feedback,
    }
    return {"screenshot": pixels(picture)} | {name: space.clip(texts[name]) for name, space in TEXTS.items()}


def pixels(picture: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Decode an image into an array of height × width × RGB."""
    return np.array(Image.open(io.BytesIO(picture)).convert("RGB"))


def _lines(tabs: Sequence[Tab]) -> str:
    return "\n".join(f"{tab.index} {'* ' if tab.active else ''}{tab.url} {tab.title}".rstrip() for tab in tabs)
