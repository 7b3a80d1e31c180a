"""The environment `webarena`: tasks of a WebArena config file on sites that the user hosts.

It has no verdict of its own: the row's `eval` is in `Task.evaluator`, for a reward that the recipe names.
"""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.envs.env import Environment, Split
from webdojo.tasks import webarena
from webdojo.types import Task


class WebArena(Environment):
    """WebArena's tasks, for training and evaluation alike."""

    name: str = "webarena"
    path: str = ""
    """A list of rows, such as WebArena's `test.raw.json`."""
    sites: dict[str, str] = {}
    """Address of each site by its placeholder: `{__SHOPPING__: http://localhost:7770}`. Tasks that need others are left
    out. Addresses that are not public stand in `browser.guard.private_hosts` too."""

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return webarena.load(self.path, self.sites)[:n]
