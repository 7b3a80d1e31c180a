"""The environments of sites that are there already: they serve nothing, and have no verdict (name a `reward`).

`web` is any site, on the open web or an application that runs somewhere, and has no tasks of its own (`tasks.path`
names a file of them). `webarena` has the tasks of a WebArena config file on sites that the user hosts;
a reward finds the `eval` of a task's row in `Task.evaluator`.
"""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.envs.env import Environment, Split
from webdojo.errors import TaskError
from webdojo.tasks import webarena
from webdojo.types import Task


class Web(Environment):
    """Any site that is there already."""

    name: str = "web"

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        raise TaskError("the environment 'web' has no tasks of its own: name a file of them, tasks.path=my-tasks.jsonl")


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
