"""Drawn pictures for the full-size layout: one simple shape a noun, varied by the thing's name.

A picture is an SVG of a scene (backdrop, ground, light) with the noun's shape in the thing's own
colours, so that every card of a list differs and no image file is needed.
"""

from __future__ import annotations

import colorsys
import json
import random
from pathlib import Path

SHAPES: dict[str, str] = json.loads((Path(__file__).parent / "shapes.json").read_text())
"""Inner SVG on a 100 x 100 canvas; {c} is the thing's colour, {d} darker, {l} lighter, {w} water."""

_NAMED = {"Red": 0.0, "Blue": 0.6, "Gold": 0.12, "Pink": 0.92, "Gray": None, "Teal": 0.48}


def picture(name: str, noun: str, color: str = "") -> str:
    """SVG of a thing. `color` is one of `words.COLORS`, or empty for a colour drawn from the name."""
    rng = random.Random(f"picture-{name}-{color}")
    hue = _NAMED[color] if color else rng.random()
    saturation = rng.uniform(0.45, 0.75) if hue is not None else 0.05
    main = hue or 0.0
    back = rng.random()
    colors = {
        "c": _hex(main, saturation, rng.uniform(0.42, 0.55)),
        "d": _hex(main, saturation, rng.uniform(0.2, 0.3)),
        "l": _hex(main, saturation * 0.8, rng.uniform(0.8, 0.9)),
        "w": _hex(rng.uniform(0.52, 0.6), 0.55, rng.uniform(0.5, 0.65)),
    }
    sky, ground = _hex(back, 0.35, rng.uniform(0.82, 0.93)), _hex(back, 0.3, rng.uniform(0.65, 0.78))
    horizon, sun_x, sun_y, sun_r = rng.randint(62, 80), rng.randint(12, 88), rng.randint(10, 30), rng.randint(5, 11)
    wide, high = rng.choice((-1, 1)) * rng.uniform(0.85, 1.1), rng.uniform(0.85, 1.08)
    return (
        '<svg viewBox="0 0 100 100" preserveAspectRatio="xMidYMid slice" aria-hidden="true" focusable="false">'
        f'<rect width="100" height="100" fill="{sky}"/><rect y="{horizon}" width="100" height="40" fill="{ground}"/>'
        f'<circle cx="{sun_x}" cy="{sun_y}" r="{sun_r}" fill="#fff" opacity=".7"/>'
        f'<g transform="translate(50 50) scale({wide:.2f} {high:.2f}) translate(-50 -50)">'
        f"{SHAPES[noun].format(**colors)}</g></svg>"
    )


def _hex(hue: float, saturation: float, light: float) -> str:
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue, light, saturation))
