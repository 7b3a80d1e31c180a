"""The driver of a learner's ranks: rank 0, in the process that has the run.

Invariants: a follower that fails or dies ends the call that is under way with one error here, never in a wait without
end. A learner of several ranks that has raised has lost them.
"""

from __future__ import annotations

import json
import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import torch.distributed as dist
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.distributed_c10d import Work

from webdojo.errors import RankLost, TrainError, WebdojoError
from webdojo.trainer.learner.launchers import LOOPBACK, Launcher, LocalProcesses
from webdojo.trainer.learner.ranks import (
    HEARTBEAT_S,
    TIMEOUT,
    Control,
    Ranks,
    failure_key,
    heartbeat_key,
    join,
    started_key,
)

L = TypeVar("L")

REPORT_TIMEOUT_S = 10.0
"""Seconds that the driver waits, when its own work failed, for a follower to report why."""
POLL_S = 1.0
"""Seconds between two looks at whether the followers still run."""
SILENCE_S = 120.0
"""A follower without a sign of life for so long is lost: its machine is gone, or it hangs."""


def lead(build: Callable[[Ranks], L], count: int, device_type: str, launcher: Launcher | None = None) -> L:
    """Build a learner of `count` ranks, this process being rank 0; whoever gets it closes its ranks.

    `build` makes each rank's learner, and is pickled. The launcher starts the others, by default on this machine; with
    one rank nothing is started, and its model is sharded all the same, over a mesh of one. A TrainError says that a
    rank cannot start, or that the ranks of another learner of this process are not closed.
    """
    if dist.is_initialized():
        raise TrainError("this process already leads the ranks of a learner; close that learner before the next")
    launcher = launcher or LocalProcesses()
    store = meeting_place(launcher.address)
    if count == 1:
        return build(Ranks(0, 1, join(store, 0, 1, device_type, launcher.gpu)))
    driver = Driver(store, count, launcher)
    with driver.one_error():
        driver.start(pickle.dumps(build), device_type)
        learner = build(driver)
        driver.wait_for_the_end()
    return learner


def meeting_place(address: str) -> TCPStore:
    """The store where the ranks meet. On the loopback address it listens there alone; on another, on all addresses of
    this machine, as torch does."""
    port, listening = 0, None
    if address == LOOPBACK:
        opened = socket.create_server((address, 0))
        port, listening = opened.getsockname()[1], opened.detach()
    return TCPStore(address, port, is_master=True, wait_for_workers=False, timeout=TIMEOUT, master_listen_fd=listening)


class Driver(Ranks):
    """Rank 0; `store` is where the ranks meet."""

    def __init__(self, store: TCPStore, count: int, launcher: Launcher) -> None:
        super().__init__(0, count)
        self._store, self._launcher = store, launcher
        self._ended = False
        self._on_gpus = False
        self._found: TrainError | None = None
        """Why a follower failed, where `_watch` has found it."""
        self._call, self._ending = threading.Lock(), threading.Lock()
        self._heartbeats = {rank: (0, time.monotonic()) for rank in range(1, count)}
        """How many signs of life each follower had given when last one was new, and when that was."""

    def start(self, build: bytes, device_type: str) -> None:
        """Start the followers, wait until all run, so that nobody is waited for who never comes, and enter their
        group."""
        self._launcher.start(self.count, self._store.port, build, device_type)
        until = time.monotonic() + TIMEOUT.total_seconds()
        while not self._store.check([started_key(rank) for rank in range(1, self.count)]):
            if failure := self._failure():
                raise failure
            if time.monotonic() > until:
                raise TrainError(f"not all of the learner's {self.count} ranks have started within {TIMEOUT}")
            time.sleep(0.02)
        self.mesh = join(self._store, 0, self.count, device_type, self._launcher.gpu)
        self._on_gpus = device_type == "cuda"
        self._control = Control(self._wait)
        threading.Thread(target=self._watch, name="learner ranks", daemon=True).start()

    @contextmanager
    def doing(self, work: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[None]:
        if self._ended:
            raise TrainError("the learner's ranks have ended after an earlier error; resume from the last checkpoint")
        with self._call, self.one_error():
            self._control.send((work, args, kwargs))
            yield
            self.wait_for_the_end()

    @contextmanager
    def one_error(self) -> Iterator[None]:
        """Let the followers end where the block raises, and raise why one of them failed if that may have been why."""
        try:
            yield
        except BaseException as error:
            # Another error than ours may come of a follower that is gone, which then is the one to tell of.
            doubtful = isinstance(error, Exception) and not isinstance(error, WebdojoError)
            failure = self._failure(REPORT_TIMEOUT_S) if doubtful else None
            self._give_up()
            if failure is not None:
                raise failure from error
            raise

    def wait_for_the_end(self) -> None:
        """Wait until every follower has done its last call; raise what ended one of them."""
        self._control.end()

    def close(self) -> None:
        """Let all end; a call that is under way in another thread fails. Nothing happens where they have ended."""
        if self._ended:
            return
        self._ended = True  # so that nobody takes an end that is wanted for a death
        if not self._call.acquire(blocking=False):
            self._end_followers(0.0)
            self._abort()
            return
        with suppress(RuntimeError, TrainError):  # of one that has died since the last call
            self._control.send(None)
            self._control.end()
        dist.destroy_process_group()
        self._end_followers(REPORT_TIMEOUT_S)

    def _give_up(self) -> None:
        self._ended = True
        self._end_followers(0.0)
        if dist.is_initialized():
            dist.destroy_process_group()

    def _end_followers(self, grace_s: float) -> None:
        with self._ending:
            self._launcher.end(grace_s)

    def _wait(self, work: Work) -> None:
        """Wait for a collective of the control group, or until a follower has failed."""
        pause_s = 0.0002
        while not work.is_completed():
            if self._found is not None:
                raise self._found
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.02)
        work.wait()

    def _watch(self) -> None:
        """When a follower has failed, end all, so that a call which waits for it fails: by gloo when connections close,
        by NCCL when it is told to."""
        while not self._ended:
            failure = self._failure(REPORT_TIMEOUT_S) if self._failures(SILENCE_S) else None
            if failure is not None and not self._ended:
                self._found = failure
                self._end_followers(0.0)
                self._abort()
                return
            time.sleep(POLL_S)

    def _failure(self, timeout_s: float = 0.0) -> TrainError | None:
        """What ended a follower, if anything has within that time, and rather what ended the first one than what that
        did to the others."""
        until = time.monotonic() + timeout_s
        while self._found is None:
            over = time.monotonic() >= until
            # One whose machine is gone says nothing, and nobody else says it either.
            failures = self._failures(1.5 * HEARTBEAT_S if over and timeout_s else SILENCE_S)
            if over or len(failures) == self.count - 1 or any(not secondary for secondary, _, _ in failures):
                return min(failures, key=lambda each: each[:2])[2] if failures else None
            time.sleep(0.02)
        return self._found

    def _failures(self, silence_s: float) -> list[tuple[bool, int, TrainError]]:
        """Of each follower that has failed, whether its error may have come of another's, its rank and the error."""
        ended = self._silent(silence_s) | dict(self._launcher.ended())  # asked first: who fails says why, and then ends
        failures: list[tuple[bool, int, TrainError]] = []
        for rank in range(1, self.count):
            kind: type[TrainError] = RankLost
            secondary, text = False, ended.get(rank)
            if self._store.check([failure_key(rank)]):
                kind = TrainError
                secondary, text = json.loads(self._store.get(failure_key(rank)))
            if text is not None:
                told = f"rank {rank} of the learner's {self.count} failed: {text}; resume from the last checkpoint"
                failures.append((secondary, rank, kind(told)))
        return failures

    def _silent(self, silence_s: float) -> dict[int, str]:
        now, silent = time.monotonic(), dict[int, str]()
        for rank, (before, since) in self._heartbeats.items():
            count = self._store.add(heartbeat_key(rank), 0)
            if count != before:
                self._heartbeats[rank] = (count, now)
            elif count and now - since > silence_s:  # none before it has started
                silent[rank] = f"it has given no sign of life for {now - since:.0f} s"
        return silent

    def _abort(self) -> None:
        """Let the collective that is under way fail: NCCL waits for a dead rank without end, gloo does not."""
        if self._on_gpus and (group := dist.group.WORLD) is not None:
            group.abort()
