"""What an agent sees, as a member of a Gymnasium space. Texts longer than the space are cut, and end in `…`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from PIL import Image

from webdojo.gym.texts import AnyText
from webdojo.types import Observation, Tab

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
        feedback: to the last action.
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
    """An encoded image as height × width × RGB."""
    return np.array(Image.open(io.BytesIO(picture)).convert("RGB"))


def _lines(tabs: Sequence[Tab]) -> str:
    return "\n".join(f"{tab.index} {'* ' if tab.active else ''}{tab.url} {tab.title}".rstrip() for tab in tabs)
