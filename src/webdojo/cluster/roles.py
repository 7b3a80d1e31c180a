"""From a role of the recipe's section `cluster` to actors that Ray places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ray
import yaml
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from webdojo.cluster.images import ImageServer
from webdojo.placement import RoleConfig
from webdojo.recipe import Recipe, dump_recipe, parse_recipe

CALLS = 10_000
"""Calls that one process may have under way."""
GIB = 2**30


def actor_of(kind: type, role: RoleConfig, *args: Any) -> Any:
    """An actor with what its role sets aside, on whichever nodes are the emptiest; Ray starts it again for ever."""
    options = {"scheduling_strategy": "SPREAD", "max_restarts": -1, "max_concurrency": CALLS}
    return ray.remote(kind).options(**set_aside(role), **options).remote(*args)


def set_aside(role: RoleConfig) -> dict[str, Any]:
    """What a process of a role sets aside, as Ray's options."""
    return {
        "num_cpus": role.num_cpus,
        "num_gpus": role.num_gpus,
        "memory": int(role.memory_gb * GIB) or None,
        "resources": role.resources or None,
    }


class Seat:
    """Holds what the driver sets aside, of which Ray does not know otherwise."""

    def gpus(self) -> list[int]:
        """Numbers of its GPUs on this node."""
        return [int(each) for each in ray.get_gpu_ids()]


def seat_of_the_driver(role: RoleConfig) -> Any:
    """Set aside what rank 0 of the learner needs on this node, until the handle is forgotten."""
    return ray.remote(Seat).options(**set_aside(role), scheduling_strategy=_on_this_node(), max_restarts=-1).remote()


def image_server(folder: Path) -> Any:
    """The process that keeps the screenshots of a run, on this node, where the run folder is."""
    options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "max_concurrency": 8}
    return ray.remote(ImageServer).options(**options, scheduling_strategy=_on_this_node()).remote(folder.absolute())


def _on_this_node() -> NodeAffinitySchedulingStrategy:
    return NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)


def sent(recipe: Recipe) -> str:
    """A recipe as it travels: plugs in files of the user's are read again where it arrives."""
    return dump_recipe(recipe, whole_paths=True)


def received(recipe: str) -> Recipe:
    return parse_recipe(yaml.safe_load(recipe), "the recipe of the run")
