"""A trajectory as a film strip: each screenshot with what the agent did drawn on it.

Points are drawn in the pixels of the screenshot, from the agent's 0..1000 coordinates, so a mark
lies where the browser received the event at any size on the page.
"""

from __future__ import annotations

import base64
import io
import json
from dataclasses import dataclass, field

from PIL import Image

from webdojo.types import Feedback, ImageRef, ImageSource, ToolCall, Trajectory, Turn

MAX_WIDTH_PX = 720
"""Wider screenshots are scaled down, so that a report of large viewports stays easy to send."""
MAX_FRAMES = 12
"""In a report, longer episodes show only this many steps: the first ones and the last four."""


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
    url: str
    image: str
    """The screenshot as a data URL."""
    width: int
    height: int
    marks: list[Mark] = field(default_factory=list)
    think: str = ""
    calls: list[str] = field(default_factory=list)
    feedback: list[Feedback] = field(default_factory=list)
    error: str = ""
    left_out: int = 0
    """The number of steps between the previous frame and this one that are not shown."""


def film(trajectory: Trajectory, images: ImageSource, most: int = MAX_FRAMES) -> list[Frame]:
    """The frames of one episode: at most `most` steps, and the final screen."""
    turns = list(enumerate(trajectory.turns, start=1))
    gap = len(turns) - most
    shown = turns if gap <= 0 else turns[: most - 4] + turns[-4:]
    frames = [_frame(f"Step {step}", turn, images) for step, turn in shown]
    if gap > 0:
        frames[-4].left_out = gap
    if trajectory.final is not None:
        ref = trajectory.final.screenshot
        frames.append(Frame("Final screen", trajectory.final.url, data_url(images, ref), ref.width, ref.height))
    return frames


def marks(calls: list[ToolCall], width: int, height: int) -> list[Mark]:
    """The marks of calls on a screenshot of this size. Calls without a valid point draw nothing."""
    found: list[Mark] = []
    for call in calls:
        a = call.arguments
        at = _point(a, "x", "y", width, height)
        if call.name == "click" and at:
            shape = "double" if a.get("click_type") == "double" else a.get("button", "left")
            found.append(Mark(shape if shape in ("double", "right", "middle") else "click", *at))
        elif call.name == "hover" and at:
            found.append(Mark("hover", *at))
        elif call.name == "drag":
            start, end = _point(a, "x1", "y1", width, height), _point(a, "x2", "y2", width, height)
            if start and end:
                found.append(Mark("drag", *start, *end))
        elif call.name == "scroll":
            x, y = at or (width / 2, height / 2)
            arrow = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}.get(str(a.get("direction")))
            if arrow:
                length = 0.18 * min(width, height)
                found.append(Mark("scroll", x, y, x + arrow[0] * length, y + arrow[1] * length))
    if len(found) > 1:
        for order, mark in enumerate(found, start=1):
            mark.number = order
    return found


def call_text(call: ToolCall) -> str:
    """A call as people write it: `click(x=500, y=480)`."""
    return f"{call.name}({', '.join(f'{k}={json.dumps(v, ensure_ascii=False)}' for k, v in call.arguments.items())})"


def data_url(images: ImageSource, ref: ImageRef) -> str:
    """The screenshot as a data URL, at most `MAX_WIDTH_PX` wide."""
    data, mime = images.get(ref), ref.mime
    if ref.width > MAX_WIDTH_PX:
        with Image.open(io.BytesIO(data)) as image:
            small = image.convert("RGB").resize((MAX_WIDTH_PX, round(ref.height * MAX_WIDTH_PX / ref.width)))
        out = io.BytesIO()
        small.save(out, "JPEG", quality=80)
        data, mime = out.getvalue(), "image/jpeg"
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def _frame(title: str, turn: Turn, images: ImageSource) -> Frame:
    ref = turn.observation.screenshot
    return Frame(
        title=title,
        url=turn.observation.url,
        image=data_url(images, ref),
        width=ref.width,
        height=ref.height,
        marks=marks(turn.parsed.calls, ref.width, ref.height),
        think=turn.parsed.think,
        calls=[call_text(call) for call in turn.parsed.calls],
        feedback=turn.feedback,
        error=turn.parsed.error or "",
    )


def _point(arguments: dict[str, object], x: str, y: str, width: int, height: int) -> tuple[float, float] | None:
    px, py = arguments.get(x), arguments.get(y)
    # A model can write anything here, but the browser carried out only valid points.
    if not isinstance(px, int) or not isinstance(py, int) or not (0 <= px <= 1000 and 0 <= py <= 1000):
        return None
    return px * width / 1000, py * height / 1000
