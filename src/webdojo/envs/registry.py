"""What a recipe may name of environments, by name, and its `tasks` section."""

from __future__ import annotations

from pydantic import Field

from webdojo.config import Section
from webdojo.envs import web
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Environment
from webdojo.envs.miniwob import Miniwob
from webdojo.plugins import Registry, derived_from

ENVIRONMENTS: Registry[type[Environment]] = Registry(
    "webdojo.envs",
    "environment",
    *derived_from(Environment),
    {"dojo": Dojo, "miniwob": Miniwob, "web": web.Web, "webarena": web.WebArena},
)
"""What `env.name` of a recipe may be."""


class TasksConfig(Section):
    path: str = ""
    """File of the tasks to train on, instead of those of the environment; empty takes the environment's."""
    eval_path: str = ""
    """File of the tasks that policies are measured on; empty takes `path`, so that both are the same tasks."""
    source: str = "records"
    """How these files are read: `records` (`Task` records, JSON or one a line), or a source of your own
    (`envs/task_sets.py`)."""
    settled_chance: float = Field(default=1.0, gt=0, le=1)
    """Chance with which training draws a task when its turn comes whose last group was all solved or all failed; 1
    does not look at outcomes."""
    blocklist: str = ""
    """File of web sites that keep failing, whose tasks are passed over; shared by all who name it. Empty keeps none."""
