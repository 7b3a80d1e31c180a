"""The driver of a learner's ranks: rank 0, in the process that has the run.

Invariants: a follower that fails or dies ends the call that is under way with one error here, never in a wait without
end. A learner of several ranks that has raised has lost them.
"""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import torch.distributed as dist
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from webdojo.errors import RankLost, TrainError, WebdojoError
from webdojo.trainer.learner.launchers import Launcher, LocalProcesses
from webdojo.trainer.learner.ranks import (
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
"""Seconds after which it looks again whether a follower that it waits for still runs."""
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
    store = TCPStore(launcher.address, 0, is_master=True, wait_for_workers=False, timeout=TIMEOUT)
    if count == 1:
        return build(Ranks(0, 1, join(store, 0, 1, device_type, launcher.gpu)))
    driver = Driver(store, count, launcher)
    with driver.one_error():
        launcher.start(count, store.port, pickle.dumps(build), device_type)
        driver.join(device_type)
        learner = build(driver)
        driver.wait_for_the_end()
    return learner


class Driver(Ranks):
    """Rank 0; `store` is where the ranks meet."""

    def __init__(self, store: TCPStore, count: int, launcher: Launcher) -> None:
        super().__init__(0, count)
        self._store, self._launcher = store, launcher
        self._ended = False
        self._on_gpus = False
        self._call = threading.Lock()
        self._heartbeats = {rank: (0, time.monotonic()) for rank in range(1, count)}
        """How many signs of life each follower had given when last one was new, and when that was."""

    def join(self, device_type: str) -> None:
        """Wait until all followers run, so that nobody is waited for who never comes, and enter their group."""
        until = time.monotonic() + TIMEOUT.total_seconds()
        while not self._store.check([started_key(rank) for rank in range(1, self.count)]):
            self._raise_failure()
            if time.monotonic() > until:
                raise TrainError(f"not all of the learner's {self.count} ranks have started within {TIMEOUT}")
            time.sleep(0.02)
        self.mesh = join(self._store, 0, self.count, device_type, self._launcher.gpu)
        self._control = Control(self._wait)
        if device_type == "cuda":
            self._on_gpus = True
            threading.Thread(target=self._abort_when_one_fails, daemon=True).start()

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
            try:
                # Another error than ours may come of a follower that is gone, which then is the one to tell of.
                if isinstance(error, Exception) and not isinstance(error, WebdojoError):
                    self._raise_failure(REPORT_TIMEOUT_S)
            except TrainError as failure:
                raise failure from error
            finally:
                self._give_up()
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
            self._launcher.end(0.0)
            self._abort()
            return
        with suppress(RuntimeError, TrainError):  # of one that has died since the last call
            self._control.send(None)
            self._control.end()
        dist.destroy_process_group()
        self._launcher.end(REPORT_TIMEOUT_S)

    def _give_up(self) -> None:
        self._ended = True
        self._launcher.end(0.0)
        if dist.is_initialized():
            dist.destroy_process_group()

    def _wait(self, work: dist.Work) -> None:
        """Wait for a collective of the control group, or until a follower has failed."""
        pause_s, asked = 0.0002, time.monotonic()
        while not work.is_completed():
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.02)
            if time.monotonic() - asked > POLL_S:
                if self._failures():
                    self._raise_failure(REPORT_TIMEOUT_S)
                asked = time.monotonic()
        work.wait()

    def _raise_failure(self, timeout_s: float = 0.0) -> None:
        """Raise what ended a follower, if anything has within that time, and rather what ended the first one than what
        that did to the others."""
        until = time.monotonic() + timeout_s
        while True:
            failures = self._failures()
            if time.monotonic() >= until or len(failures) == self.count - 1:
                break
            if any(not secondary for secondary, _, _ in failures):
                break
            time.sleep(0.02)
        if failures:
            raise min(failures, key=lambda each: each[:2])[2]

    def _failures(self) -> list[tuple[bool, int, TrainError]]:
        """Of each follower that has failed, whether its error may have come of another's, its rank and the error."""
        ended = self._silent() | dict(self._launcher.ended())  # asked first: who fails says why, and then ends
        failures: list[tuple[bool, int, TrainError]] = []
        for rank in range(1, self.count):
            secondary, kind, text = False, RankLost, ended.get(rank)
            if self._store.check([failure_key(rank)]):
                kind = TrainError
                secondary, text = json.loads(self._store.get(failure_key(rank)))
            if text is not None:
                told = f"rank {rank} of the learner's {self.count} failed: {text}; resume from the last checkpoint"
                failures.append((secondary, rank, kind(told)))
        return failures

    def _silent(self) -> dict[int, str]:
        now, silent = time.monotonic(), dict[int, str]()
        for rank, (before, since) in self._heartbeats.items():
            count = self._store.add(heartbeat_key(rank), 0)
            if count != before:
                self._heartbeats[rank] = (count, now)
            elif now - since > SILENCE_S:
                silent[rank] = f"it has given no sign of life for {now - since:.0f} s"
        return silent

    def _abort_when_one_fails(self) -> None:
        while not self._ended:
            if self._failures() and not self._ended:
                self._abort()
                return
            time.sleep(POLL_S)

    def _abort(self) -> None:
        """Let the call that is under way fail: NCCL waits for a dead rank without end, gloo does not."""
        if self._on_gpus and (group := dist.group.WORLD) is not None:
            group.abort()
