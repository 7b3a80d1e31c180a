"""Records for the tests of learning: prompts, turns and trajectories with chosen ids and rewards."""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.types import (
    FinishReason,
    ImageRef,
    ImageSegment,
    Observation,
    Parsed,
    Prompt,
    Response,
    Reward,
    Task,
    Termination,
    TextSegment,
    Trajectory,
    Turn,
)

TASK = Task(
    id="shop-1/a", instruction="Open the cart", start_url="http://shop-1.localhost/", website="shop-1.localhost"
)
BLANK = ImageRef(sha="0" * 64, width=64, height=64, mime="image/jpeg")


def prompt(ids: Sequence[int], image: ImageRef = BLANK, image_tokens: int = 4) -> Prompt:
    """Text, one image, and the text again."""
    text = TextSegment(ids=tuple(ids))
    return Prompt(segments=(text, ImageSegment(image=image, tokens=image_tokens), text))


def turn(prompt: Prompt, response: Response) -> Turn:
    shot = prompt.images[-1] if prompt.images else BLANK
    observation = Observation(
        screenshot=shot, url="http://shop-1.localhost/", title="Shop", tabs=[], viewport_px=(64, 64)
    )
    return Turn(observation=observation, prompt=prompt, response=response, text="", parsed=Parsed())


def response(ids: Sequence[int], logprobs: Sequence[float] | None = None, version: int = 0) -> Response:
    return Response(
        ids=list(ids),
        logprobs=list(logprobs if logprobs is not None else [-1.0] * len(ids)),
        versions=[version] * len(ids),
        finish_reason=FinishReason.STOP,
    )


def trajectory(turns: Sequence[Turn], value: float | None, *, valid: bool = True, id: str = "t") -> Trajectory:
    reward = None if value is None else Reward(value=value, success=value > 0, valid=valid)
    return Trajectory(id=id, task=TASK, turns=list(turns), termination=Termination.COMPLETED, reward=reward)
