"""The image contract: an engine sees every screenshot where the learner sees it.

Short conversations with noise for screenshots go to each engine, and the learner scores what it answers to the same
prompts: both must give the same log-probabilities. Two of the conversations have the same text and one other image,
which finds an engine that knows prompts again by their text alone. Where they differ, the learner scores the answers as
if the engine had made one of the known mistakes; the one under which both agree is what the error names.

Images that are dropped, doubled or exchanged on their way fail silently everywhere else: training goes on, on answers
to other screens than those that it believes were shown.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import torch
from PIL import Image

from webdojo.agent.chatml import Chat
from webdojo.errors import TrainError
from webdojo.loops.models import learn
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.learner import Learner
from webdojo.types import (
    ImageSegment,
    ImageSink,
    ImageSource,
    Prompt,
    Response,
    Sampling,
    TextSegment,
    TrainableEngine,
)

TURNS = 3
TOKENS = 16
"""Sampled tokens of an answer."""
ROUNDING = 1e-3
"""Mean difference in nats up to which no mistake is looked for; that of two float32 forward passes is some 1e-6."""
EXPLAINED = 4.0
"""A mistake explains a difference that is so many times smaller under it."""
_NOISE_PX = 16
_SEED = 20

Turn: TypeAlias = tuple[TextSegment, ImageSegment, TextSegment]


class Images(ImageSink, ImageSource, Protocol):
    """Where noise is put for engine and learner to read."""


class Mistake(NamedTuple):
    """What an engine may have read instead of a prompt."""

    says: str
    prompt: Prompt


@dataclass(frozen=True)
class Probe:
    """A conversation up to a turn, each turn with a screenshot of its own; without turns a text."""

    ask: TextSegment
    turns: Sequence[Turn] = ()
    other: Sequence[Turn] = ()
    """The turns of a conversation with the same text, of which one has another image."""

    @property
    def prompt(self) -> Prompt:
        return self.with_turns(self.turns)

    def with_turns(self, turns: Sequence[Sequence[TextSegment | ImageSegment]]) -> Prompt:
        return Prompt(segments=(*(segment for turn in turns for segment in turn), self.ask))

    def mistakes(self, rotated: Callable[[ImageSegment], ImageSegment]) -> Iterator[Mistake]:
        """Each mistake with one image or turn that is known; `rotated` exchanges rows and columns of an image."""
        for n, (before, image, after) in enumerate(self.turns):
            name = f"turn {n + 1} of {len(self.turns)}"
            for says, turn in (
                (f"does not see the image of {name}", (before, after)),
                (f"sees the image of {name} twice", (before, image, image, after)),
                (f"exchanges rows and columns of the image of {name}", (before, rotated(image), after)),
                (f"does not see {name}", ()),
            ):
                yield Mistake(says, self.with_turns([*self.turns[:n], turn, *self.turns[n + 1 :]]))
            if self.other[n] != self.turns[n]:
                yield Mistake(
                    f"sees in {name} the image of another prompt that has the same text", self.with_turns(self.other)
                )
            for m in range(n):
                turns = list(self.turns)
                turns[n], turns[m] = _exchanged(self.turns[n], self.turns[m])
                yield Mistake(f"exchanges the images of turns {m + 1} and {n + 1}", self.with_turns(turns))


def _exchanged(one: Turn, other: Turn) -> tuple[Turn, Turn]:
    return (one[0], other[1], one[2]), (other[0], one[1], other[2])


async def check_images(engine: TrainableEngine, learner: Learner, images: Images, recipe: Recipe) -> dict[str, float]:
    """Check that each member of an engine, which serves the learner's weights, answers to what the learner believes it
    was shown.

    Conversations have screenshots of the recipe's size, and as many turns as fit into its context, up to three.

    Returns:
        The largest mean difference in nats of an answer to a prompt with images and of one without, for the log.

    Raises:
        TrainError: a member answers to something else; it says to which image of which turn, if that can be found. Or
            the difference is more than `train.max_engine_gap`.
        EngineError: a member does not answer.
    """
    rollout, temperature = recipe.rollout, recipe.rollout.sampling.temperature
    size_px, engines = recipe.browser.viewport_px, engine.members
    probes = make_probes(learner.processor, images, size_px, rollout.max_context_tokens - TOKENS)
    sampling = Sampling(temperature=temperature, max_tokens=TOKENS, seed=_SEED)
    gaps: dict[str, float] = {}
    for number, member in enumerate(engines, 1):
        name = "the engine" if len(engines) == 1 else f"engine {number} of {len(engines)}"
        answers = await asyncio.gather(*(member.generate(probe.prompt, sampling) for probe in probes))
        score = partial(_scores, learner, temperature)
        scored = await score([(probe.prompt, answer) for probe, answer in zip(probes, answers, strict=True)])
        found = [_gap(answer, scores) for answer, scores in zip(answers, scored, strict=True)]
        worst = max(range(len(probes)), key=found.__getitem__)
        if found[worst] > ROUNDING:
            mistakes = list(probes[worst].mistakes(partial(_rotated, learner.processor, images)))
            under = await score([(mistake.prompt, answers[worst]) for mistake in mistakes])
            _refuse(name, found[worst], mistakes, [_gap(answers[worst], each) for each in under], recipe)
        for probe, gap in zip(probes, found, strict=True):
            kind = "contract_gap_image" if probe.turns else "contract_gap_text"
            gaps[kind] = max(gaps.get(kind, 0.0), gap)
    return gaps


def _refuse(name: str, gap: float, mistakes: Sequence[Mistake], gaps: Sequence[float], recipe: Recipe) -> None:
    """Raise where a mistake explains a difference, or where it is more than is borne."""
    apart = f"its log-probabilities lie {gap:.2g} nats from the learner's on average"
    best = min(range(len(mistakes)), key=gaps.__getitem__, default=None)
    if best is not None and gaps[best] * EXPLAINED < gap:
        raise TrainError(f"{name} {mistakes[best].says}: {apart}, and {gaps[best]:.2g} nats if it does")
    most = recipe.train.max_engine_gap
    if gap > most:
        raise TrainError(
            f"{name} does not answer as the learner would: {apart}, more than train.max_engine_gap={most:g}, and no "
            "mistake with an image explains it; look at its weights, its precision and its chat template"
        )


async def _scores(
    learner: Learner, temperature: float, answered: Sequence[tuple[Prompt, Response]]
) -> list[torch.Tensor]:
    """The learner's log-probabilities [|y|] of answers to prompts."""
    samples = [
        Sample(prompt, answer.ids, answer.logprobs, 0.0, [0.0] * len(answer.ids), answer.versions)
        for prompt, answer in answered
    ]
    return await learn(learner, learner.logprobs, samples, temperature)


def _gap(answer: Response, scores: torch.Tensor) -> float:
    return float((scores - torch.tensor(answer.logprobs)).abs().mean())


def make_probes(processor: Processor, images: Images, size_px: tuple[int, int], max_tokens: int) -> list[Probe]:
    """A text; conversations of one turn and of as many as fit; and the longest with another image in its first turn and
    in its last."""
    text, chat, what = Chat(processor, "").text, processor.chat, "What do you see?"
    ask = text(chat.assistant)
    plain = text(f"{chat.first_user}{what}{chat.user_end}{chat.assistant}")
    probes = [Probe(plain)]
    if not processor.reads_images:
        return probes
    before = text(f"{chat.first_user}{chat.image[0]}")
    after = text(f"{chat.image[1]}{what}{chat.user_end}")
    width, height = size_px
    shapes = [(width, height // 2), (width, height // 2), (width // 2, height)]
    turns = [(before, _noise(processor, images, shape, seed), after) for seed, shape in enumerate(shapes)]
    while len(turns) > 1 and len(Probe(ask, turns).prompt) > max_tokens:
        turns.pop()
    probes.append(Probe(ask, turns[:1], turns[:1]))
    for n in {0, len(turns) - 1}:
        other = list(turns)
        other[n] = (before, _noise(processor, images, shapes[n], len(shapes) + n), after)
        probes += [Probe(ask, turns, other), Probe(ask, other, turns)]
    return probes


def _noise(processor: Processor, images: Images, size_px: tuple[int, int], seed: int) -> ImageSegment:
    """Squares of random colours, in the size that the vision tower reads."""
    width, height = size_px
    colours = np.random.default_rng(seed).integers(0, 256, (-(-height // _NOISE_PX), -(-width // _NOISE_PX), 3))
    noise = colours.astype(np.uint8).repeat(_NOISE_PX, 0).repeat(_NOISE_PX, 1)[:height, :width]
    return _stored(processor, images, processor.sized(_png(Image.fromarray(noise))))


def _rotated(processor: Processor, images: Images, image: ImageSegment) -> ImageSegment:
    """An image whose visual tokens, in their order, stand in as many rows as it had columns; the same image where they
    are not squares of it."""
    pixels = np.asarray(processor.sized(images.get(image.image)))
    height, width, _ = pixels.shape
    side = int((height * width / image.tokens) ** 0.5)
    rows, columns = height // side, width // side
    if (rows * side, columns * side) != (height, width):
        return image
    squares = pixels.reshape(rows, side, columns, side, 3).swapaxes(1, 2).reshape(columns, rows, side, side, 3)
    return _stored(processor, images, Image.fromarray(squares.swapaxes(1, 2).reshape(width, height, 3)))


def _stored(processor: Processor, images: Images, image: Image.Image) -> ImageSegment:
    stored = images.put(_png(image), image.width, image.height, "image/png")
    return ImageSegment(image=stored, tokens=processor.image_tokens(image.width, image.height))


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "png")
    return out.getvalue()
