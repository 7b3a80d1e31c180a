"""How the goals of catalogue sites are said: frames around what a goal is about.

A goal gives a core, the frames make instructions of it: an imperative (`open the cheapest mug`) stands
in `DO`, a noun phrase (`the price of Red Mug`) in `ASK`. Frames and cores are drawn apart, so a goal has as
many phrasings as frames times cores; held-out phrasings are frames that training never uses.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

Form = Literal["do", "ask"]

Phrasings = Literal["plain", "train", "heldout"]
"""`plain` is what a model with few words is taught (`phrasing.py`); the others are those of the splits."""

DO = (
    "{Core}.",
    "Please {core}.",
    "Can you {core}?",
    "I would like you to {core}.",
    "{Core}, please. That is all.",
    "Could you {core} for me?",
    "Your task: {core}.",
    "I am short of time, so please {core} for me.",
    "Help me out here and {core}, will you?",
    "What I need from you is simple: {core}.",
    "My colleague asked me to {core}. Do it for me.",
    "Once you are on the site, {core}.",
)
ASK = (
    "What is {core}?",
    "Tell me {core}.",
    "{Core}?",
    "Find out {core}.",
    "I need to know {core}.",
    "Could you look up {core} for me?",
    "Please report {core}.",
    "I forgot {core}. Can you check?",
    "Look around this site and answer with {core}.",
    "Somebody asked me for {core}. What should I say?",
    "Do you know {core}? The site does.",
    "Give me {core}, nothing else.",
)
HELDOUT_FRAMES = 2
"""The last so many frames of each form are for held-out phrasings only."""


def frames(form: Form, phrasings: Phrasings) -> range:
    """Indices of the frames to draw from."""
    count = len(DO if form == "do" else ASK)
    return range(count - HELDOUT_FRAMES, count) if phrasings == "heldout" else range(count - HELDOUT_FRAMES)


def say(form: Form, frame: int, core: str) -> str:
    """A core in a frame."""
    return (DO if form == "do" else ASK)[frame].format(core=core, Core=core[0].upper() + core[1:])


def draw(form: Form, cores: Sequence[str], rng: random.Random, phrasings: Phrasings) -> tuple[str, int]:
    """An instruction, and the number of its phrasing."""
    frame, core = rng.choice(frames(form, phrasings)), rng.randrange(len(cores))
    return say(form, frame, cores[core]), frame * 10 + core
