"""The ranks of a learner: processes that do the same work at the same time, each on a share of it.

The driver is rank 0 (`driver`); the others are its followers (`follower`), on its machine or others. Each gets the same
calls with the same samples and cuts the same micro-batches, so a rank knows without a message what every other one
computes. Calls and their ends travel by collectives on a group of their own; what a follower says of itself (that it
has started, that it is alive, why it failed) lies in the `TCPStore` where the ranks meet.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from ipaddress import ip_address
from typing import Any, TypeAlias, TypeVar

import psutil
import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.distributed_c10d import Work

T = TypeVar("T")
Call: TypeAlias = "tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]"

TIMEOUT = timedelta(minutes=30)
"""Timeout of a collective: the longest that one rank may compute while the others wait, or take to start."""
NEVER = timedelta(days=365)
"""Timeout of the group that calls travel by: followers wait in it while episodes run."""
LOST_AFTER = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 60_000}
"""How the kernel finds that a machine is gone: within a minute, whether it owes an answer or not."""
HEARTBEAT_S = 5.0
"""Seconds between two signs of life of a follower."""


class Ranks:
    """The ranks of a learner, as one of them sees them; without a `mesh` a single one holds the model whole."""

    def __init__(self, rank: int = 0, count: int = 1, mesh: DeviceMesh | None = None) -> None:
        self.rank, self.count, self.mesh = rank, count, mesh

    def doing(
        self, work: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        """Where this is the driver, the followers do `work(learner, *args, **kwargs)` while the block does the same; a
        TrainError says that one failed, or has failed before.
        """
        return nullcontext()

    def gather(self, value: T) -> list[T]:
        """The values of all ranks, by rank; every rank calls it. Values are pickled."""
        if self.count == 1:
            return [value]
        found: list[Any] = [None] * self.count
        dist.all_gather_object(found, value)
        return found

    def close(self) -> None:
        if self.mesh is not None and dist.is_initialized():
            dist.destroy_process_group()


class Control:
    """The group that calls travel by, and the ends of calls; every rank makes one, and `wait` is how it waits."""

    def __init__(self, wait: Callable[[Work], object]) -> None:
        self._group = dist.new_group(backend="gloo", timeout=NEVER)
        _notice_lost_machines()
        self._wait = wait

    def send(self, call: Call | None) -> None:
        """The driver's call; None ends the followers."""
        data = bytearray(pickle.dumps(call))
        self._broadcast(torch.tensor([len(data)]))
        self._broadcast(torch.frombuffer(data, dtype=torch.uint8))

    def receive(self) -> Call | None:
        """A follower waits for the driver's next call."""
        size = torch.zeros(1, dtype=torch.int64)
        self._broadcast(size)
        data = torch.empty(int(size), dtype=torch.uint8)
        self._broadcast(data)
        call: Call | None = pickle.loads(data.numpy().tobytes())
        return call

    def end(self) -> None:
        """Every rank waits here until all have done the call."""
        self._wait(dist.barrier(self._group, async_op=True))

    def _broadcast(self, tensor: Tensor) -> None:
        self._wait(dist.broadcast(tensor, src=0, group=self._group, async_op=True))


def join(store: TCPStore, rank: int, count: int, device_type: str, gpu: int) -> DeviceMesh:
    """Enter the group of all ranks, which moves tensors by NCCL on GPUs, and the rest by gloo."""
    if device_type == "cuda":
        torch.cuda.set_device(gpu)
    if not _is_loopback(store.host):
        # By itself gloo listens at the address of this machine's own name, which is often one that only it knows.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _interface_to(store.host, store.port))
    backend = "cpu:gloo,cuda:nccl" if device_type == "cuda" else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=count, timeout=TIMEOUT)
    _notice_lost_machines()
    return init_device_mesh(device_type, (count,))


def started_key(rank: int) -> str:
    """Where a follower says that it has started."""
    return f"started/{rank}"


def heartbeat_key(rank: int) -> str:
    """Where it counts its signs of life."""
    return f"heartbeat/{rank}"


def failure_key(rank: int) -> str:
    """Where it says why it failed: JSON, whether its error may have come of another rank that was gone, and the error
    in words."""
    return f"failure/{rank}"


def _notice_lost_machines() -> None:
    """Let the kernel close this process's connections to machines that no longer answer. A process that dies closes its
    own; of a machine that is cut off or without power nobody would hear, and gloo would wait for it until `TIMEOUT`."""
    for each in psutil.Process().net_connections("tcp"):
        if each.fd >= 0 and each.status == psutil.CONN_ESTABLISHED and not _is_loopback(each.raddr.ip):
            with socket.socket(fileno=os.dup(each.fd)) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for name, value in LOST_AFTER.items():
                    if hasattr(socket, name):  # some are Linux's alone
                        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _is_loopback(host: str) -> bool:
    return ip_address(socket.getaddrinfo(host, None)[0][4][0]).is_loopback


def _interface_to(host: str, port: int) -> str:
    """The network interface of this machine by which it reaches another."""
    with socket.create_connection((host, port)) as connection:
        own = connection.getsockname()[0]
    return next(name for name, all_of in psutil.net_if_addrs().items() if any(own == each.address for each in all_of))
