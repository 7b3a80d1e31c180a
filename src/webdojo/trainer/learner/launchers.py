"""What starts the followers of a learner, and knows how each of them is."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Mapping
from multiprocessing.context import SpawnProcess
from typing import Protocol

from webdojo.trainer.learner.follower import follow_one

LOOPBACK = "127.0.0.1"


class Launcher(Protocol):
    """Starts the followers of one learner, wherever they are; each of them runs `follow_one`."""

    @property
    def address(self) -> str:
        """Name or IP address by which the followers reach this process, the driver."""

    @property
    def gpu(self) -> int:
        """The driver's GPU, where models are on GPUs."""

    def start(self, count: int, port: int, build: bytes, device_type: str) -> None:
        """Start ranks 1 to `count` - 1, with the same arguments as those of `follow_one`; do not wait for them."""

    def ended(self) -> Mapping[int, str]:
        """Why each of those that have ended did, by rank, in words that follow "rank 1 failed: ". Asked every
        second."""

    def end(self, grace_s: float) -> None:
        """Wait so long for the followers to end by themselves, and kill those that have not."""


class LocalProcesses:
    """Followers on this machine, as processes of their own; on GPUs rank r takes GPU r."""

    address = LOOPBACK
    gpu = 0

    def __init__(self) -> None:
        self._processes: dict[int, SpawnProcess] = {}

    def start(self, count: int, port: int, build: bytes, device_type: str) -> None:
        for rank in range(1, count):
            self._processes[rank] = spawn(rank, count, self.address, port, build, device_type, rank)

    def ended(self) -> Mapping[int, str]:
        codes = {rank: process.exitcode for rank, process in self._processes.items()}
        return {rank: in_words(code) for rank, code in codes.items() if code is not None}

    def end(self, grace_s: float) -> None:
        until = time.monotonic() + grace_s
        for process in self._processes.values():
            process.join(max(0.0, until - time.monotonic()))
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.join()


def spawn(rank: int, count: int, address: str, port: int, build: bytes, device_type: str, gpu: int) -> SpawnProcess:
    """Start a follower as a child of this process, which it does not outlive; the arguments are as `follow_one`'s."""
    process = multiprocessing.get_context("spawn").Process(
        target=_main,
        args=(rank, count, address, port, build, device_type, gpu),
        name=f"learner rank {rank}",
        daemon=True,
    )
    process.start()
    return process


def in_words(exit_code: int | None) -> str:
    """How a process ended."""
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        return f"its process was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"its process ended with exit code {exit_code}; what it wrote before stands above"


def _main(rank: int, count: int, address: str, port: int, build: bytes, device_type: str, gpu: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what an interrupt ends
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    try:
        follow_one(rank, count, address, port, build, device_type, gpu)
    except Exception:  # which it has told of
        os._exit(1)  # at once, so that ranks which wait for this one fail as well


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
