"""The environment `web`: sites that are there already, on the open web or an application that runs somewhere.

It serves nothing, has no tasks of its own (`tasks.path` names a file of them) and no verdict (name a `reward`).
"""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.envs.env import Environment, Split
from webdojo.errors import TaskError
from webdojo.types import Task


class Web(Environment):
    """Any site that is there already."""

    name: str = "web"

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        raise TaskError("the environment 'web' has no tasks of its own: name a file of them, tasks.path=my-tasks.jsonl")
