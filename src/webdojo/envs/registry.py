"""The environments by the name that a recipe gives them."""

from __future__ import annotations

from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Environment
from webdojo.envs.miniwob import Miniwob
from webdojo.envs.web import Web, WebArena
from webdojo.plugins import Registry, derived_from

ENVIRONMENTS: Registry[type[Environment]] = Registry(
    "webdojo.envs",
    "environment",
    *derived_from(Environment),
    {"dojo": Dojo, "miniwob": Miniwob, "web": Web, "webarena": WebArena},
)
"""What `env.name` of a recipe may be."""
