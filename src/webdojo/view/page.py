"""Self-contained HTML pages: style, script and pictures are inside, and nothing is loaded.

Templates escape whatever a model or a page wrote, and show characters that would hide or turn text. The content
security policy allows only the one script, by its hash, and would stop any other.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from webdojo.progress import duration, plural
from webdojo.store.files import write_atomic

MOST_CHARACTERS = 20_000
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Control characters, and what Unicode has to turn the direction of text, or to stand in it without a trace."""

T = TypeVar("T")


def number(value: float) -> str:
    """Three significant digits for people: `0.0123`, `4.2`, `1,240`."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float, decimals: int = 0) -> str:
    """A share as people read it: `0.5` is `50 %`."""
    return f"{100 * share:.{decimals}f} %"


def visible(value: T) -> T | str:
    """A text with what would be invisible or turn the order of letters around shown by its number, as `⟦U+202E⟧`.

    Anything else, and markup, which is made of such texts, stays as it is.
    """
    if isinstance(value, str) and not isinstance(value, Markup):
        return _HIDDEN.sub(lambda match: f"⟦U+{ord(match[0]):04X}⟧", value)
    return value


def clipped(text: str) -> str:
    """A text of which a page shows no more than `MOST_CHARACTERS`."""
    rest = len(text) - MOST_CHARACTERS
    return f"{text[:MOST_CHARACTERS]} … ({rest:,} more characters)" if rest > 0 else text


TEMPLATES = Environment(
    loader=PackageLoader("webdojo.view"),
    autoescape=True,
    finalize=visible,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {"duration": duration, "percent": percent, "number": number, "plural": plural, "clipped": clipped}


def write_page(path: Path, template: str, **values: Any) -> Path:
    """Write a template of this package as an HTML page to `path`, and return that."""
    write_atomic(path, page(template, **values).encode())
    return path


def page(template: str, **values: Any) -> str:
    """A template of this package as an HTML page."""
    script = files("webdojo.view").joinpath("templates/report.js").read_text()
    return TEMPLATES.get_template(template).render(
        **values,
        style=Markup(files("webdojo.view").joinpath("templates/report.css").read_text()),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
