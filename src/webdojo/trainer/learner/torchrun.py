"""Ranks that torchrun (or `srun`) has started: rank 0 runs the command, the others serve its learners.

Rank 0 announces each learner in the store where all meet; each other rank then starts a follower as its child, so that
one learner may fail and the next find everyone there. Invariant: the others end when rank 0 has ended its command.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]

from webdojo.trainer.learner.launchers import in_words, spawn
from webdojo.world import World

POLL_S = 0.2
"""Seconds between two looks into the store."""
END_TIMEOUT_S = 10.0
"""Seconds that rank 0 waits for the others to see that it has ended, and for a follower to be killed."""
ENDED = "ended"
"""Key that says that rank 0 has ended its command."""


class Started:
    """Followers of one learner among the ranks of a world, which has as many."""

    def __init__(self, world: World) -> None:
        self.address, self.gpu = world.address, world.local_rank
        self._store = _store(world)
        self._others = range(1, world.count)
        self._number = 0

    def start(self, count: int, port: int, build: bytes, device_type: str) -> None:
        self._number = self._store.add("learners", 1)
        self._store.set(_learner(self._number), pickle.dumps((count, port, build, device_type)).hex())

    def ended(self) -> Mapping[int, str]:
        keys = {rank: _end_of(self._number, rank) for rank in self._others}
        return {rank: self._store.get(key).decode() for rank, key in keys.items() if self._store.check([key])}

    def end(self, grace_s: float) -> None:
        keys = [_end_of(self._number, rank) for rank in self._others]
        if not _comes(self._store, keys, grace_s):
            self._store.set(_kill(self._number), "")
            _comes(self._store, keys, END_TIMEOUT_S)


def run(world: World, command: Callable[[], None]) -> None:
    """Of the processes of a world rank 0 runs the command, with the others as its learners' followers."""
    if world.rank:
        follow(world)
    else:
        with _meeting(world):
            command()


@contextmanager
def _meeting(world: World) -> Iterator[None]:
    """Hold the store where all meet, and let the others end after the block."""
    own = None if world.has_store else TCPStore(world.address, world.port, is_master=True, wait_for_workers=False)
    store = _store(world)
    try:
        yield
    finally:
        store.set(ENDED, "")
        _comes(store, [f"{ENDED}/{rank}" for rank in range(1, world.count)], END_TIMEOUT_S)
        del own  # which holds the store until here


def follow(world: World) -> None:
    """Be a follower of one learner of rank 0 after another, until it has ended."""
    store = _store(world)
    number = 1
    while not store.check([ENDED]):
        if store.check([_learner(number)]):
            count, port, build, device_type = pickle.loads(bytes.fromhex(store.get(_learner(number)).decode()))
            process = spawn(world.rank, count, world.address, port, build, device_type, world.local_rank)
            while process.is_alive():
                process.join(POLL_S)
                if store.check([_kill(number)]) or store.check([ENDED]):
                    process.kill()
            store.set(_end_of(number, world.rank), in_words(process.exitcode))
            number += 1
        else:
            time.sleep(POLL_S)
    store.set(f"{ENDED}/{world.rank}", "")


def _store(world: World) -> PrefixStore:
    store = TCPStore(world.address, world.port, is_master=False, wait_for_workers=False)
    return PrefixStore(f"webdojo/{world.attempt}", store)


def _learner(number: int) -> str:
    return f"learner/{number}"


def _kill(number: int) -> str:
    return f"kill/{number}"


def _end_of(number: int, rank: int) -> str:
    return f"end/{number}/{rank}"


def _comes(store: PrefixStore, keys: list[str], timeout_s: float) -> bool:
    """Whether a store has all keys within that time."""
    until = time.monotonic() + timeout_s
    while not (there := store.check(keys)) and time.monotonic() < until:
        time.sleep(0.02)
    return bool(there)
