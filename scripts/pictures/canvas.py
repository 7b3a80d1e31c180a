"""Draws boxes, arrows, texts and grids as SVG that is read in light and in dark.

Colours are classes of a style sheet, which follows `prefers-color-scheme`; every picture brings its own ground, so it
also stands on a page whose theme was chosen by hand. Lengths are in CSS pixels; a picture is `WIDTH` wide, about the
column of a page, so that its texts are as large as those around it. Invariant: a text fits between the sides that it is
given, or drawing it raises ValueError, since widths are taken from a wide font.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

WIDTH = 760
SIZE = 13
"""Of texts; none is smaller than `SMALL`."""
SMALL = 12
WIDE, WIDE_BOLD, WIDE_MONO = 0.60, 0.68, 0.61
"""Of a letter, for its size: the mean of DejaVu Sans, which is wider than what most systems have."""
_NARROW = frozenset("iljtfrI.,:;'|()[]!/ ")

STYLE = """
.ground{fill:#fff;stroke:#d0d7de}.ink{fill:#1f2328}.soft{fill:#59636e}.line{stroke:#59636e;fill:none}
.head{fill:#59636e}.plain{fill:#f6f8fa;stroke:#afb8c1}.blue{fill:#ddf4ff;stroke:#0969da}
.green{fill:#dafbe1;stroke:#1a7f37}.amber{fill:#fff1c2;stroke:#9a6700}.red{fill:#ffe3e0;stroke:#cf222e}
.violet{fill:#f6e8ff;stroke:#8250df}.hole{fill:none;stroke:#afb8c1}
.t-blue{fill:#0550ae}.t-green{fill:#116329}.t-amber{fill:#7d4e00}.t-red{fill:#a40e26}.t-violet{fill:#6639ba}
.s-blue{stroke:#0969da;fill:none}.s-green{stroke:#1a7f37;fill:none}.s-red{stroke:#cf222e;fill:none}
.s-amber{stroke:#9a6700;fill:none}.s-violet{stroke:#8250df;fill:none}
.d-blue{fill:#0969da}.d-green{fill:#1a7f37}.d-red{fill:#cf222e}.d-amber{fill:#bf8700}.d-violet{fill:#8250df}
.d-plain{fill:#afb8c1}
@media(prefers-color-scheme:dark){
.ground{fill:#0d1117;stroke:#3d444d}.ink{fill:#f0f6fc}.soft{fill:#9da7b3}.line{stroke:#9da7b3}.head{fill:#9da7b3}
.plain{fill:#1c2128;stroke:#59636e}.blue{fill:#0c2a4d;stroke:#4493f8}.green{fill:#0f3a1d;stroke:#3fb950}
.amber{fill:#42320a;stroke:#d29922}.red{fill:#4a1a1d;stroke:#f85149}.violet{fill:#33215a;stroke:#ab7df8}
.hole{stroke:#59636e}.t-blue{fill:#79c0ff}.t-green{fill:#7ee787}.t-amber{fill:#e3b341}.t-red{fill:#ff9492}
.t-violet{fill:#d2a8ff}.s-blue{stroke:#4493f8}.s-green{stroke:#3fb950}.s-red{stroke:#f85149}.s-amber{stroke:#d29922}
.s-violet{stroke:#ab7df8}.d-blue{fill:#4493f8}.d-green{fill:#3fb950}.d-red{fill:#f85149}.d-amber{fill:#d29922}
.d-violet{fill:#ab7df8}.d-plain{fill:#59636e}}
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
.mono{font-family:ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace}.bold{font-weight:600}
""".strip().replace("\n", "")


def width_of(text: str, size: float = SIZE, *, bold: bool = False, mono: bool = False) -> float:
    """At most so many pixels wide is a text on most systems."""
    if mono:
        return WIDE_MONO * size * len(text)
    each = WIDE_BOLD if bold else WIDE
    return sum(each * size * (0.62 if letter in _NARROW else 1) for letter in text)


class Canvas:
    """A picture under construction; `svg` gives it.

    Args:
        height: in pixels.
        alt: what the picture shows, for readers who cannot see it; pages repeat it.
    """

    def __init__(self, height: float, alt: str, width: float = WIDTH) -> None:
        self.width, self.height, self.alt = width, height, alt
        self._parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = SIZE,
        tone: str = "ink",
        anchor: str = "start",
        bold: bool = False,
        mono: bool = False,
        room: float | None = None,
    ) -> None:
        """One line whose base is at `y`; `room` is how wide it may be, by default up to the sides of the picture."""
        wide = width_of(text, size, bold=bold, mono=mono)
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[anchor]
        if wide > (room if room is not None else self.width) or left < 4 or left + wide > self.width - 4:
            raise ValueError(f"{text!r} is {wide:.0f} px wide at {x:.0f}, {y:.0f}, which does not fit: {room=}")
        names = " ".join([tone, *(["bold"] if bold else []), *(["mono"] if mono else [])])
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" class="{names}" font-size="{size:g}"'
            f"{'' if anchor == 'start' else f' text-anchor={anchor!r}'.replace(chr(39), chr(34))}>{escape(text)}</text>"
        )

    def note(self, x: float, y: float, text: str, *, anchor: str = "start", room: float | None = None) -> None:
        """A small line that stands back."""
        self.text(x, y, text, size=SMALL, tone="soft", anchor=anchor, room=room)

    def lines(self, x: float, y: float, texts: Sequence[str], *, gap: float = 18, **how: object) -> float:
        """Lines one below the other; gives the base of the one that would follow."""
        for number, text in enumerate(texts):
            self.text(x, y + number * gap, text, **how)  # type: ignore[arg-type]
        return y + len(texts) * gap

    def rect(self, x: float, y: float, w: float, h: float, tone: str = "plain", *, radius: float = 6) -> None:
        self._parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}" class="{tone}"/>')

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        title: str,
        notes: Sequence[str] = (),
        tone: str = "plain",
        *,
        mono: bool = False,
    ) -> None:
        """A box with a title and small lines below it, all in its middle."""
        self.rect(x, y, w, h, tone)
        top = y + h / 2 - (len(notes) * 16) / 2 + 5
        self.text(x + w / 2, top, title, anchor="middle", bold=True, room=w - 8)
        for number, note in enumerate(notes, 1):
            self.text(
                x + w / 2, top + number * 16, note, size=SMALL, tone="soft", anchor="middle", mono=mono, room=w - 8
            )

    def line(self, *points: tuple[float, float], tone: str = "line", width: float = 1.5, dashed: bool = False) -> None:
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(f'<polyline points="{path}" class="{tone}" stroke-width="{width:g}"{dash}/>')

    def arrow(self, *points: tuple[float, float], dashed: bool = False) -> None:
        """A line through points, horizontal or vertical at its end, with a head at the last."""
        (x0, y0), (x, y) = points[-2:]
        dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
        self.line(*points[:-1], (x - 7 * dx, y - 7 * dy), dashed=dashed)
        back = [(x - 9 * dx - 5 * dy, y - 9 * dy - 5 * dx), (x - 9 * dx + 5 * dy, y - 9 * dy + 5 * dx)]
        head = " ".join(f"{a:g},{b:g}" for a, b in [(x, y), *back])
        self._parts.append(f'<polygon points="{head}" class="head"/>')

    def dot(self, x: float, y: float, radius: float, tone: str) -> None:
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{tone}"/>')

    def ring(self, x: float, y: float, radius: float, tone: str) -> None:
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{tone}" stroke-width="3"/>')

    def path(self, commands: str, tone: str) -> None:
        self._parts.append(f'<path d="{commands}" class="{tone}"/>')

    def image(self, x: float, y: float, w: float, h: float, data: bytes, mime: str) -> None:
        held = base64.b64encode(data).decode()
        self._parts.append(
            f'<image x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" href="data:{mime};base64,{held}"/>'
        )
        self.rect(x, y, w, h, "hole", radius=0)

    @property
    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" role="img">'
        )
        ground = f'<rect x=".5" y=".5" width="{self.width - 1:g}" height="{self.height - 1:g}" rx="8" class="ground"/>'
        title = f"<title>{escape(self.alt)}</title>"
        return "\n".join([head, title, f"<style>{STYLE}</style>", ground, *self._parts, "</svg>"]) + "\n"
