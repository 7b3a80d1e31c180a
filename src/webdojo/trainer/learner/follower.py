"""A follower: a rank of a learner that does what the driver calls.

Invariants: it leaves the reason in the store before it fails; it does not outlive the driver.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import torch.distributed as dist
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.distributed_c10d import Work

from webdojo.errors import WebdojoError
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


def follow_one(rank: int, count: int, address: str, port: int, build: bytes, device_type: str, gpu: int = 0) -> None:
    """Be a follower of one learner until its driver lets all end.

    `address` and `port` are those of the driver's `TCPStore`, and `build` makes this rank's learner, pickled. On `cuda`
    it takes the GPU of that number among those that this process sees. Where it raises, the process is to end at once:
    ranks that wait for this one go on only when its connections close. The process ends by itself when the driver is
    gone.
    """
    store = TCPStore(address, port, is_master=False, wait_for_workers=False, timeout=TIMEOUT)
    try:
        with _alive(store, rank):
            store.set(started_key(rank), "")
            mesh = join(store, rank, count, device_type, gpu)
            control = Control(Work.wait)
            learner = pickle.loads(build)(Ranks(rank, count, mesh))
            control.end()
            while (call := control.receive()) is not None:
                work, args, kwargs = call
                work(learner, *args, **kwargs)
                control.end()
            control.end()
            dist.destroy_process_group()
    except Exception as error:
        if not isinstance(error, WebdojoError):
            traceback.print_exc()
            sys.stderr.flush()
        secondary = type(error) in (RuntimeError, dist.DistBackendError, dist.DistNetworkError, dist.DistStoreError)
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"[:1000]
        with suppress(RuntimeError):  # where the driver is gone, too
            store.set(failure_key(rank), json.dumps([secondary, text]))
        raise


@contextmanager
def _alive(store: TCPStore, rank: int) -> Iterator[None]:
    """Give signs of life within the block, and end the process when nobody takes them."""
    done = threading.Event()
    own = TCPStore(store.host, store.port, is_master=False, wait_for_workers=False, timeout=TIMEOUT)  # waits for nobody

    def beat() -> None:
        while not done.is_set():
            try:
                own.add(heartbeat_key(rank), 1)
            except RuntimeError:
                if not done.is_set():
                    os._exit(1)
            done.wait(HEARTBEAT_S)

    threading.Thread(target=beat, name="heartbeat", daemon=True).start()
    try:
        yield
    finally:
        done.set()
