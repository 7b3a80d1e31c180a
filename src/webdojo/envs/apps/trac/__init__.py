"""The application `trac`: Trac, an issue tracker with a wiki."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.trac import shop, tasks
from webdojo.envs.apps.trac.world import make_world


class Trac(Application):
    """Trac 1.6 on SQLite."""

    name = "trac"
    about = "Trac 1.6, an issue tracker with a wiki"
    folder = Path(__file__).parent
    noise = ("auth_cookie", "cache", "session", "session_attribute", "ticket.changetime")
    templates = {template.name: template for template in (*tasks.TEMPLATES, *shop.TEMPLATES)}

    def world(self, seed: int) -> dict[str, Any]:
        return make_world(seed)
