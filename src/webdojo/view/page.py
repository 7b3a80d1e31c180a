"""Self-contained HTML pages: style, script and pictures are inside, and nothing is loaded.

Templates escape whatever a model or a page wrote. The content security policy allows only the one
script, by its hash, and would stop any other.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from webdojo.progress import duration
from webdojo.store.files import write_atomic
from webdojo.types import ImageSource, Trajectory
from webdojo.view.charts import number, percent
from webdojo.view.film import film


def render(template: str, **values: Any) -> str:
    """Render a template of this package as HTML."""
    environment = Environment(
        loader=PackageLoader("webdojo.view"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"duration": duration, "percent": percent, "number": number}
    script = files("webdojo.view").joinpath("templates/report.js").read_text()
    return environment.get_template(template).render(
        **values,
        style=Markup(files("webdojo.view").joinpath("templates/report.css").read_text()),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def write_trajectory(trajectory: Trajectory, images: ImageSource, path: Path) -> Path:
    """Write every step of one episode to `path` and return it; a verdict is not needed."""
    frames = film(trajectory, images, most=len(trajectory.turns))
    html = render("trajectory.html.j2", trajectory=trajectory, frames=frames)
    write_atomic(path, html.encode())
    return path
