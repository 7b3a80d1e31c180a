"""What a recipe may name of environments, by name, and its `tasks` section."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from webdojo.config import Section
from webdojo.envs import web
from webdojo.envs.apps.env import Apps
from webdojo.envs.browsergym.env import BrowserGym
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Environment
from webdojo.envs.miniwob import Miniwob
from webdojo.plugins import Registry, derived_from, plug_field
from webdojo.tasks.samplers.registry import SAMPLERS
from webdojo.tasks.samplers.sampler import Sampler
from webdojo.tasks.samplers.uniform import Uniform

ENVIRONMENTS: Registry[type[Environment]] = Registry(
    "webdojo.envs",
    "environment",
    *derived_from(Environment),
    {
        "apps": Apps,
        "browsergym": BrowserGym,
        "dojo": Dojo,
        "miniwob": Miniwob,
        "web": web.Web,
        "webarena": web.WebArena,
    },
)
"""What `env.name` of a recipe may be."""


class TasksConfig(Section):
    path: str = ""
    """File of the tasks to train on, instead of those of the environment; empty takes the environment's."""
    eval_path: str = ""
    """File of the tasks that policies are measured on; empty takes `path`, so that both are the same tasks."""
    source: str = "records"
    """How these files are read: `records` (`Task` records), as those of a benchmark (`webvoyager`, `openwebvoyager`,
    `online_mind2web`, `deepshop`, `webgym`), or by a source of your own (`envs/task_sets.py`). Each takes JSON, JSON
    lines, Parquet and folders of Hugging Face `datasets`."""
    shift_dates: date | None = Field(default=None, lt=date(2100, 1, 1))
    """Day on which the tasks of these files must be doable, such as 2027-01-01: where one plans ahead (a flight, a
    hotel, a pickup) and names an earlier date, all its dates move by whole years. It says so in `Task.metadata` and by
    its id. Not set, all stay as they are (`tasks/dates.py`)."""
    sampler: Annotated[Sampler, *plug_field(SAMPLERS, "uniform")] = Uniform()
    """Which tasks training draws more often (`tasks/samplers/`)."""
    blocklist: str = ""
    """File of web sites that keep failing, whose tasks are passed over; shared by all who name it. Empty keeps none."""
