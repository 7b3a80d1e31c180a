"""Episodes and models for the tests of judges."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import PrivateAttr

from tests.trainer.records import prompt, response
from webdojo.policy.engine import EngineConfig, MessageModel, ServedModel
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.store.images import MemoryImages
from webdojo.types import (
    Feedback,
    ImageRef,
    Observation,
    Parsed,
    Reward,
    Sampling,
    Task,
    Termination,
    ToolCall,
    Trajectory,
    Turn,
)

SITE = "http://shop.example/"
IMAGES = MemoryImages()
"""All screenshots of these episodes."""


def shot(number: int, width: int = 64, height: int = 48) -> ImageRef:
    """A screenshot of one colour, another one for each number."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), (number % 256, 7, 90)).save(out, "png")
    return IMAGES.put(out.getvalue(), width, height, "image/png")


def seen(number: int, url: str = SITE, title: str = "Shop", blocked: str = "", dead: str = "") -> Observation:
    page = Observation(screenshot=shot(number), url=url, title=title, tabs=[], viewport_px=(64, 48))
    return page.model_copy(update={"blocked": blocked, "dead": dead})


def turn(number: int, call: ToolCall | None, think: str = "", feedback: str = "", **page: str) -> Turn:
    return Turn(
        observation=seen(number, **page),
        prompt=prompt([2]),
        response=response([1]),
        text="",
        parsed=Parsed(think=think, calls=[call] if call else [], error=None if call else "no call"),
        feedback=[Feedback(ok=True, text=feedback)] if feedback else [],
    )


def click() -> ToolCall:
    return ToolCall(name="click", arguments={"x": 1, "y": 2})


def done(answer: str) -> ToolCall:
    return ToolCall(name="done", arguments={"answer": answer})


def episode(
    steps: int = 3,
    answer: str | None = "Blue Mug, $7",
    instruction: str = "Find the cheapest mug",
    *,
    evaluator: Mapping[str, Any] | None = None,
    final: Observation | None = None,
    turns: Sequence[Turn] | None = None,
    termination: Termination = Termination.COMPLETED,
) -> Trajectory:
    """`steps` turns, each with a screenshot of its own, and another screen after the last."""
    clicks = [turn(n, click(), f"thought {n}", f"clicked {n}") for n in range(1, steps)]
    ends = [turn(steps, done(answer or ""), f"thought {steps}")]
    return Trajectory(
        id="e-0",
        task=Task(
            id="mug",
            instruction=instruction,
            start_url=SITE,
            website="shop.example",
            evaluator=dict(evaluator or {}),
        ),
        turns=list(turns) if turns is not None else clicks + ends,
        final=final or seen(steps + 1),
        termination=termination,
        answer=answer,
    )


Replies = Mapping[str, "str | Sequence[str] | Callable[[str], str]"]
"""What a model says, by the first words of the system prompt: always the same, one after the other, or by the user's
text."""


@dataclass
class Asked:
    """One request as the model got it."""

    system: str
    texts: list[str]
    images: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


@dataclass
class Model:
    """A model that says what a test tells it to."""

    replies: Replies
    asked: list[Asked] = field(default_factory=list)

    async def say(
        self, messages: Sequence[dict[str, Any]], sampling: Sampling, keep: Callable[[str], bool] = bool
    ) -> str:
        return self.reply(messages)

    def reply(self, messages: Sequence[dict[str, Any]]) -> str:
        assert [message["role"] for message in messages] == ["system", "user"]
        parts = messages[1]["content"]
        asked = Asked(
            messages[0]["content"],
            [part["text"] for part in parts if part["type"] == "text"],
            [part["image_url"]["url"] for part in parts if part["type"] == "image_url"],
        )
        self.asked.append(asked)
        (say,) = [reply for begins, reply in self.replies.items() if asked.system.startswith(begins)]
        if callable(say):
            return say(asked.text)
        if isinstance(say, str):
            return say
        nth = sum(each.system == asked.system for each in self.asked) - 1
        return say[min(nth, len(say) - 1)]

    def about(self, system: str) -> list[Asked]:
        """The requests with a system prompt that begins so."""
        return [each for each in self.asked if each.system.startswith(system)]


class Script(EngineConfig):
    """An engine whose model is that of the test."""

    name: str = "script"

    _model: Any = PrivateAttr(default=None)

    @asynccontextmanager
    async def open_messages(self, model: ServedModel, account: Path | None = None) -> AsyncIterator[MessageModel]:
        yield self._model


def script(model: MessageModel) -> Script:
    engine = Script()
    engine._model = model
    return engine


async def judged(judge: RewardFunction, trajectory: Trajectory) -> Reward:
    """The reward behind the gate."""
    async with Scorer(judge, IMAGES) as scorer:
        await scorer.score(trajectory)
    assert trajectory.reward is not None
    return trajectory.reward
