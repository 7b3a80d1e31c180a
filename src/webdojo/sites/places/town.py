"""The town that a map shows: a net of streets, bent by the seed, with districts, parks, a river and a railway.

Everything is laid out on a straight net first; `Town.at` bends it. Coordinates are units of the
map, `WIDTH` by `HEIGHT`; what a unit is on the screen is up to the zoom.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup, escape

from webdojo.sites.places import names

WIDTH, HEIGHT = 1000, 700
SCALES = (0.9, 1.4, 2.2, 3.4)
"""CSS pixels of a unit of the map at each zoom."""
_MARGIN = 30

Point = tuple[float, float]


@dataclass(frozen=True)
class Paper:
    """Colours of a map."""

    ground: str
    tints: tuple[str, str]
    street: str
    main: str
    casing: str
    park: str
    water: str
    ink: str


PAPERS = (
    Paper("#f4f1ea", ("#efe6d8", "#e8edf2"), "#ffffff", "#f9d98c", "#cfc8ba", "#c4e2b4", "#a5cdeb", "#3d3a34"),
    Paper("#1f2733", ("#263244", "#22303a"), "#46566b", "#8a7540", "#151b24", "#23473a", "#16425f", "#e8eef5"),
    Paper("#eadfc3", ("#e3d2ac", "#e6dcb9"), "#fbf5e4", "#d9a066", "#9a8560", "#b9c78d", "#93b7b3", "#3f2f17"),
    Paper("#e9ecef", ("#dfe4ea", "#f1f3f5"), "#ffffff", "#ffffff", "#b8c0c8", "#d3dfd0", "#c6d5e0", "#22272c"),
    Paper("#dce7d5", ("#cfe0c4", "#e2e8d2"), "#fffdf3", "#f2a68d", "#a9b99b", "#98c98b", "#7fb8d6", "#24331f"),
)


@dataclass(frozen=True)
class Spot:
    """Where a place stands."""

    x: float
    y: float
    avenue: str
    street: str
    district: str

    @property
    def corner(self) -> str:
        return f"{self.avenue} and {self.street}"


@dataclass(frozen=True)
class Town:
    """The streets of a town and what lies between them."""

    avenues: tuple[tuple[str, float], ...]
    """Name and x of each street that runs from north to south."""
    streets: tuple[tuple[str, float], ...]
    """Name and y of each street that runs from west to east."""
    districts: tuple[str, ...]
    """Names of the districts, row by row from the north-west."""
    columns: int
    """How many districts lie side by side from west to east."""
    bend: tuple[float, float, float, float]
    """How far the net is bent along x and y, in units of the map, and the phases of both bends."""
    paper: Paper
    seed: int

    def at(self, x: float, y: float) -> Point:
        """The point of the bent map for a point of the straight net."""
        wide, high, p, q = self.bend
        return x + wide * math.sin(y / 170 + p), y + high * math.sin(x / 210 + q)

    def spots(self, rng: random.Random, count: int) -> list[Spot]:
        """Draw `count` places, each at a different corner."""
        corners = [(avenue, street) for avenue in self.avenues for street in self.streets]
        made = []
        for (avenue, x), (street, y) in rng.sample(corners, count):
            here = self.at(x + rng.choice((-9, 9)), y + rng.choice((-9, 9)))
            column, row = int(x * self.columns / WIDTH), int(y * (len(self.districts) // self.columns) / HEIGHT)
            district = self.districts[row * self.columns + column]
            made.append(Spot(round(here[0], 1), round(here[1], 1), avenue, street, district))
        return made

    @cached_property
    def drawing(self) -> Markup:
        """The map as SVG, without its places."""
        rng = random.Random(f"town-{self.seed}")
        paper = self.paper
        ways = [*((name, "v", x) for name, x in self.avenues), *((name, "h", y) for name, y in self.streets)]
        lines = [self._line(way, at) for _, way, at in ways]
        mains = set(rng.sample(range(len(ways)), 5))
        parts = [f'<rect x="-400" y="-400" width="1800" height="1500" fill="{paper.ground}"/>']
        parts += [f'<path d="{self._block(*box)}" fill="{paper.tints[i % 2]}"/>' for i, box in enumerate(self._boxes())]
        parts += [f'<path d="{self._park(rng)}" fill="{paper.park}"/>' for _ in range(rng.randint(5, 9))]
        parts += [
            f'<path d="{self._river(rng)}" fill="none" stroke="{paper.water}" stroke-width="{rng.randint(16, 30)}"/>',
            *(f'<path d="{line}" fill="none" stroke="{paper.casing}" stroke-width="9"/>' for line in lines),
            *(
                f'<path id="way{i}" d="{line}" fill="none" stroke="{paper.main if i in mains else paper.street}" '
                f'stroke-width="{8 if i in mains else 6.5}"/>'
                for i, line in enumerate(lines)
            ),
            f'<path d="{self._line("h", rng.uniform(200, 500), 60)}" fill="none" stroke="{paper.ink}" '
            'stroke-width="2.5" stroke-dasharray="9 5" opacity=".55"/>',
        ]
        for i, (name, *_) in enumerate(ways):
            for offset in (4 + 9 * (i % 3), 36 + 7 * (i % 4), 70 + 5 * (i % 3)):
                label = f'<textPath href="#way{i}" startOffset="{offset}%">{escape(name)}</textPath>'
                parts.append(f'<text class="way" fill="{paper.ink}" dy=".32em">{label}</text>')
        for name, (left, top, right, bottom) in zip(self.districts, self._boxes(), strict=True):
            x, y = self.at((left + right) / 2, (top + bottom) / 2)
            parts.append(f'<text class="area" x="{x:.0f}" y="{y:.0f}" fill="{paper.ink}">{escape(name)}</text>')
        return Markup(
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'
        )

    def _boxes(self) -> list[tuple[float, float, float, float]]:
        rows = len(self.districts) // self.columns
        wide, high = WIDTH / self.columns, HEIGHT / rows
        return [(c * wide, r * high, (c + 1) * wide, (r + 1) * high) for r in range(rows) for c in range(self.columns)]

    def _line(self, way: str, at: float, sway: float = 0) -> str:
        length = HEIGHT if way == "v" else WIDTH
        steps = range(-60, length + 61, 40)
        turned = (at + sway * math.sin(step / 240) for step in steps)
        return _path(
            self.at(a, step) if way == "v" else self.at(step, a) for step, a in zip(steps, turned, strict=True)
        )

    def _block(self, left: float, top: float, right: float, bottom: float) -> str:
        across = [left + (right - left) * i / 8 for i in range(9)]
        down = [top + (bottom - top) * i / 8 for i in range(9)]
        ring = [(x, top) for x in across] + [(right, y) for y in down]
        ring += [(x, bottom) for x in reversed(across)] + [(left, y) for y in reversed(down)]
        return f"{_path(self.at(*point) for point in ring)}Z"

    def _park(self, rng: random.Random) -> str:
        i, j = rng.randrange(len(self.avenues) - 2), rng.randrange(len(self.streets) - 2)
        right, bottom = self.avenues[i + rng.randint(1, 2)][1], self.streets[j + rng.randint(1, 2)][1]
        return self._block(self.avenues[i][1] + 5, self.streets[j][1] + 5, right - 5, bottom - 5)

    def _river(self, rng: random.Random) -> str:
        start, sway, phase = rng.uniform(150, 550), rng.uniform(40, 110), rng.uniform(0, 6)
        down = rng.random() < 0.4
        points = [(t, start + sway * math.sin(t / 190 + phase)) for t in range(-100, 1101, 50)]
        return _path((y * 1.4, x) if down else (x, y) for x, y in points)


def make_town(rng: random.Random, seed: int) -> Town:
    columns, rows = rng.choice(((3, 3), (4, 2), (3, 2), (4, 3)))
    across, down = rng.randint(17, 20), rng.randint(13, 15)
    ways = [f"{start} {rng.choice(names.WAYS)}" for start in rng.sample(names.STREETS, across + down)]
    return Town(
        avenues=tuple(zip(ways[:across], _spread(rng, WIDTH, across), strict=True)),
        streets=tuple(zip(ways[across:], _spread(rng, HEIGHT, down), strict=True)),
        districts=tuple(rng.sample(names.DISTRICTS, columns * rows)),
        columns=columns,
        bend=(rng.uniform(-26, 26), rng.uniform(-24, 24), rng.uniform(0, 6), rng.uniform(0, 6)),
        paper=rng.choice(PAPERS),
        seed=seed,
    )


def _spread(rng: random.Random, length: int, count: int) -> list[float]:
    """`count` positions along a length, each near its place in a regular row."""
    step = (length - 2 * _MARGIN) / (count - 1)
    return [_MARGIN + step * i + rng.uniform(-0.16, 0.16) * step for i in range(count)]


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points)
