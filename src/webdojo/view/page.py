"""Self-contained HTML pages: style, script and pictures are inside, and nothing is loaded.

Templates escape whatever a model or a page wrote. The content security policy allows only the one
script, by its hash, and would stop any other.
"""

from __future__ import annotations

import base64
import hashlib
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from webdojo.progress import duration, plural
from webdojo.store.files import write_atomic


def number(value: float) -> str:
    """Three significant digits for people: `0.0123`, `4.2`, `1,240`."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float, decimals: int = 0) -> str:
    """A share as people read it: `0.5` is `50 %`."""
    return f"{100 * share:.{decimals}f} %"


TEMPLATES = Environment(
    loader=PackageLoader("webdojo.view"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {"duration": duration, "percent": percent, "number": number, "plural": plural}


def write_page(path: Path, template: str, **values: Any) -> Path:
    """Write a template of this package as an HTML page to `path`, and return that."""
    script = files("webdojo.view").joinpath("templates/report.js").read_text()
    html = TEMPLATES.get_template(template).render(
        **values,
        style=Markup(files("webdojo.view").joinpath("templates/report.css").read_text()),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    write_atomic(path, html.encode())
    return path
