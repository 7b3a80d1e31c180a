"""Episodes of an evaluation as pictures: a few screenshots side by side, with what it was about."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

from PIL import Image

from webdojo.redact import redact
from webdojo.store.run import RunStore
from webdojo.trackers.tracker import Sample
from webdojo.types import ImageRef, Trajectory

EACH = 2
"""Successes, and failures, that are shown of an evaluation."""
SCREENS = 4
"""Screenshots of an episode: the first, the last, and some between."""
HEIGHT_PX = 360
"""Higher screenshots are scaled down."""
ANSWER_CHARACTERS = 200


def choose(store: RunStore, episodes: Sequence[Trajectory]) -> list[Trajectory]:
    """The first valid successes and failures whose screenshots are there."""
    chosen: list[Trajectory] = []
    for success in (True, False):
        alike = (e for e in episodes if e.reward is not None and e.reward.valid and e.reward.success is success)
        there = (episode for episode in alike if episode.turns and store.has_screenshots(episode))
        chosen += [episode for episode, _ in zip(there, range(EACH), strict=False)]
    return chosen


def samples(store: RunStore, chosen: Sequence[Trajectory]) -> list[Sample]:
    """The episodes as images of one size."""
    strips = [_strip(store, episode) for episode in chosen]
    size = max((strip.width for strip in strips), default=0), max((strip.height for strip in strips), default=0)
    return [
        Sample(strip.crop((0, 0, *size)), _caption(redact(episode, episode.secrets)))
        for episode, strip in zip(chosen, strips, strict=True)
    ]


def _caption(episode: Trajectory) -> str:
    reward = episode.reward
    assert reward is not None, f"{episode.id} was chosen without a reward"
    verdict = f"{'success' if reward.success else 'failure'}, reward {reward.value:g}"
    ended = episode.termination.value.replace("_", " ")
    answer = f"answer: {episode.answer[:ANSWER_CHARACTERS]}" if episode.answer else ended
    return f"{episode.task.instruction} | {verdict} | {answer}"


def _strip(store: RunStore, episode: Trajectory) -> Image.Image:
    screens = [turn.observation.screenshot for turn in episode.turns]
    screens += [episode.final.screenshot] if episode.final is not None else []
    last = len(screens) - 1
    picked = sorted({round(k * last / (SCREENS - 1)) for k in range(SCREENS)})
    images = [_scaled(store, screens[index]) for index in picked]
    strip = Image.new("RGB", (sum(image.width for image in images), max(image.height for image in images)))
    x = 0
    for image in images:
        strip.paste(image, (x, 0))
        x += image.width
    return strip


def _scaled(store: RunStore, screen: ImageRef) -> Image.Image:
    with Image.open(BytesIO(store.images.get(screen))) as image:
        height = min(image.height, HEIGHT_PX)
        return image.convert("RGB").resize((round(image.width * height / image.height), height))
