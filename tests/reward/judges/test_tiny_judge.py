"""The tiny model that ships as a judge of each protocol: it sees the screenshots, and what it says is no verdict."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.reward.judges.episodes import IMAGES, episode
from tests.reward.judges.protocols import PROTOCOLS
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.messages import RequestImages
from webdojo.reward.gate import Scorer
from webdojo.store.images import MemoryImages
from webdojo.types import Prompt, Sampling

TINY: dict[str, Any] = {
    "engine": {"name": "hf"},
    "model": {"path": "tiny", "device": "cpu", "threads": 1},
    "sampling": Sampling(temperature=0, max_tokens=24),
    "max_context_tokens": 8192,
}


def flashy() -> MemoryImages:
    """Other pictures under the names of all screenshots."""

    class Other(MemoryImages):
        def get(self, image):
            out = io.BytesIO()
            noise = np.random.default_rng(0).integers(0, 256, (image.height, image.width, 3), dtype=np.uint8)
            Image.fromarray(noise).save(out, "png")
            return out.getvalue()

    return Other()


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> list[Prompt]:
    """What the engine is asked; each image of it can be read while it is."""
    asked: list[Prompt] = []
    generate = HFEngine.generate

    async def watched(engine: HFEngine, prompt: Prompt, sampling: Sampling):
        asked.append(prompt)
        return await generate(engine, prompt, sampling)

    monkeypatch.setattr(HFEngine, "generate", watched)
    return asked


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The pictures that the engine has read."""
    found: list[bytes] = []
    get = RequestImages.get

    def watched(images: RequestImages, image):
        found.append(get(images, image))
        return found[-1]

    monkeypatch.setattr(RequestImages, "get", watched)
    return found


async def test_the_tiny_model_judges_by_each_protocol(prompts: list[Prompt], read: list[bytes]) -> None:
    for name, protocol in PROTOCOLS.items():
        prompts.clear()
        read.clear()
        trajectory = episode(1, evaluator=protocol.evaluator)
        async with Scorer(protocol.judge(**{**protocol.options, **TINY}), IMAGES) as scorer:
            await scorer.score(trajectory)
        reward = trajectory.reward
        assert reward is not None
        assert (reward.value, reward.success, reward.valid, reward.cause) == (0, False, False, "unreadable"), name
        assert "could not be read" in reward.reason
        assert all(judgement.answer for judgement in reward.judgements)
        assert len(prompts) >= len(reward.judgements) >= 2  # what was asked beside an unreadable answer is dropped
        shown = [image for judgement in reward.judgements for image in judgement.images]
        assert {image.sha for image in shown} <= {image.sha for prompt in prompts for image in prompt.images}
        assert {IMAGES.get(image) for image in shown} <= set(read), name
        if name == "process_outcome":  # it asks for a rubric first, and has no screenshots until there is one
            assert shown == []
        else:
            assert shown, name


async def test_what_it_says_depends_on_what_it_sees() -> None:
    answers = []
    for images in (IMAGES, flashy()):
        trajectory = episode(1)
        async with Scorer(PROTOCOLS["openwebrl"].judge(**TINY), images) as scorer:
            await scorer.score(trajectory)
        assert trajectory.reward is not None
        answers.append(trajectory.reward.judgements[0].answer)
    assert answers[0] != answers[1]


async def test_two_episodes_at_once_share_the_model_and_their_pictures() -> None:
    both = [episode(2), episode(2)]
    async with Scorer(PROTOCOLS["openwebrl"].judge(**TINY), IMAGES) as scorer:
        await asyncio.gather(*map(scorer.score, both))
    for each in both:
        assert each.reward is not None
        assert (each.reward.valid, each.reward.cause) == (False, "unreadable"), each.reward
        assert len(each.reward.judgements) == 2
