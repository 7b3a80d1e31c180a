"""Turns as the harnesses make them, over made-up pages: real prompts and responses without a browser or a policy."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator

import numpy as np
from PIL import Image

from webdojo.agent.harness import Harness, HarnessConfig
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.agent.openwebvoyager import OpenWebVoyagerConfig
from webdojo.agent.webagent_r1 import WebAgentR1Config
from webdojo.agent.webgym import WebGymConfig
from webdojo.errors import HarnessError
from webdojo.policy.model.collate import Sequence_
from webdojo.types import (
    Feedback,
    FinishReason,
    ImageRef,
    ImageSink,
    Observation,
    Response,
    Tab,
    Task,
    ToolCall,
)

HARNESSES: dict[str, HarnessConfig] = {
    "openwebrl": OpenWebRLConfig(tool_schemas="signature"),
    "webgym": WebGymConfig(name="webgym", history_turns=2, screenshots_kept=2),
    "webgym without memory": WebGymConfig(name="webgym", memory=False),
    "webagent_r1": WebAgentR1Config(name="webagent_r1"),
    "openwebvoyager": OpenWebVoyagerConfig(name="openwebvoyager"),
}
"""The agents of the papers, with the contexts that they keep: one screenshot and all words, a window and a memory, the
same without memory, pages as text, and three screenshots with a tree."""

TASK = Task(
    id="shop-3/mug",
    instruction="Find the price of the red mug and tell it.",
    start_url="http://shop-3.localhost/",
    website="shop-3.localhost",
    kind="shop",
)
CLICK = ToolCall(name="click", arguments={"x": 450, "y": 250})
WRITE = ToolCall(name="write", arguments={"text": "red mug"})
ENTER = ToolCall(name="press_keys", arguments={"keys": ["Enter"]})
STEPS = (
    ("Look for it. The search field is at the top.", [CLICK, WRITE, ENTER]),
    ("Look for it. Price of the red mug is $9. That is all.", [CLICK]),
    (
        "Look for it. It must be further down.",
        [ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})],
    ),
    ("Look for it. This is the wrong page.", [ToolCall(name="go_back")]),
    ("Look for it. The page is not there yet.", [ToolCall(name="wait", arguments={"seconds": 2})]),
)
"""What an agent may think and do next."""


def group_turns(
    harness: Harness, images: ImageSink, members: int, turns: int, *, repeated: bool, seed: int = 0
) -> list[Sequence_]:
    """The turns of a group of episodes of one task, member after member.

    All members begin with the same screen, and each goes its own way. A turn may be malformed, and the last one of a
    member is cut off.

    Args:
        repeated: screens stay as they are for two turns and are the same for every member; else all differ, the first
            ones too.
    """
    return [
        sequence
        for member in range(members)
        for sequence in _episode(harness, images, turns, 0 if repeated else member, repeated, f"{seed}/{member}")
    ]


def _episode(
    harness: Harness, images: ImageSink, turns: int, site: int, repeated: bool, seed: str
) -> Iterator[Sequence_]:
    rng = random.Random(seed)

    def screen(turn: int) -> Observation:
        return _screen(images, 1000 * site + (turn // 2 if repeated else turn))

    conversation = harness.start(TASK, screen(0))
    for turn in range(turns):
        prompt = conversation.prompt(10**6)
        ids = harness.codec.encode(_said(harness, rng))
        finish = FinishReason.STOP
        if turn == turns - 1:
            ids, finish = ids[: max(len(ids) // 2, 1)], FinishReason.LENGTH
        yield prompt, ids
        parsed = conversation.parse(harness.codec.decode(ids))
        feedback = [Feedback(ok=rng.random() < 0.8, text=f"{call.name}: done.") for call in parsed.calls]
        response = Response(ids=ids, logprobs=[-1.0] * len(ids), versions=[0] * len(ids), finish_reason=finish)
        conversation.add(response, parsed, feedback, screen(turn + 1))


def _said(harness: Harness, rng: random.Random) -> str:
    """A response, in the words of the harness."""
    if rng.random() < 0.15:
        return "I do not know what to do.<|im_end|>"
    while True:
        think, calls = rng.choice(STEPS)
        try:
            return harness.render(think, calls, lambda x, y: 7)[0]
        except HarnessError:  # a format without words for it
            continue


def _screen(images: ImageSink, number: int) -> Observation:
    """A page; other numbers are other pages and pictures, some of them larger."""
    url = f"http://shop-3.localhost/p/{number}"
    lines = [f"[{index}] link 'Mug {number * index}'" for index in range(1, 9)]
    return Observation(
        screenshot=_picture(images, number, width=96 if number % 2 else 128, height=64),
        url=url,
        title=f"Mugs {number}",
        tabs=[Tab(index=0, url=url, title=f"Mugs {number}", active=True)],
        viewport_px=(128, 64),
        page_px=(128, 640),
        text="\n".join([f"page 'Mugs {number}'", *lines]),
    )


def _picture(images: ImageSink, number: int, width: int, height: int) -> ImageRef:
    blocks = np.random.default_rng(number).integers(0, 256, (height // 8, width // 8, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(blocks).resize((width, height), Image.Resampling.NEAREST).save(buffer, "PNG")
    return images.put(buffer.getvalue(), width, height, "image/png")
