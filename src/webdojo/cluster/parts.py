"""The processes of a recipe on a cluster, what each sets aside, and which of them go to one node together.

Two kinds of plan. Split: engines and ranks have GPUs of their own, one may work while the other does. Colocated: both
have a share of a GPU (`cluster.ranks.num_gpus` and `cluster.engines.num_gpus` below 1), and each rank's GPU carries
its engines, which sleep while the learner works. The driver is rank 0 of the learner and is planned as a rank; the
image server, which only copies bytes, runs beside it and sets nothing aside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from webdojo.cluster.packing import GB, Bundle, Share, total
from webdojo.errors import ConfigError
from webdojo.placement import ClusterConfig, RoleConfig
from webdojo.recipe import Recipe

DRIVER = "driver, rank 0"
IMAGES = "image server"
RANK = "rank"
ENGINE = "engine"
ROLLOUT = "rollout worker"


@dataclass(frozen=True)
class Part:
    """Processes of one kind."""

    name: str
    count: int
    each: Share


@dataclass(frozen=True)
class Plan:
    cluster: ClusterConfig
    ranks: int
    """Ranks of the learner, the driver included."""
    concurrency: int
    """Episodes at once, in all rollout workers together."""

    @property
    def parts(self) -> list[Part]:
        ranks, engines, rollouts = self.cluster.ranks, self.cluster.engines, self.cluster.rollouts
        return [
            Part(DRIVER, 1, _share(ranks)),
            Part(IMAGES, 1, Share()),
            *([Part(RANK, self.ranks - 1, _share(ranks))] if self.ranks > 1 else []),
            Part(ENGINE, engines.replicas, _share(engines)),
            Part(ROLLOUT, rollouts.replicas, _share(rollouts)),
        ]

    def bundles(self, driver: str = "") -> list[Bundle]:
        """What goes to one node together; the driver is on the node of that name already, where it is given.

        A bundle of a colocated plan takes its GPU whole, so that no two ranks come to share one.

        Raises:
            ConfigError: a share of GPUs that Ray cannot give, or more than one GPU for a rank and its engines.
        """
        ranks, engines, rollouts = self.cluster.ranks, self.cluster.engines, self.cluster.rollouts
        for key, role in (("ranks", ranks), ("engines", engines), ("rollouts", rollouts)):
            _check_gpus(key, role)
        learner = [Bundle((DRIVER, IMAGES), _share(ranks), driver)]
        learner += [Bundle((RANK,), _share(ranks))] * (self.ranks - 1)
        served = [Bundle((ENGINE,), _share(engines))] * engines.replicas
        if self.cluster.colocated:
            self._check_colocated()
            learner = [_beside(rank, served[at :: self.ranks]) for at, rank in enumerate(learner)]
            served = []
        return [*learner, *served, *[Bundle((ROLLOUT,), _share(rollouts))] * rollouts.replicas]

    def _check_colocated(self) -> None:
        """Raise ConfigError where a rank and its engines ask for more than their one GPU."""
        rank, engine = self.cluster.ranks.num_gpus, self.cluster.engines.num_gpus
        beside = math.ceil(self.cluster.engines.replicas / self.ranks)
        if rank + beside * engine > 1 + 1e-9:
            most = math.floor((1 - rank) / beside * 100) / 100
            raise ConfigError(
                f"cluster.ranks.num_gpus = {rank:g} and cluster.engines.num_gpus = {engine:g} for {beside} "
                f"engine{'s' * (beside > 1)} beside each rank are {rank + beside * engine:g} of a GPU, where at most "
                f"all of one can be shared: take cluster.engines.num_gpus={most:g}"
            )


def plan_of(recipe: Recipe) -> Plan:
    """The plan of a recipe.

    Raises:
        ConfigError: several rollout workers were to serve the environment on one port.
    """
    workers = recipe.cluster.rollouts.replicas
    if workers > 1 and (port := recipe.env.fixed_port):
        otherwise = "" if recipe.browser.servers else "leave env.port out, or "
        raise ConfigError(
            f"env.port = {port}, and each of the {workers} rollout workers (cluster.rollouts.replicas) serves the "
            f"environment {recipe.env.name!r} by itself, where browsers can find only one at a port: {otherwise}take "
            "cluster.rollouts.replicas=1"
        )
    return Plan(recipe.cluster, recipe.train.ranks, recipe.rollout.concurrency)


def _share(role: RoleConfig) -> Share:
    return Share(role.num_cpus, role.num_gpus, int(role.memory_gb * GB), role.resources)


def _beside(rank: Bundle, engines: Sequence[Bundle]) -> Bundle:
    """A rank and the engines that share its GPU, which they have to themselves."""
    needs = total(each.needs for each in (rank, *engines))
    return Bundle(rank.parts + (ENGINE,) * len(engines), replace(needs, gpus=1), rank.node)


def _check_gpus(key: str, role: RoleConfig) -> None:
    if role.num_gpus > 1 and role.num_gpus % 1:
        raise ConfigError(
            f"cluster.{key}.num_gpus = {role.num_gpus:g}: more than one GPU are whole ones; take "
            f"{math.floor(role.num_gpus)} or {math.ceil(role.num_gpus)}"
        )
