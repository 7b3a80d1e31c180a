"""What the engine says of its tokens, with every cache in use, against a forward pass without any."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
import torch

from benchmarks.padded import collate
from tests.policy.conftest import Images, chat
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.hf.kv_cache import LENGTH_STEP
from webdojo.policy.hf.running_batch import RunningBatch
from webdojo.policy.model.forward import token_logprobs
from webdojo.policy.model.loading import load_model
from webdojo.types import ImageSegment, Prompt, Response, Sampling, TextSegment

PROMPTS = 100
UPDATES = 3
TEMPERATURE = 0.9
WORDS = ["find the red mug", "add it to the cart", "where is the search box", "0 of 240 px", "Größe 12", "click 512 40"]


class Episode:
    """A conversation with screenshots at random places, of which only the last few stay."""

    def __init__(self, opening: Prompt, rng: random.Random, images: Images) -> None:
        self._segments = list(opening.segments)
        self._rng = rng
        self._images = images
        self._kept = rng.choice([1, 2, 9])

    def prompt(self) -> Prompt:
        shown = [k for k, segment in enumerate(self._segments) if isinstance(segment, ImageSegment)]
        dropped = set(shown[: -self._kept])
        return Prompt(segments=tuple(s for k, s in enumerate(self._segments) if k not in dropped))

    def go_on(self, engine: HFEngine, response: Response) -> None:
        seen = [
            self._images.random(self._rng.randrange(40), *self._rng.choice([(64, 64), (96, 64), (64, 128)]))
            for _ in range(self._rng.randrange(3))
        ]
        asked = chat(engine.processor, " ".join(self._rng.choices(WORDS, k=self._rng.randrange(1, 9))), *seen)
        self._segments += [TextSegment(ids=tuple(response.ids)), *asked.segments]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
async def test_100_random_prompts_of_several_turns_and_images(model_dir: Path, images: Images, device: str) -> None:
    """Attention reaches to the end of the longest sequence, or, as on a GPU, further."""
    torch.set_num_threads(1)
    torch.manual_seed(7)
    rng = random.Random(7)
    model, processor = load_model(model_dir)
    engine = HFEngine(model, processor, images, threads=1)
    assert isinstance(engine._batch, RunningBatch)
    engine._batch._cache._reach_step = LENGTH_STEP if device == "cuda" else 1
    reference, _ = load_model(model_dir)
    checked: list[tuple[Prompt, Response]] = []

    async def play(episode: Episode, turns: int) -> None:
        for _ in range(turns):
            prompt = episode.prompt()
            response = await engine.generate(prompt, Sampling(temperature=TEMPERATURE, max_tokens=rng.randrange(1, 12)))
            checked.append((prompt, response))
            episode.go_on(engine, response)

    def worst() -> float:
        """Over what was asked since the weights last changed."""
        gaps = []
        for prompt, response in checked[asked_before:]:
            batch = collate([(prompt, response.ids)], processor, images)
            with torch.no_grad():
                expected = token_logprobs(reference, batch, TEMPERATURE).logprobs
            gaps.append(float((torch.tensor(response.logprobs) - expected).abs().max()))
        return max(gaps)

    try:
        episodes: list[Episode] = []
        for version in range(UPDATES + 1):
            asked_before = len(checked)
            for _ in range(3):  # groups
                opening = chat(processor, " ".join(rng.choices(WORDS, k=6)), images.random(rng.randrange(40)))
                episodes += [Episode(opening, rng, images) for _ in range(4)]
            rng.shuffle(episodes)
            await asyncio.gather(*(play(episode, 1 + rng.randrange(5)) for episode in episodes[:12]))
            assert worst() < 1e-4
            assert {v for _, r in checked[asked_before:] for v in r.versions} == {version}
            with torch.no_grad():
                for parameter in reference.parameters():
                    parameter.mul_(1 + 0.05 * torch.randn_like(parameter))
            assert worst() > 1e-3, "old weights cannot be told from new ones"
            await engine.update_weights(reference.state_dict(), version + 1)
    finally:
        engine.close()
    assert len(checked) >= PROMPTS
    assert sum(len(prompt.images) > 1 for prompt, _ in checked) > 25
    assert engine.prefilled_tokens < 0.6 * engine.prompt_tokens, "no cache was in use"
