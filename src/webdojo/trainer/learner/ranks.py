"""The ranks of a learner: processes that do the same work at the same time, each on a share of it.

The driver is rank 0; the others are its followers, on the same machine. Each gets the same calls with the same samples
and cuts the same micro-batches, so a rank knows without a message what every other one computes. Invariants: a follower
that fails or dies ends the call that is under way with one error in the driver, never in a wait without end; followers
do not outlive the driver. A learner of several ranks that has raised has lost them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from multiprocessing import connection
from typing import Any, TypeAlias, TypeVar

import torch
import torch.distributed as dist
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from webdojo.errors import RankLost, TrainError, WebdojoError

L = TypeVar("L")
T = TypeVar("T")
Pipe: TypeAlias = "connection.Connection[Any, Any]"

REPORT_TIMEOUT_S = 10.0
"""Seconds that the driver waits, when its own work failed, for a follower to report why."""
TIMEOUT = timedelta(minutes=30)
"""Timeout of a collective: the longest that one rank may compute while the others wait."""


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


def lead(build: Callable[[Ranks], L], count: int, device_type: str) -> L:
    """Build a learner of `count` ranks, this process being rank 0; whoever gets it closes its ranks.

    `build` makes each rank's learner, and is pickled. With one rank nothing is started; its model is sharded all the
    same, over a mesh of one. On `cuda` rank r takes GPU r. A TrainError says that a rank cannot start, or that the
    ranks of another learner of this process are not closed.
    """
    if dist.is_initialized():
        raise TrainError("this process already leads the ranks of a learner; close that learner before the next")
    store = TCPStore("127.0.0.1", 0, count, is_master=True, wait_for_workers=False)
    driver = Driver(build, count, store.port, device_type)
    try:
        driver.answers()  # all run, so that nobody is waited for who never comes
        driver.mesh = _join(store, 0, count, device_type)
        learner = build(driver if count > 1 else Ranks(0, 1, driver.mesh))
        driver.answers()
    except BaseException:
        driver.give_up()
        raise
    return learner


class Driver(Ranks):
    """Rank 0, which starts the processes of the others; `port` is that of the store where the ranks meet."""

    def __init__(self, build: Callable[[Ranks], Any], count: int, port: int, device_type: str) -> None:
        super().__init__(0, count)
        self._ended = False
        self._call = threading.Lock()
        self._followers: list[Any] = []
        self._pipes: list[Pipe] = []
        context = multiprocessing.get_context("spawn")
        for rank in range(1, count):
            ours, theirs = context.Pipe()
            args = (theirs, build, rank, count, port, device_type)
            process = context.Process(target=_follow, args=args, name=f"learner rank {rank}", daemon=True)
            process.start()
            theirs.close()
            self._followers.append(process)
            self._pipes.append(ours)
        self._on_gpus = device_type == "cuda"
        if self._on_gpus and self._followers:
            threading.Thread(target=self._abort_when_one_dies, daemon=True).start()

    @contextmanager
    def doing(self, work: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[None]:
        if self._ended:
            raise TrainError("the learner's ranks have ended after an earlier error; resume from the last checkpoint")
        with self._call:
            try:
                for pipe in self._pipes:
                    pipe.send((work, args, kwargs))
                yield
                self.answers()
            except BaseException as error:
                try:
                    # Another error than ours may come of a follower that is gone, which then is the one to tell of.
                    if isinstance(error, Exception) and not isinstance(error, WebdojoError):
                        self.answers(REPORT_TIMEOUT_S)
                except TrainError as failure:
                    raise failure from error
                finally:
                    self.give_up()
                raise

    def close(self) -> None:
        """Let all end; a call that is under way in another thread fails. Nothing happens where they have ended."""
        if self._ended:
            return
        if not self._call.acquire(blocking=False):
            self._kill()
            self._abort()
            return
        self._ended = True  # so that nobody takes an end that is wanted for a death
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.send(None)
        dist.destroy_process_group()
        for process in self._followers:
            process.join(REPORT_TIMEOUT_S)
        self._kill()

    def give_up(self) -> None:
        self._kill()
        if dist.is_initialized():
            dist.destroy_process_group()

    def _kill(self) -> None:
        self._ended = True
        for process in self._followers:
            process.kill()
        for process in self._followers:
            process.join()

    def answers(self, timeout_s: float | None = None) -> None:
        """Wait until every follower has done its last call, or for that long; raise what ended one of them."""
        until = None if timeout_s is None else time.monotonic() + timeout_s
        waiting: dict[Any, int] = {pipe: rank for rank, pipe in enumerate(self._pipes, start=1)}
        failures: list[tuple[bool, int, TrainError]] = []
        while waiting:
            left = None if until is None else max(0.0, until - time.monotonic())
            ready: list[Any] = connection.wait(list(waiting), left)
            if not ready:
                break
            for pipe in ready:
                rank, kind = waiting.pop(pipe), TrainError
                try:
                    failed = pipe.recv()
                except (EOFError, OSError):
                    failed, kind = (False, self._death(rank)), RankLost
                if failed is not None:
                    secondary, text = failed
                    told = f"rank {rank} of the learner's {self.count} failed: {text}; resume from the last checkpoint"
                    failures.append((secondary, rank, kind(told)))
                    # One that fails takes those down that wait for it; give them time to report, and no more.
                    until = min(until or float("inf"), time.monotonic() + REPORT_TIMEOUT_S)
        if failures:
            raise min(failures, key=lambda each: each[:2])[2]

    def _death(self, rank: int) -> str:
        process = self._followers[rank - 1]
        process.join(REPORT_TIMEOUT_S)
        if process.exitcode is not None and process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            return f"its process was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
        return f"its process ended with exit code {process.exitcode}; what it wrote before stands above"

    def _abort_when_one_dies(self) -> None:
        connection.wait([process.sentinel for process in self._followers])
        if not self._ended:
            self._abort()

    def _abort(self) -> None:
        """Let the call that is under way fail: NCCL waits for a dead rank without end, gloo does not."""
        if self._on_gpus and (group := dist.group.WORLD) is not None:
            group.abort()


def _join(store: TCPStore, rank: int, count: int, device_type: str) -> DeviceMesh:
    """Enter the group of all ranks, which moves tensors by NCCL on GPUs, and the rest by gloo."""
    if device_type == "cuda":
        torch.cuda.set_device(rank)
    backend = "cpu:gloo,cuda:nccl" if device_type == "cuda" else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=count, timeout=TIMEOUT)
    return init_device_mesh(device_type, (count,))


def _follow(pipe: Pipe, build: Callable[[Ranks], Any], rank: int, count: int, port: int, device_type: str) -> None:
    """The main function of a follower. It answers each call, and its start and `build` before, with None, or with
    whether its error may have come of another rank that was gone, and the error in words.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what an interrupt ends
    threading.Thread(target=_end_with_the_driver, daemon=True).start()
    try:
        pipe.send(None)
        store = TCPStore("127.0.0.1", port, count, is_master=False)
        learner = build(Ranks(rank, count, _join(store, rank, count, device_type)))
        pipe.send(None)
        while (call := pipe.recv()) is not None:
            work, args, kwargs = call
            work(learner, *args, **kwargs)
            pipe.send(None)
        dist.destroy_process_group()
    except Exception as error:
        if not isinstance(error, (WebdojoError, EOFError)):
            traceback.print_exc()
            sys.stderr.flush()
        secondary = type(error) in (RuntimeError, dist.DistBackendError, dist.DistNetworkError)
        with suppress(OSError):
            pipe.send((secondary, f"{type(error).__name__}: {' '.join(str(error).split())}"[:1000]))
        os._exit(1)  # at once, so that ranks which wait for this one fail as well


def _end_with_the_driver() -> None:
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)
