"""A real Ray cluster of three nodes on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from webdojo.store.images import ImageStore

MEMORY = 100 * 2**20
"""Bytes of a node's object store."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The head has room for the driver alone, so engines and workers are on the two other nodes."""
    # By itself Ray's processes give way to all others, and beside other tests they would hardly run.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": MEMORY},
    )
    for _ in range(2):
        made.add_node(num_cpus=4, object_store_memory=MEMORY)
    yield made
    made.shutdown()


@pytest.fixture
def connection(cluster: Cluster) -> Iterator[None]:
    """This process as a driver of the cluster."""
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.fixture
def images(tmp_path: Path) -> ImageStore:
    (tmp_path / "images").mkdir()
    return ImageStore(tmp_path / "images")
