"""The parts of a recipe, and the built-in plugs of each, from the registries: `docs/plugs.md`."""

from __future__ import annotations

from collections.abc import Sequence

from scripts.pictures.canvas import SMALL, Canvas, width_of
from webdojo.cli.parts import plugs

ALT = (
    "The parts of a recipe as sockets, with the built-in plugs that fit each: environments, rewards, harnesses, "
    "engines, losses, advantages, normalizers, samplers, task sources, sites, applications, trackers and filters"
)
ROOMS = {
    "What is done where": ("env.name", "env.kinds", "env.applications", "tasks.source", "tasks.sampler.name"),
    "Who does it": ("harness.name", "engine.name"),
    "What it is worth": ("reward.name",),
    "What is learned from it": ("train.policy_loss", "train.advantage", "train.normalizer"),
    "Who looks on": ("tracking.report_to",),
    "Which tasks are kept": ("steps.name", "steps.embedding.name"),
}
TONES = ("blue", "green", "amber", "violet", "plain", "plain")
LEFT, LABEL, RIGHT, LINE = 28, 190, 736, 18


def picture() -> str:
    registries = plugs()
    named = [key for keys in ROOMS.values() for key in keys]
    missing = set(registries) - set(named)
    known = {key for key in missing if not key.startswith("train.")}
    assert not known, f"no room for {known}"
    rows = {key: _wrapped(list(registries[key].built_in), RIGHT - LABEL - 8) for key in named}
    height = 56.0
    tops = {}
    for room, keys in ROOMS.items():
        tops[room] = height
        height += 30 + sum(len(rows[key]) * LINE + 8 for key in keys) + 10
    canvas = Canvas(height + 30, ALT)
    canvas.text(16, 28, "A recipe names a plug for each of its parts", size=15, bold=True)
    for (room, keys), tone in zip(ROOMS.items(), TONES, strict=True):
        y = tops[room]
        inner = 30 + sum(len(rows[key]) * LINE + 8 for key in keys)
        canvas.rect(16, y - 12, 728, inner, tone)
        canvas.text(LEFT, y + 8, room, bold=True)
        y += 32
        for key in keys:
            canvas.text(LEFT, y, key, size=SMALL, mono=True, room=LABEL - LEFT)
            y = canvas.lines(LABEL, y, rows[key], gap=LINE, size=SMALL) + 8
    canvas.note(16, height + 12, "Yours: a file (./mine.py:Name), an import path, or an entry point; one file each")
    return canvas.svg


def _wrapped(names: Sequence[str], room: float) -> list[str]:
    """Names in lines that fit."""
    lines = [""]
    for name in names:
        longer = f"{lines[-1]}, {name}" if lines[-1] else name
        if width_of(longer, SMALL) <= room:
            lines[-1] = longer
        else:
            lines[-1] += ","
            lines.append(name)
    return lines
