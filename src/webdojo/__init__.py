"""webdojo trains visual web agents by online reinforcement learning in real browsers.

The names in `__all__` are what programs are written with: they are typed, documented, and change only with notice.
Everything else may change with any version. `docs/architecture.md` is the map of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.version import __version__ as __version__

if TYPE_CHECKING:
    from webdojo.api import Browser as Browser
    from webdojo.api import Policy as Policy
    from webdojo.api import evaluate as evaluate
    from webdojo.api import load_policy as load_policy
    from webdojo.api import open_browser as open_browser
    from webdojo.api import run_episode as run_episode
    from webdojo.api import train as train
    from webdojo.envs.env import Environment as Environment
    from webdojo.envs.env import Visit as Visit
    from webdojo.envs.task_sets import load_tasks as load_tasks
    from webdojo.reward import RewardFunction as RewardFunction
    from webdojo.types import Reward as Reward
    from webdojo.types import Task as Task
    from webdojo.types import Trajectory as Trajectory

_HOMES = {
    "Browser": "webdojo.api",
    "Environment": "webdojo.envs.env",
    "Policy": "webdojo.api",
    "Reward": "webdojo.types",
    "RewardFunction": "webdojo.reward",
    "Task": "webdojo.types",
    "Trajectory": "webdojo.types",
    "Visit": "webdojo.envs.env",
    "evaluate": "webdojo.api",
    "load_policy": "webdojo.api",
    "load_tasks": "webdojo.envs.task_sets",
    "open_browser": "webdojo.api",
    "run_episode": "webdojo.api",
    "train": "webdojo.api",
}
"""Where each public name is defined. They are imported when they are first used, because some bring torch."""

__all__ = [
    "Browser",
    "Environment",
    "Policy",
    "Reward",
    "RewardFunction",
    "Task",
    "Trajectory",
    "Visit",
    "evaluate",
    "load_policy",
    "load_tasks",
    "open_browser",
    "run_episode",
    "train",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'webdojo' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
