"""A trajectory as a film strip: each screenshot with what the agent did drawn on it.

A mark is drawn in pixels of the screenshot, from the agent's 0..1000 coordinates: where the browser received the event.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PIL import Image

from webdojo.redact import redact
from webdojo.types import ImageRef, ImageSource, Observation, ToolCall, Trajectory, Turn
from webdojo.view.page import TEMPLATES, page, write_page

MAX_WIDTH_PX = 720
"""Wider screenshots are scaled down, so that a report of large viewports stays easy to send."""
MOST_PIXELS = 40_000_000
"""A larger image is not shown: a browser that decodes it takes 4 bytes a pixel."""
MAX_FRAMES = 12
"""In a report, longer episodes show only this many steps: the first ones and the last four."""
MAX_TYPED = 80
"""Characters of a typed text that are drawn on a screenshot."""
_FORMATS = {"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WEBP"}
_ARROWS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


@dataclass
class Mark:
    """Something drawn on a screenshot; coordinates in its pixels."""

    shape: str
    """`click`, `double`, `right`, `middle`, `hover`, `drag` or `scroll`."""
    x: float
    y: float
    x2: float = 0
    y2: float = 0
    """The end of the arrow of a `drag` or `scroll`."""
    number: int = 0
    """The order among the marks of a frame; 0 if it is the only one."""


@dataclass
class Frame:
    """One step, or the screen after the last one."""

    title: str
    seen: Observation
    turn: Turn | None = None
    """What the agent did; None for the final screen."""
    left_out: int = 0
    """The number of steps between the previous frame and this one that are not shown."""


def write_trajectory(trajectory: Trajectory, images: ImageSource, path: Path) -> Path:
    """Write every step of one episode to `path` and return it; a verdict is not needed."""
    return write_trajectories([trajectory], images, path)


def write_trajectories(trajectories: Sequence[Trajectory], images: ImageSource, path: Path) -> Path:
    """Write every step of some episodes to one file and return it."""
    return write_page(path, "trajectory.html.j2", films=_films(trajectories, images))


def trajectories_page(trajectories: Sequence[Trajectory], images: ImageSource) -> str:
    """The page that `write_trajectories` writes."""
    return page("trajectory.html.j2", films=_films(trajectories, images))


def _films(
    trajectories: Sequence[Trajectory], images: ImageSource
) -> list[tuple[Trajectory, list[Frame], ImageSource]]:
    masked = [redact(each, each.secrets) for each in trajectories]
    return [(each, film(each, most=len(each.turns)), images) for each in masked]


def film(trajectory: Trajectory, most: int = MAX_FRAMES) -> list[Frame]:
    """The frames of one episode: at most `most` steps, and the final screen."""
    frames = [Frame(f"Step {step}", turn.observation, turn) for step, turn in enumerate(trajectory.turns, start=1)]
    if (gap := len(frames) - most) > 0:
        frames[most - 4 : -4] = []
        frames[-4].left_out = gap
    return frames + ([Frame("Final screen", trajectory.final)] if trajectory.final is not None else [])


def marks(calls: list[ToolCall], width: int, height: int) -> list[Mark]:
    """The marks of calls on a screenshot of this size. Calls without a valid point draw nothing."""

    def point(x: str, y: str) -> tuple[float, float] | None:
        px, py = a.get(x), a.get(y)
        # A model can write anything here, but the browser carried out only valid points.
        if not isinstance(px, int) or not isinstance(py, int) or not (0 <= px <= 1000 and 0 <= py <= 1000):
            return None
        return px * width / 1000, py * height / 1000

    found: list[Mark] = []
    for call in calls:
        a = call.arguments
        at = point("x", "y")
        if call.name == "click" and at:
            shape = "double" if a.get("click_type") == "double" else a.get("button")
            found.append(Mark(shape if shape in ("double", "right", "middle") else "click", *at))
        elif call.name == "hover" and at:
            found.append(Mark("hover", *at))
        elif call.name == "drag" and (start := point("x1", "y1")) and (end := point("x2", "y2")):
            found.append(Mark("drag", *start, *end))
        elif call.name == "scroll" and (arrow := _ARROWS.get(str(a.get("direction")))):
            x, y = at or (width / 2, height / 2)
            length = 0.18 * min(width, height)
            found.append(Mark("scroll", x, y, x + arrow[0] * length, y + arrow[1] * length))
    if len(found) > 1:
        for order, mark in enumerate(found, start=1):
            mark.number = order
    return found


def typed_texts(calls: list[ToolCall]) -> list[str]:
    """What calls type: texts, and the names of keys."""
    texts: list[str] = []
    for call in calls:
        if call.name == "write":
            texts.append(str(call.arguments.get("text", ""))[:MAX_TYPED])
        elif call.name == "press_keys":
            keys = call.arguments.get("keys")
            texts.append((" ".join(map(str, keys)) if isinstance(keys, list) else str(keys))[:MAX_TYPED])
    return [text for text in texts if text.strip()]


def call_text(call: ToolCall) -> str:
    """A call as people write it: `click(x=500, y=480)`."""
    return f"{call.name}({', '.join(f'{k}={json.dumps(v, ensure_ascii=False)}' for k, v in call.arguments.items())})"


def opened(data: bytes, mime: str) -> Image.Image | None:
    """An image that has yet to be decoded; None where it is none of its type, or larger than any screen."""
    try:
        image = Image.open(io.BytesIO(data), formats=[_FORMATS[mime]])
    except (KeyError, OSError, Image.DecompressionBombError):
        return None
    return image if image.width * image.height <= MOST_PIXELS else None


def data_url(images: ImageSource, ref: ImageRef) -> str:
    """The screenshot as a data URL, at most `MAX_WIDTH_PX` wide; empty where it cannot be shown."""
    data, mime = images.get(ref), ref.mime
    image = opened(data, mime)
    if image is None:
        return ""
    if image.width > MAX_WIDTH_PX:
        size = (MAX_WIDTH_PX, max(1, round(image.height * MAX_WIDTH_PX / image.width)))
        out = io.BytesIO()
        try:
            image.convert("RGB").resize(size).save(out, "JPEG", quality=80)
        except OSError:  # its end is missing
            return ""
        data, mime = out.getvalue(), "image/jpeg"
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def data_urls(images: ImageSource) -> Callable[[ImageRef], str]:
    """What gives screenshots as data URLs."""
    return partial(data_url, images)


TEMPLATES.globals |= {"marks": marks, "typed_texts": typed_texts, "call_text": call_text, "data_urls": data_urls}
