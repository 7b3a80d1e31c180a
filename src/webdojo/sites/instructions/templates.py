"""Sentence templates that make instructions of what a goal is about.

A goal gives a core: an imperative (`open the cheapest mug`) for the templates of `DO`, or a noun phrase (`the price of
Red Mug`) for those of `ASK`. Template and core are drawn independently, so a goal has as many phrasings as templates
times cores. Held-out phrasings use templates that training never uses.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

Form = Literal["do", "ask"]

Phrasings = Literal["plain", "train", "heldout"]
"""`plain` are those of `phrasing.py`, for a model that knows few words; the others are those of the splits."""

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
HELDOUT_TEMPLATES = 2
"""How many templates of each form, the last ones, are for held-out phrasings only."""


def _drawn_from(form: Form, phrasings: Phrasings) -> range:
    """Indices of the templates to draw from."""
    count = len(DO if form == "do" else ASK)
    return range(count - HELDOUT_TEMPLATES, count) if phrasings == "heldout" else range(count - HELDOUT_TEMPLATES)


def say(form: Form, template: int, core: str) -> str:
    """A core in the template of this index."""
    return (DO if form == "do" else ASK)[template].format(core=core, Core=core[0].upper() + core[1:])


def draw(form: Form, cores: Sequence[str], rng: random.Random, phrasings: Phrasings) -> tuple[str, int]:
    """An instruction, and the number of its phrasing."""
    template, core = rng.choice(_drawn_from(form, phrasings)), rng.randrange(len(cores))
    return say(form, template, cores[core]), template * 10 + core
