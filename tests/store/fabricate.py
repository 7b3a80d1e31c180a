"""Trajectories and screenshots made up for tests of the store, the metrics and the report."""

from __future__ import annotations

import io
import random
from typing import Any

from PIL import Image, ImageDraw

from webdojo.types import (
    Feedback,
    FinishReason,
    ImageRef,
    ImageSegment,
    ImageSink,
    Observation,
    Parsed,
    Prompt,
    Response,
    Reward,
    Tab,
    Task,
    Termination,
    TextSegment,
    ToolCall,
    Trajectory,
    Turn,
)


def page_image(images: ImageSink, seed: int, size: tuple[int, int] = (320, 256), scroll: int = 0) -> ImageRef:
    """A screenshot that looks a little like a shop: bar, title, cards with a button each."""
    rng = random.Random(seed)
    width, height = size
    unit = width / 320
    brand = tuple(rng.randrange(30, 170) for _ in range(3))
    image = Image.new("RGB", size, (250, 250, 248))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, width, 34 * unit), fill=brand)
    draw.text((10 * unit, 8 * unit), f"Site {seed}", fill="white", font_size=15 * unit)
    draw.rectangle((170 * unit, 8 * unit, 300 * unit, 26 * unit), fill="white")
    for index in range(6):
        left = (12 + index % 3 * 102) * unit
        top = (48 + index // 3 * 104 - scroll % 40) * unit
        draw.rounded_rectangle((left, top, left + 92 * unit, top + 94 * unit), 6 * unit, fill="white", outline="#ccc")
        tint = tuple(rng.randrange(120, 240) for _ in range(3))
        draw.rectangle((left + 8 * unit, top + 8 * unit, left + 84 * unit, top + 52 * unit), fill=tint)
        draw.rounded_rectangle((left + 8 * unit, top + 68 * unit, left + 84 * unit, top + 86 * unit), 4, fill=brand)
        draw.text((left + 16 * unit, top + 70 * unit), "Open", fill="white", font_size=12 * unit)
    data = io.BytesIO()
    image.save(data, "JPEG", quality=85)
    return images.put(data.getvalue(), width, height, "image/jpeg")


def observation(image: ImageRef, url: str = "http://shop-3.localhost/") -> Observation:
    tab = Tab(index=0, url=url, title="Shop", active=True)
    return Observation(screenshot=image, url=url, title="Shop", tabs=[tab], viewport_px=(image.width, image.height))


def turn(image: ImageRef, calls: list[ToolCall], think: str = "", error: str | None = None, **more: Any) -> Turn:
    feedback = [Feedback(ok=True, text=f"{call.name} done.") for call in calls]
    return Turn(
        observation=observation(image),
        prompt=Prompt(segments=(TextSegment(ids=tuple(range(40))), ImageSegment(image=image, tokens=80))),
        response=Response(
            ids=list(range(12)), logprobs=[-0.1] * 12, versions=[0] * 12, finish_reason=FinishReason.STOP
        ),
        text=f"<think>{think}</think>",
        parsed=Parsed(think=think, calls=calls, error=error),
        feedback=more.pop("feedback", feedback),
        seconds={"generate": 0.2, "act": 0.1},
    )


def trajectory(
    id: str,
    images: ImageSink,
    *,
    success: bool = True,
    valid: bool = True,
    difficulty: int = 1,
    kind: str = "shop",
    site: int = 3,
    turns: list[Turn] | None = None,
    instruction: str = "Open the page of the Amber Kettle.",
    reason: str = "",
    size: tuple[int, int] = (320, 256),
    **fields: Any,
) -> Trajectory:
    """An episode of three turns unless `turns` says otherwise."""
    host = f"{kind}-{site}.localhost"
    if turns is None:
        turns = [
            turn(
                page_image(images, site, size, scroll=k * 10),
                [ToolCall(name="click", arguments={"x": 150 + 300 * k, "y": 480})],
                f"Step {k}: the button is there.",
            )
            for k in range(3)
        ]
    return Trajectory(
        id=id,
        task=Task(
            id=f"{kind}-{site}-{id}",
            instruction=instruction,
            start_url=f"http://{host}/",
            website=host,
            kind=kind,
            difficulty=difficulty,
        ),
        group=fields.pop("group", f"group-{site}"),
        turns=turns,
        final=observation(page_image(images, site + 500, size)),
        termination=fields.pop("termination", Termination.COMPLETED if success else Termination.MAX_STEPS),
        answer=fields.pop("answer", "42" if success else None),
        reward=Reward(value=float(success), success=success, valid=valid, reason=reason),
        **fields,
    )
