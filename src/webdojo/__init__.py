"""webdojo trains visual web agents by online reinforcement learning in real browsers.

The names in `__all__` are what programs are written with: they are typed, documented, and change only with notice.
Everything else may change with any version. `docs/architecture.md` is the map of it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from webdojo.version import __version__ as __version__

if TYPE_CHECKING:
    from webdojo.api import Browser, Policy, evaluate, load_policy, open_browser, run_episode, train
    from webdojo.envs.env import Environment, Visit
    from webdojo.envs.task_sets import load_tasks
    from webdojo.reward.function import RewardFunction
    from webdojo.types import Reward, Task, Trajectory

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

if find_spec("verifiers") is not None:
    # `verifiers` and prime-rl find a taskset, its harness and its environment in `__all__` of the package that they
    # are named by (docs/interop.md).
    __all__ += ["WebdojoHarness", "WebdojoSeat", "WebdojoTaskset"]

_HOMES = {
    "webdojo.envs.env": ("Environment", "Visit"),
    "webdojo.envs.task_sets": ("load_tasks",),
    "webdojo.interop.verifiers.harness": ("WebdojoHarness",),
    "webdojo.interop.verifiers.taskset": ("WebdojoSeat", "WebdojoTaskset"),
    "webdojo.reward.function": ("RewardFunction",),
    "webdojo.types": ("Reward", "Task", "Trajectory"),
}
"""The public names that are not defined in `webdojo.api`."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, because some bring torch."""
    if name not in __all__:
        raise AttributeError(f"module 'webdojo' has no attribute {name!r}")
    home = next((module for module, names in _HOMES.items() if name in names), "webdojo.api")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
