"""Where the parts of a run are: on this machine, or spread over the nodes of a Ray cluster."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from webdojo.config import Section

Resources = dict[str, Annotated[float, Field(gt=0)]]
"""Amounts by the names of Ray's custom resources, such as `{browsers: 1}`: only nodes that offer them are taken."""


class RoleConfig(Section):
    """Processes of one kind, each of which Ray places on a node that has what it asks for; the options have Ray's
    names."""

    num_cpus: float = Field(default=1, ge=0)
    """CPUs that each sets aside."""
    num_gpus: float = Field(default=0, ge=0)
    """GPUs that each sets aside, which it alone sees."""
    memory_gb: float = Field(default=0, ge=0)
    """Memory that each sets aside; 0: none."""
    resources: Resources = Field(default={})


class ReplicatedRole(RoleConfig):
    replicas: int = Field(default=1, ge=1)
    """Processes."""


class RolloutRole(ReplicatedRole):
    num_cpus: float = Field(default=4, ge=0)
    """CPUs that each sets aside: a core carries four sessions of the embedded web, or two of the live one
    (`docs/browser-service.md`)."""


class ClusterConfig(Section):
    """The Ray cluster of a run (`docs/cluster.md`); without an address everything runs on this machine, without Ray.

    The process that trains is rank 0 of the learner, and keeps the run folder.
    """

    address: str = ""
    """`auto` on a node of the cluster, or `HOST:PORT` of its head."""
    rollouts: RolloutRole = RolloutRole()
    """Processes that run episodes, `rollout.concurrency` in all, each in browsers of its own or on
    `browser.servers`."""
    engines: ReplicatedRole = ReplicatedRole()
    """Replicas of the recipe's engine; a request goes to the least busy one."""
    ranks: RoleConfig = RoleConfig()
    """What each rank of the learner above the first sets aside; how many there are says `train.ranks`."""
    heartbeat_timeout_s: float = Field(default=60, gt=0)
    """A process that answers nothing for so long is ended and started again."""

    @property
    def colocated(self) -> bool:
        """Whether engines share GPUs with the ranks of the learner."""
        return 0 < self.ranks.num_gpus < 1 and 0 < self.engines.num_gpus < 1

    @property
    def apart(self) -> bool:
        """Whether engines and ranks have GPUs of their own, on a cluster."""
        return bool(self.address) and self.ranks.num_gpus >= 1 and self.engines.num_gpus >= 1
