"""Drawn pictures for the full-size layout: one simple shape for each noun, varied by the thing's name.

A picture is an SVG of a scene (backdrop, ground, light) with the noun's shape in the thing's own
colours, so that every card of a list differs and no image file is needed.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from markupsafe import Markup, escape

from webdojo.sites.design.look import Palette, hsl, to_hex

SHAPES: dict[str, str] = json.loads((Path(__file__).parent / "shapes.json").read_text())
"""Inner SVG on a 100 x 100 canvas; {c} is the thing's colour, {d} darker, {l} lighter, {w} water."""

_LETTERED = ("circles", "bars", "waves", "mark")

_NAMED = {"Red": 0.0, "Blue": 0.6, "Gold": 0.12, "Pink": 0.92, "Gray": None, "Teal": 0.48}


def picture(name: str, noun: str, color: str = "") -> Markup:
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
    return _svg(
        f'<rect width="100" height="100" fill="{sky}"/><rect y="{horizon}" width="100" height="40" fill="{ground}"/>'
        f'<circle cx="{sun_x}" cy="{sun_y}" r="{sun_r}" fill="#fff" opacity=".7"/>'
        f'<g transform="translate(50 50) scale({wide:.2f} {high:.2f}) translate(-50 -50)">'
        f"{SHAPES[noun].format(**colors)}</g>"
    )


def emblem(name: str, art: str) -> Markup:
    """SVG of an abstract picture for anything with a name; `art` is one of `ARTS`."""
    rng = random.Random(f"emblem-{name}")
    hue = rng.random()
    ink, back = _hex(hue, 0.55, rng.uniform(0.3, 0.45)), _hex(hue, 0.4, rng.uniform(0.8, 0.92))
    other = _hex((hue + rng.uniform(0.2, 0.5)) % 1, 0.5, 0.6)
    if art == "mark":
        ink, back = "#ffffff", _hex(hue, 0.5, 0.35)
    shapes = "".join(_shape(art, i, ink, other, rng) for i in range(rng.randint(3, 6)))
    letter = (
        f'<text x="50" y="66" font-size="46" font-weight="700" text-anchor="middle" fill="{ink}">'
        f"{escape(name[:1].upper())}</text>"
    )
    return _svg(f'<rect width="100" height="100" fill="{back}"/>{shapes}{letter if art in _LETTERED else ""}')


def scene(name: str, form: str, palette: Palette) -> Markup:
    """SVG of a wide picture in a site's colours; `form` is one of `SCENES`."""
    rng = random.Random(f"scene-{name}")
    colors = (palette.button, palette.accent, palette.title, palette.line, palette.header)
    parts = [f'<rect width="400" height="200" fill="{palette.alt}"/>']
    for i in range(9):
        x, y, size, color = rng.randint(0, 400), rng.randint(30, 170), rng.randint(20, 90), colors[i % len(colors)]
        parts.append({
            "hills": f'<path d="M{x - 260} 200Q{x} {y - 60} {x + 260} 200Z" fill="{color}" opacity=".55"/>',
            "city": f'<rect x="{i * 46 - 8}" y="{y}" width="{rng.randint(26, 44)}" height="200" fill="{color}"/>',
            "rings": f'<circle cx="{x}" cy="{y}" r="{size}" fill="none" stroke="{color}" stroke-width="9"/>',
            "stripes": f'<path d="M{x - 80} 220L{x + 120} -20" stroke="{color}" stroke-width="{size / 3}"/>',
            "leaves": f'<ellipse cx="{x}" cy="{y}" rx="{size / 3}" ry="{size}" fill="{color}" opacity=".6" '
            f'transform="rotate({x} {x} {y})"/>',
        }[form])  # fmt: skip
    return _svg("".join(parts), 400, 200)


def _shape(art: str, i: int, ink: str, other: str, rng: random.Random) -> str:
    x, y, size = rng.randint(0, 100), rng.randint(0, 100), rng.randint(12, 40)
    color = (ink, other)[i % 2]
    return {
        "circles": f'<circle cx="{x}" cy="{y}" r="{size / 2}" fill="{other}" opacity=".5"/>',
        "bars": f'<rect x="{x}" y="{y}" width="{size / 3:.0f}" height="100" fill="{other}" opacity=".5"/>',
        "waves": f'<path d="M0 {y}Q25 {y - size} 50 {y}T100 {y}V100H0Z" fill="{other}" opacity=".35"/>',
        "rings": f'<circle cx="50" cy="50" r="{8 + 11 * i}" fill="none" stroke="{color}" stroke-width="{size / 5}"/>',
        "tiles": f'<path d="M{x // 20 * 20} {y // 20 * 20}h40v20h-20v20h-20z" fill="{color}" opacity=".7"/>',
        "hills": f'<path d="M-20 110Q{x} {40 + 12 * i - size} 120 110Z" fill="{color}" opacity=".6"/>',
    }.get(art, "")


def _svg(inner: str, width: int = 100, height: int = 100) -> Markup:
    fit = 'preserveAspectRatio="xMidYMid slice" aria-hidden="true" focusable="false"'
    return Markup(f'<svg viewBox="0 0 {width} {height}" {fit}>{inner}</svg>')


def _hex(hue: float, saturation: float, light: float) -> str:
    return to_hex(hsl(hue, saturation, light))
