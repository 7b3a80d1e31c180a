"""A run whose parts are on a Ray cluster."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from webdojo.cluster.packing import nodes_of
from webdojo.cluster.parts import plan_of
from webdojo.cluster.plan import check
from webdojo.errors import ConfigError, one_line
from webdojo.loops.start import here
from webdojo.recipe import Recipe

if TYPE_CHECKING:
    from webdojo.loops.parts import Parts

CONNECT_S = 10.0
"""Seconds in which the head of a cluster must take a connection."""

logger = logging.getLogger("webdojo")


@contextmanager
def connected(recipe: Recipe) -> Iterator[Parts]:
    """The cluster that the recipe names, connected until the block ends; this machine where it names none.

    This process sets aside what rank 0 of the learner needs on its node, and sees the GPUs that it got.

    Raises:
        ConfigError: Ray is not installed, no cluster answers at `cluster.address`, or its nodes have no room for the
            recipe's parts.
    """
    address = recipe.cluster.address
    if not address:
        with here(recipe) as parts:
            yield parts
        return
    try:
        import ray
    except ImportError:
        raise ConfigError(
            f"cluster.address is {address!r}, and Ray is not installed: pip install 'webdojo[cluster]'"
        ) from None
    at_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        _reach(address)
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except Exception as error:  # Ray raises several unrelated kinds
        raise ConfigError(
            f"no Ray cluster answers at cluster.address {address!r} ({one_line(error)}): start one with "
            "`ray start --head`, or leave the address out to run on this machine"
        ) from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, at_sigterm)  # Ray's own handler would end the process at once
    try:
        own = ray.util.get_node_ip_address()
        logger.info("%s", "\n".join(check(plan_of(recipe), nodes_of(ray.nodes()), own).lines()))
        from webdojo.cluster.engines import open_engine
        from webdojo.cluster.ranks import make_learner
        from webdojo.cluster.roles import seat_of_the_driver
        from webdojo.cluster.rollouts import open_rollouts
        from webdojo.loops.parts import Parts

        seat = seat_of_the_driver(recipe.cluster.ranks)
        if gpus := ray.get(seat.gpus.remote()):
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        yield Parts(open_rollouts=open_rollouts, open_engine=open_engine, make_learner=make_learner)
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raise OSError at once where nobody listens at `HOST:PORT`; Ray itself tries for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        with socket.create_connection((host, int(port)), CONNECT_S):
            pass
