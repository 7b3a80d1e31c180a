"""The image contract on the shipped model: nothing is refused that is well, and every planted mistake is named."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from typing import Any

import pytest
import torch

from webdojo.errors import TrainError
from webdojo.loops.models import make_learner, open_engine
from webdojo.loops.online.image_contract import check_images
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.images import MemoryImages
from webdojo.trainer.learner.learner import Learner
from webdojo.types import Engine, ImageSegment, Prompt, Response, Sampling

RECIPE = load_recipe("quickstart", ["train.kl_coef=0"])
SHORT = ["rollout.sampling.max_tokens=16", "evaluate.sampling.max_tokens=16"]
Corrupt = Callable[[Prompt], Prompt]


class Mistaken:
    """An engine that reads another prompt than it is given; with `members` it consists of those."""

    def __init__(
        self, engine: Engine, corrupt: Corrupt = lambda prompt: prompt, members: Sequence[Engine] = ()
    ) -> None:
        self.engine, self.corrupt, self.members = engine, corrupt, members or [self]

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        return await self.engine.generate(self.corrupt(prompt), sampling)


@pytest.fixture(scope="module")
def images() -> MemoryImages:
    return MemoryImages()


@pytest.fixture(scope="module")
def learner(images: MemoryImages) -> Any:
    with closing(make_learner(RECIPE, images, "tiny")) as learner:
        yield learner


@pytest.fixture
async def engine(images: MemoryImages) -> AsyncIterator[Engine]:
    async with open_engine(RECIPE, images, "tiny") as engine:
        yield engine


async def check(engine: Any, learner: Learner, images: MemoryImages, recipe: Recipe = RECIPE) -> dict[str, float]:
    return await check_images(engine, learner, images, recipe)


@pytest.mark.parametrize("max_tokens", [2048, 200, 100])
async def test_what_agrees_is_not_refused(
    engine: Engine, learner: Learner, images: MemoryImages, max_tokens: int
) -> None:
    recipe = load_recipe("quickstart", [f"rollout.max_context_tokens={max_tokens}", *SHORT])
    gaps = await check(engine, learner, images, recipe)
    assert gaps.keys() == {"contract_gap_text", "contract_gap_image"}
    assert max(gaps.values()) < 1e-4


def places(prompt: Prompt) -> list[int]:
    return [n for n, segment in enumerate(prompt.segments) if isinstance(segment, ImageSegment)]


def changed(change: Callable[[list[Any], list[int]], None], least: int = 3) -> Corrupt:
    """Change the segments of prompts with at least so many images, given the places of their images."""

    def corrupt(prompt: Prompt) -> Prompt:
        segments, shown = list(prompt.segments), places(prompt)
        if len(shown) >= least:
            change(segments, shown)
        return Prompt(segments=tuple(segments))

    return corrupt


def dropped(segments: list[Any], shown: list[int]) -> None:
    del segments[shown[1]]


def doubled(segments: list[Any], shown: list[int]) -> None:
    segments.insert(shown[0], segments[shown[0]])


def exchanged(segments: list[Any], shown: list[int]) -> None:
    segments[shown[0]], segments[shown[2]] = segments[shown[2]], segments[shown[0]]


def lost(segments: list[Any], shown: list[int]) -> None:
    del segments[: shown[0] + 2]


class OneForAll:
    """Shows to every prompt of the same text the images of the first one that came."""

    def __init__(self) -> None:
        self.first: dict[Any, Prompt] = {}

    def __call__(self, prompt: Prompt) -> Prompt:
        text = tuple(s.tokens if isinstance(s, ImageSegment) else s.ids for s in prompt.segments)
        return self.first.setdefault(text, prompt)


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (changed(dropped), r"the engine does not see the image of turn 2 of 3: its log-probabilities lie .* nats"),
        (changed(dropped, least=2), "does not see the image of turn 2 of 3"),
        (changed(doubled), "sees the image of turn 1 of 3 twice"),
        (changed(exchanged), "exchanges the images of turns 1 and 3"),
        (changed(lost), "does not see turn 1 of 3"),
        (OneForAll(), r"sees in turn \d of 3 the image of another prompt that has the same text"),
    ],
)
async def test_a_mistake_with_an_image_is_named(
    engine: Engine, learner: Learner, images: MemoryImages, corrupt: Corrupt, message: str
) -> None:
    with pytest.raises(TrainError, match=message):
        await check(Mistaken(engine, corrupt), learner, images)


async def test_exchanged_sides_of_a_grid_are_named(
    engine: Engine, learner: Learner, images: MemoryImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's processor makes the patches of an image stand in other rows, which changes no number of tokens."""
    (real,) = {Processor.pixels}

    def sideways(self: Processor, data: bytes) -> tuple[torch.Tensor, torch.Tensor]:
        patches, grid = real(self, data)
        return patches, grid[:, [0, 2, 1]]

    with pytest.raises(TrainError, match="exchanges rows and columns of the image of turn 1 of 1"):
        monkeypatch.setattr(engine.processor, "pixels", sideways.__get__(engine.processor))  # type: ignore[attr-defined]
        await check(engine, learner, images)


async def test_the_engine_that_is_wrong_is_named_among_several(
    engine: Engine, learner: Learner, images: MemoryImages
) -> None:
    with pytest.raises(TrainError, match="engine 2 of 2 does not see the image of turn 2 of 3"):
        await check(Mistaken(engine, members=[engine, Mistaken(engine, changed(dropped))]), learner, images)


async def test_other_weights_are_no_mistake_with_an_image(
    engine: Engine, learner: Learner, images: MemoryImages
) -> None:
    weights = {name: value.clone() for name, value in learner.state_dict().items()}
    for name, value in weights.items():
        if name.endswith("mlp.down_proj.weight") and "visual" not in name:
            value.mul_(1.5)
    await engine.update_weights(weights, version=1)  # type: ignore[attr-defined]
    with pytest.raises(TrainError, match=r"the engine does not answer as the learner would: .* no mistake"):
        await check(engine, learner, images)
