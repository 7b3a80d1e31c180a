"""Ranks of the learner on a cluster: processes that Ray places together, each of which follows the driver's calls.

Every rank reads the model and writes its part of a checkpoint, so both folders are on a file system that all nodes see
under the same path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util import get_node_ip_address, placement_group, remove_placement_group
from ray.util.placement_group import PlacementGroup
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from webdojo.cluster.roles import set_aside
from webdojo.errors import one_line
from webdojo.loops.models import make_learner as make_here
from webdojo.placement import RoleConfig
from webdojo.recipe import Recipe
from webdojo.trainer.learner.follower import follow_one
from webdojo.trainer.learner.learner import Learner
from webdojo.types import ImageSource


class RankServer:
    """The process of one rank above the first."""

    def follow(self, rank: int, count: int, address: str, port: int, build: bytes, device_type: str) -> None:
        """`follow_one`, with the GPU that Ray shows to this process."""
        try:
            follow_one(rank, count, address, port, build, device_type)
        except Exception:  # which it has told of
            os._exit(1)  # at once, so that ranks which wait for this one fail as well


class ClusterRanks:
    """Starts the followers of a learner as actors, on as few nodes as have room for all of them; a `Launcher`."""

    gpu = 0

    def __init__(self, role: RoleConfig) -> None:
        self._role = role
        self._group: PlacementGroup | None = None
        self._actors: list[Any] = []
        self._ranks: dict[Any, int] = {}
        """By the call that each rank is in until it ends."""

    @property
    def address(self) -> str:
        return str(get_node_ip_address())

    def start(self, count: int, port: int, build: bytes, device_type: str) -> None:
        options = set_aside(self._role)
        bundle = {"CPU": self._role.num_cpus, "GPU": self._role.num_gpus, "memory": options["memory"] or 0}
        bundle = {name: amount for name, amount in (bundle | self._role.resources).items() if amount}
        self._group = placement_group([bundle or {"CPU": 0.001}] * (count - 1), strategy="PACK")
        for rank in range(1, count):
            place = PlacementGroupSchedulingStrategy(self._group, rank - 1)
            actor: Any = ray.remote(RankServer).options(**options, scheduling_strategy=place).remote()
            self._actors.append(actor)
            self._ranks[actor.follow.remote(rank, count, self.address, port, build, device_type)] = rank

    def ended(self) -> Mapping[int, str]:
        over, _ = ray.wait([*self._ranks], num_returns=len(self._ranks), timeout=0)
        return {self._ranks[call]: _how(call) for call in over}

    def end(self, grace_s: float) -> None:
        if self._group is None:
            return
        ray.wait([*self._ranks], num_returns=len(self._ranks), timeout=grace_s)
        for actor in self._actors:
            ray.kill(actor)
        remove_placement_group(self._group)
        self._group = None


def _how(call: Any) -> str:
    """How the process of a call that is over has ended."""
    try:
        ray.get(call)
    except RayError as error:
        return f"its process is lost: {one_line(error)}"
    return "it has ended"


def make_learner(recipe: Recipe, images: ImageSource, model_path: str, *, kl: bool = True) -> Learner:
    """The recipe's learner, with the arguments of `loops.models.make_learner` and its ranks above the first on the
    cluster."""
    launcher = ClusterRanks(recipe.cluster.ranks) if recipe.train.ranks > 1 else None
    return make_here(recipe, images, model_path, kl=kl, launcher=launcher)
